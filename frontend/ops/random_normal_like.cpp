// RandomNormalLike: normal numbers in the shape of the input.
#include "frontend/ops/random.h"

namespace cameo::ops {

Operator declare_random_normal_like() {
  return {.name = "RandomNormalLike",
          .since = {1, 22},
          .inputs = {{"input"}},
          .outputs = {{"output"}},
          .attributes = random_attributes({{"mean", 0.f}, {"scale", 1.f}}),
          .infer = infer_random_like,
          .meaning = normal_meaning};
}

}  // namespace cameo::ops
