// See processor.h.
#include "cli/processor.h"

#include <algorithm>
#include <fstream>

namespace cameo {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(std::min(line.size(), line.find(':') + 2));
  return "unknown";
}

}  // namespace cameo
