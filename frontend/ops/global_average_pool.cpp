// GlobalAveragePool: the mean over the spatial axes.
#include "frontend/ops/global_pool.h"

namespace cameo::ops {
namespace {
Meaning global_average_pool(const MeaningView& n) {
  GlobalWindow w = global_window(n);
  DType t = accumulator(n.dtype());
  Expr sum = fold_all(FoldKind::Sum, w.taps, cast(n.load(0, w.at), t));
  return Compute{{{w.out, cast(sum / cast(w.count.extent(), t), n.dtype())}}};
}
}  // namespace

Operator declare_global_average_pool() {
  return {.name = "GlobalAveragePool",
          .since = {1, 22},
          .inputs = {{"X", kFloats}},
          .infer = infer_global_pool,
          .meaning = global_average_pool};
}

}  // namespace cameo::ops
