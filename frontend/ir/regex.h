// Regular expressions of RE2's syntax as the instructions that runtime/kernels/match_texts.h runs.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cameo {

struct RegexProgram {
  std::vector<int64_t> pattern;  // as match_texts_shape.h says
  int64_t steps = 0;             // instructions
  std::string fault;             // what keeps it from being one, and where; else empty
  bool is_unknown = false;       // the fault: RE2 has it, this has not
};
RegexProgram compile_regex(std::string_view text);

}  // namespace cameo
