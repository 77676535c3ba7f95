// What depthwise_test.cpp asks of depthwise_cases.cpp, which is compiled once for each instruction set. Every function
// returns the first difference as a sentence, empty where there is none.
#pragma once
#include <string>

namespace depthwise_cases {

struct Cases {
  const char* target;
  bool (*runs_here)();
  std::string (*widths)();
  std::string (*windows)();
  std::string (*any_rows)();
};

extern const Cases kV2, kV3, kV4, kV3ByGcc;

}  // namespace depthwise_cases
