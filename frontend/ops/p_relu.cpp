// PRelu: x, or slope * x below zero; the slope broadcasts to x.
#include "frontend/operator.h"

namespace cameo::ops {
namespace {
void infer_prelu(Infer& n) {
  Shape shapes[] = {n.shape(0), n.shape(1)};
  if (n.rank(1) > n.rank(0) || infer::broadcast_shapes(n, shapes) != n.shape(0))
    n.fail(Code::E0302,
           "a slope of shape " + to_string(n.shape(1)) + " does not broadcast to " + to_string(n.shape(0)));
  n.output(0, n.type(0));
}
}  // namespace

Operator declare_p_relu() {
  return {.name = "PRelu",
          .since = {7, 9, 16},
          .inputs = {{"X", kNumbers}, {"slope", kNumbers, InputSpec::Required, 0}},
          .infer = infer_prelu,
          .meaning = elementwise(
              [](const MeaningView&, Expr x, Expr slope) { return select(lt(x, zero(x.type())), slope * x, x); })};
}

}  // namespace cameo::ops
