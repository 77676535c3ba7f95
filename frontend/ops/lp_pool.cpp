// LpPool: the Lp norm of each window.
#include "frontend/ops/lp.h"

namespace cameo::ops {
namespace {

void infer_lp_pool(Infer& n) { n.output(0, n.dtype(0), pooled_shape(n, pool_window(n))); }

Meaning lp_pool(const MeaningView& n) {
  Window w = pool_window(n);
  const double p = lp_power(n);
  auto out = n.index(), taps = taps_of(w);
  Expr sum = fold_all(FoldKind::Sum, taps, lp_term(n.load(0, window_index(w, out, taps)), p));
  return Compute{{{out, cast(lp_root(sum, p), n.dtype())}}};
}

}  // namespace

Operator declare_lp_pool() {
  return {.name = "LpPool",
          .since = {1, 2, 11, 18, 22},
          .inputs = {{"X", kFloats}},
          .attributes = {{"auto_pad", "NOTSET"},
                         {"ceil_mode", 0, 18},
                         {"dilations", AttrKind::Ints, 18},
                         {"kernel_shape", AttrKind::Ints},
                         {"p", 2},
                         {"p", AttrKind::Float},
                         {"pads", AttrKind::Ints},
                         {"strides", AttrKind::Ints}},
          .infer = infer_lp_pool,
          .meaning = lp_pool};
}

}  // namespace cameo::ops
