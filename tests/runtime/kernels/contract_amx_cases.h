// What contract_amx_test.cpp asks of contract_amx_cases.cpp, which is compiled once by each compiler. Every function
// returns the first difference as a sentence, empty where there is none.
#pragma once
#include <string>

namespace contract_amx_cases {

struct Cases {
  std::string (*unsigned_quads)();
  std::string (*signed_quads)();
  std::string (*pairs)();
  std::string (*many_rows_of_few)();
  std::string (*tiles_of_points)();
  std::string (*narrow_epilogue)();
  std::string (*convolution)();
};

extern const Cases kV4Amx, kV4AmxByGcc;

}  // namespace contract_amx_cases
