// GlobalLpPool: the Lp norm over the spatial axes.
#include "frontend/ops/global_pool.h"
#include "frontend/ops/lp.h"

namespace cameo::ops {
namespace {
Meaning global_lp_pool(const MeaningView& n) {
  GlobalWindow w = global_window(n);
  const double p = lp_power(n);
  Expr sum = fold_all(FoldKind::Sum, w.taps, lp_term(n.load(0, w.at), p));
  return Compute{{{w.out, cast(lp_root(sum, p), n.dtype())}}};
}
}  // namespace

Operator declare_global_lp_pool() {
  return {.name = "GlobalLpPool",
          .since = {1, 2, 22},
          .inputs = {{"X", kFloats}},
          .attributes = {{"p", 2}, {"p", AttrKind::Float}},
          .infer = infer_global_pool,
          .meaning = global_lp_pool};
}

}  // namespace cameo::ops
