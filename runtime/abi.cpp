// The table of this artifact's one program. Every artifact holds this; `shared.cpp` and the emitted `<name>_api` export
// it.
#include "runtime/abi.h"

namespace {
constexpr cameo_api kApi = rt::make_api<cameo_program>();
}

extern "C" const cameo_api* cameo_program_api(uint32_t abi_major) {
  return abi_major == CAMEO_ABI_MAJOR ? &kApi : nullptr;
}
