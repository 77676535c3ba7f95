// Identity: the input itself, of any kind.
#include "frontend/ir/operator.h"

namespace cameo::ops {

Operator declare_identity() {
  return {.name = "Identity",
          .since = {1, 13, 14, 16, 19, 21, 23, 24, 25},
          .inputs = {{"input", kTensors, InputSpec::Required, -1, InputSpec::Both}},
          .infer = infer::same_as_first,
          .meaning = [](const MeaningView&) -> Meaning { return View{0}; }};
}

}  // namespace cameo::ops
