// Strings as elements. One is a code of 64 bits: equal texts have equal codes and the empty one has 0, so whatever
// moves or compares elements works on strings as on integers. The compiler numbers the texts of its process here, in
// the order in which it meets them; an artifact numbers its own (WeightPool::strings), and each run those that it
// makes.
#pragma once
#include <cstdint>
#include <string_view>

namespace cameo {

int64_t code_of(std::string_view text);
/// As long as the process.
std::string_view text_of(int64_t code);

}  // namespace cameo
