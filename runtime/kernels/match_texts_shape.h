// A pattern as match_texts runs it: instructions of three numbers, one behind the other, then the code points of their
// classes as pairs of the first and the last one. The first instruction begins it.
#pragma once
#include "runtime/rt/types.h"

namespace rt {

inline constexpr i64 kPatternStep = 3;

enum PatternOp : i64 {
  kTakes,    // one code point of `b` pairs from number `a` on, then the next instruction
  kForks,    // goes on at both `a` and `b`
  kAsserts,  // that PatternAssertion `a` holds here, then the next instruction
  kMatches,
};

enum PatternAssertion : i64 { kTextBegins, kTextEnds, kLineBegins, kLineEnds, kWordEdge, kNoWordEdge };

}  // namespace rt
