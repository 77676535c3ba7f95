// See code_target.h.
#include "codegen/code_target.h"

namespace cameo {

CodeTarget code_target(const Target& t) {
  CodeTarget c;
  c.cpu = t.cpu;
  c.vector_bits = t.vector_bytes * 8;
  for (const std::string& extension : t.extensions) c.features.push_back("+" + extension);
  return c;
}

}  // namespace cameo
