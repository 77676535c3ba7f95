// What nest_test.cpp asks of nest_cases.cpp, which is compiled once for each instruction set. Every function returns
// the first difference as a sentence, empty where there is none.
#pragma once
#include <string>

namespace nest_cases {

struct Cases {
  const char* target;
  bool (*runs_here)();
  std::string (*rows)();
  std::string (*lanes_of_rows)();
};

extern const Cases kV2, kV3, kV4, kV3ByGcc;

}  // namespace nest_cases
