// IsInf: true for the infinities that the attributes ask for.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_is_inf() {
  return {.name = "IsInf",
          .since = {10, 20},
          .inputs = {{"X", kFloats}},
          .attributes = {{"detect_negative", 1}, {"detect_positive", 1}},
          .infer = [](Infer& n) { n.output(0, DType::b1, n.shape()); },
          .meaning = elementwise([](const MeaningView& n, Expr x) {
            bool positive = n.attr_int("detect_positive"), negative = n.attr_int("detect_negative");
            if (positive && negative) return is_inf(x);
            if (!positive && !negative) return boolean(false);
            return eq(x, positive ? highest(x.type()) : lowest(x.type()));
          })};
}

}  // namespace cameo::ops
