// Not: logical negation.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_not() {
  return {.name = "Not",
          .since = {1},
          .inputs = {{"X", kBool}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView&, Expr x) { return logical_not(x); })};
}

}  // namespace cameo::ops
