// Hardmax: 1 at the first maximum along the axis, 0 elsewhere.
#include "frontend/ops/flat.h"
#include "frontend/ops/softmax.h"

namespace cameo::ops {
namespace {

Meaning hardmax(const MeaningView& n) {
  auto out = n.index();
  Shape row;
  std::vector<Expr> here;
  auto axes = softmax_axes(n);
  for (int64_t a : axes) {
    row.push_back(n.shape()[a]);
    here.push_back(out[a]);
  }
  Expr r = var(product(row).extent());
  auto at = out;
  auto of_row = unflatten(r, row);
  for (size_t i = 0; i < axes.size(); ++i) at[axes[i]] = of_row[i];
  Expr best = fold(FoldKind::ArgMax, r, n.load(0, at));
  return Compute{{{out, select(eq(flatten(here, row), best), one(n.dtype()), zero(n.dtype()))}}};
}

}  // namespace

Operator declare_hardmax() {
  return {.name = "Hardmax",
          .since = {1, 11, 13},
          .inputs = {{"input", kFloats}},
          .outputs = {{"output"}},
          .attributes = {{"axis", AttrKind::Int}},
          .infer = infer_softmax,
          .meaning = hardmax};
}

}  // namespace cameo::ops
