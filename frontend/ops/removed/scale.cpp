// Scale: x times a number.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_removed_scale() {
  return {.name = "Scale",
          .domain = "removed",
          .since = {1},
          .inputs = {{"X", kFloats}},
          .attributes = {{"scale", 1.f}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView& n, Expr x) { return x * n.attr_float("scale"); })};
}

}  // namespace cameo::ops
