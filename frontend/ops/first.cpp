// First, of cameo's own: so many slices along an axis as `count` says, those in front, and zeros behind them. Where a
// run computes how many of its elements an output has, their number is `count`, and so the extent.
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

void infer_first(Infer& n) {
  if (n.rank() == 0) n.fail(Code::E0302, "X is a scalar");
  check_scalar(n, 1);
  Shape s = n.shape();
  Dim& along = s[NodeView::axis(n.attr_int("axis"), n.rank())];
  along = given_dim(n, elements(n, 1)[0], 1, "count");
  n.output(0, n.dtype(), s);
}

Meaning first(const MeaningView& n) {
  OutputExpr out{n.index(), {}};
  out.value = n.load(0, out.index);
  return Compute{{out}};
}

}  // namespace

Operator declare_first() {
  return {.name = "First",
          .domain = "cameo",
          .since = {1},
          .inputs = {{"X"}, {"count", kInt64}},
          .attributes = {{"axis", 0}},
          .infer = infer_first,
          .meaning = first};
}

}  // namespace cameo::ops
