// See embedded_files.h; the table itself is generated.
#include "codegen/build/embedded_files.h"

#include <algorithm>

namespace cameo {

std::span<const EmbeddedFile> embedded_under(std::string_view folder) {
  const auto files = embedded_files();
  const auto inside = [&](const EmbeddedFile& file) { return file.path.starts_with(folder); };
  const auto first = std::find_if(files.begin(), files.end(), inside);
  const auto last = std::find_if_not(first, files.end(), inside);
  return {first, last};
}

__attribute__((weak)) std::span<const EmbeddedFile> precompiled_headers() { return {}; }

}  // namespace cameo
