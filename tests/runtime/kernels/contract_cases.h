// What contract_test.cpp asks of contract_cases.cpp, which is compiled once for each instruction set. Every function
// returns the first difference as a sentence, empty where there is none.
#pragma once
#include <string>

namespace contract_cases {

struct Cases {
  const char* target;
  bool (*runs_here)();
  std::string (*tile_edges)();
  std::string (*segments)();
  std::string (*literal_shapes)();
  std::string (*whole_tiles)();
  std::string (*bands)();
  std::string (*turned)();
  std::string (*outer_axes)();
  std::string (*rows_in_groups)();
  std::string (*strided)();
  std::string (*real_numbers)();
  std::string (*halves)();
  std::string (*widened)();
  std::string (*codes)();
};

extern const Cases kV2, kV3, kV4, kV3ByGcc, kV4ByGcc;

}  // namespace contract_cases
