// RandomUniform: numbers in [low, high) in a shape that is given.
#include "frontend/ops/random.h"

namespace cameo::ops {

Operator declare_random_uniform() {
  return {.name = "RandomUniform",
          .since = {1, 22},
          .outputs = {{"output"}},
          .attributes = random_attributes({{"high", 1.f}, {"low", 0.f}, {"shape", AttrKind::Ints}}),
          .infer = infer_random,
          .meaning = uniform_meaning};
}

}  // namespace cameo::ops
