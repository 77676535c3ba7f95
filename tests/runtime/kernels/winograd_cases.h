// What winograd_test.cpp asks of winograd_cases.cpp, which is compiled once for each instruction set. Every function
// returns the first difference as a sentence, empty where there is none.
#pragma once
#include <string>

namespace winograd_cases {

struct Cases {
  const char* target;
  bool (*runs_here)();
  std::string (*edges)();
  std::string (*strides)();
  std::string (*channels)();
  std::string (*chunks)();
};

extern const Cases kV2, kV3, kV4, kV3ByGcc;

}  // namespace winograd_cases
