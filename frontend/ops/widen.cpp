// Widen, of cameo's own: the Cast of bf16 to f32 in front of a product that was narrowed. Of constants it stays where
// it is, so that its reader reads 16 bits; what Graph::add makes of a small Cast is what narrowing saved.
#include "frontend/ir/operator.h"

namespace cameo::ops {
namespace {

void infer_widen(Infer& n) { n.output(0, DType::f32, n.shape()); }

Meaning widen(const MeaningView& n) {
  OutputExpr out{n.index(), {}};
  out.value = cast(n.load(0, out.index), DType::f32);
  return Compute{{out}};
}

}  // namespace

Operator declare_widen() {
  return {.name = "Widen",
          .domain = "cameo",
          .since = {1},
          .inputs = {{"x", DTypes(DType::bf16)}},
          .infer = infer_widen,
          .meaning = widen,
          .foldable = false};
}

}  // namespace cameo::ops
