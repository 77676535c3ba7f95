// What attention_test.cpp asks of attention_cases.cpp, which is compiled once for each instruction set. Every function
// returns the first difference as a sentence, empty where there is none.
#pragma once
#include <string>

namespace attention_cases {

struct Cases {
  const char* target;
  bool (*runs_here)();
  std::string (*shapes)();   // odd sizes, one query to many, grouped heads
  std::string (*masks)();    // causal, additive, boolean, rows without a key
  std::string (*large)();    // scores of thousands and more, all of them negative or not
  std::string (*caches)();   // keys in two places, and the longer caches
  std::string (*strided)();  // heads side by side in a row
  std::string (*chunks)();   // bitwise equal for any number of them
};

extern const Cases kV2, kV3, kV4, kV3ByGcc;

}  // namespace attention_cases
