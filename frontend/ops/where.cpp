// Where: X where the condition holds, else Y, with broadcasting.
#include "frontend/ir/operator.h"

namespace cameo::ops {
namespace {
void infer_where(Infer& n) {
  Shape shapes[] = {n.shape(0), n.shape(1), n.shape(2)};
  n.output(0, n.dtype(1), infer::broadcast_shapes(n, shapes));
}
}  // namespace

Operator declare_where() {
  return {.name = "Where",
          .since = {9, 16},
          .inputs = {{"condition", kBool}, {"X", kTensors}, {"Y", kTensors, InputSpec::Required, 1}},
          .infer = infer_where,
          .meaning = elementwise([](const MeaningView&, Expr c, Expr x, Expr y) { return select(c, x, y); })};
}

}  // namespace cameo::ops
