// What window_test.cpp asks of window_cases.cpp, which is compiled once for each instruction set. Every function
// returns the first difference as a sentence, empty where there is none.
#pragma once
#include <string>

namespace window_cases {

struct Cases {
  const char* target;
  bool (*runs_here)();
  std::string (*windows)();
  std::string (*pools_of_bytes)();
};

extern const Cases kV2, kV3, kV4, kV3ByGcc;

}  // namespace window_cases
