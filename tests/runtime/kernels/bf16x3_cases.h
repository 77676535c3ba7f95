// What bf16x3_test.cpp asks of bf16x3_cases.cpp, which is compiled once by each compiler. Every function returns the
// first difference as a sentence, empty where there is none.
#pragma once
#include <string>

namespace bf16x3_cases {

struct Cases {
  std::string (*terms)();
  std::string (*segments)();
  std::string (*tile_edges)();
  std::string (*outer_axes)();
  std::string (*few_rows)();
  std::string (*bands)();
  std::string (*no_numbers)();
  std::string (*largest_numbers)();
  std::string (*smallest_numbers)();
};

extern const Cases kV4Amx, kV4AmxByGcc;

}  // namespace bf16x3_cases
