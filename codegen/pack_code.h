// What `runtime/cuda/unpack.h` reads.
#pragma once
#include <string>
#include <string_view>

namespace cameo {

/// A block of LZ4, of any bytes but none at all.
std::string pack_code(std::string_view bytes);

}  // namespace cameo
