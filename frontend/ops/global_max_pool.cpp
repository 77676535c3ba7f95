// GlobalMaxPool: the maximum over the spatial axes.
#include "frontend/ops/global_pool.h"

namespace cameo::ops {
namespace {
Meaning global_max_pool(const MeaningView& n) {
  GlobalWindow w = global_window(n);
  return Compute{{{w.out, fold_all(FoldKind::Max, w.taps, n.load(0, w.at))}}};
}
}  // namespace

Operator declare_global_max_pool() {
  return {.name = "GlobalMaxPool",
          .since = {1, 22},
          .inputs = {{"X", kFloats}},
          .infer = infer_global_pool,
          .meaning = global_max_pool};
}

}  // namespace cameo::ops
