// What contract_narrow_test.cpp asks of contract_narrow_cases.cpp, which is compiled once for each instruction set.
// Every function returns the first difference as a sentence, empty where there is none.
#pragma once
#include <string>

namespace contract_narrow_cases {

struct Cases {
  const char* target;
  bool (*runs_here)();
  std::string (*quads)();
  std::string (*pairs)();
};

extern const Cases kV2, kV3, kV4, kV4Bf16, kV3ByGcc, kV4Bf16ByGcc;

}  // namespace contract_narrow_cases
