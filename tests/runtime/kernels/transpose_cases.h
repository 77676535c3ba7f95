// What transpose_test.cpp asks of transpose_cases.cpp, which is compiled once for each instruction set. Every function
// returns the first difference as a sentence, empty where there is none.
#pragma once
#include <string>

namespace transpose_cases {

struct Cases {
  const char* target;
  bool (*runs_here)();
  std::string (*types)();
  std::string (*shapes)();
};

extern const Cases kV2, kV3, kV4, kV3ByGcc;

}  // namespace transpose_cases
