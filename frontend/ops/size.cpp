// Size: the number of elements as i64.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_size() {
  return {.name = "Size",
          .since = {1, 13, 19, 21, 23, 24, 25},
          .inputs = {{"data"}},
          .outputs = {{"size"}},
          .infer = [](Infer& n) { n.output(0, DType::i64, {}); },
          .meaning = [](const MeaningView& n) -> Meaning { return Compute{{{{}, product(n.shape()).extent()}}}; }};
}

}  // namespace cameo::ops
