// How decision trees are packed: what the compiler that writes them and the kernel that walks them both know.
#pragma once
#include "runtime/rt/types.h"

namespace rt {

inline constexpr int kTreesAtOnce = 8;
inline constexpr i32 kStepsAtLeast = 6;  // before it pays to ask whether all trees have come to leaves
inline constexpr i64 kTreeRows = 64;     // that a group is walked for, one after the other
// Of a node of 8 bytes, from its least bit: 32 of the threshold; 1 whether NaN goes right, 1 of nothing, 12 of the
// feature, which are an offset in bytes so; 18 of the distance to the next, which has a sign. A leaf's threshold is
// NaN, whose last 22 bits number it.
inline constexpr int kShortFeatureAt = 34, kShortNextAt = 46;
inline constexpr i64 kShortFeatures = 1 << 12, kShortDistance = 1 << 17, kShortLeaves = 1 << 22;

}  // namespace rt
