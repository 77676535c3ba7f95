// RandomUniformLike: numbers in [low, high) in the shape of the input.
#include "frontend/ops/random.h"

namespace cameo::ops {

Operator declare_random_uniform_like() {
  return {.name = "RandomUniformLike",
          .since = {1, 22},
          .inputs = {{"input"}},
          .outputs = {{"output"}},
          .attributes = random_attributes({{"high", 1.f}, {"low", 0.f}}),
          .infer = infer_random_like,
          .meaning = uniform_meaning};
}

}  // namespace cameo::ops
