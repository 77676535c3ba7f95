// The symbol that every `.so` exports under the same name, for dlsym. Not part of other kinds of artifact, where
// several models may be linked into one program.
#include "runtime/abi.h"

extern "C" __attribute__((visibility("default"))) const cameo_api* cameo_model_api(uint32_t abi_major) {
  return cameo_program_api(abi_major);
}
