// The version, as CMake's project() has it.
#pragma once

namespace cameo {

inline constexpr const char* kVersion = CAMEO_VERSION;

}  // namespace cameo
