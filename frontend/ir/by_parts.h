// Complex numbers. No operator of ONNX computes with them but by weights that are real, so what one makes of them it
// makes of their real and of their imaginary parts: a node on complex tensors is the same node on each. Beside that
// they are read and made by ComplexParts and ComplexOfParts, of cameo's own, kept in lists, and carried by loops and
// branches.
#pragma once
#include <optional>

#include "frontend/ir/build.h"

namespace cameo {

/// What a node means whose outputs all are complex tensors, by the parts of its operands. Nothing of other nodes, and
/// of one whose extents its data decide: that has to decide them once.
std::optional<Composite> by_parts(const MeaningView& n);

/// The real (0) or the imaginary part (1) of a complex tensor.
ValueId part_of(Build& b, ValueId x, int64_t part);
/// f32[.., 2] of c64[..]
ValueId parts_of(Build& b, ValueId x);

}  // namespace cameo
