// LpNormalization: x over its L1 or L2 norm along an axis; zero where the norm is.
#include "frontend/ops/lp.h"

namespace cameo::ops {
namespace {

void infer_lp_normalization(Infer& n) {
  NodeView::axis(n.attr_int("axis"), n.rank());
  if (int64_t p = n.attr_int("p"); p != 1 && p != 2) n.fail(Code::E0204, fmt::format("`p` is {}", p), "1 or 2");
  n.output(0, n.type(0));
}

Meaning lp_normalization(const MeaningView& n) {
  int axis = NodeView::axis(n.attr_int("axis"), n.rank());
  int64_t p = n.attr_int("p");
  auto out = n.index(), at = out;
  at[axis] = var(n.shape()[axis].extent());
  Expr norm = lp_root(fold(FoldKind::Sum, at[axis], lp_term(n.load(0, at), p)), p);
  Expr y = select(eq(norm, like(norm, 0)), like(norm, 0), cast(n.load(0, out), norm.type()) / norm);
  return Compute{{{out, cast(y, n.dtype())}}};
}

}  // namespace

Operator declare_lp_normalization() {
  return {.name = "LpNormalization",
          .since = {1, 22},
          .inputs = {{"input", kFloats}},
          .outputs = {{"output"}},
          .attributes = {{"axis", -1}, {"p", 2}},
          .infer = infer_lp_normalization,
          .meaning = lp_normalization};
}

}  // namespace cameo::ops
