// Regions of an output: parts that have a meaning of their own, and so a kernel of their own.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "frontend/ir/operator.h"
#include "optimizer/layout/operand.h"

namespace cameo {

/// A region of an output: `out.value` is the element that stands at `at`, an affine image of the variables `out.index`.
struct OutputPart {
  OutputExpr out;
  std::vector<Expr> at;
};
/// The value whose whole is copied to a part, index by index; none where the part is anything else.
std::optional<ValueId> copied_value(const Graph& g, const OutputPart& part);
/// The layout of what is copied to `part`, if it were made there at once.
Layout layout_within(const OutputPart& part, const Layout& whole);
/// The regions of an output whose meaning differs by where an axis stands (Concat) or by its remainder (ConvTranspose,
/// sums that DepthToSpace moves), each with a meaning that has no such case left; one region where there is nothing to
/// be told apart.
std::vector<OutputPart> split_output(const OutputExpr& out);
/// The part whose index of `axis` is `scale` times a fresh variable below `extent`, plus `offset`.
OutputPart restrict_axis(const OutputPart& part, size_t axis, int64_t scale, Expr offset, Expr extent);

}  // namespace cameo
