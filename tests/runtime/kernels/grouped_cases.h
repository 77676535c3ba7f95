// What grouped_test.cpp asks of grouped_cases.cpp, which is compiled once for each instruction set. Every function
// returns the first difference as a sentence, empty where there is none.
#pragma once
#include <string>

namespace grouped_cases {

struct Cases {
  const char* target;
  bool (*runs_here)();
  std::string (*widths)();
  std::string (*steps)();
  std::string (*long_sums)();
};

extern const Cases kV2, kV3, kV4, kV3ByGcc;

}  // namespace grouped_cases
