// RandomNormal: normal numbers in a shape that is given.
#include "frontend/ops/random.h"

namespace cameo::ops {

Operator declare_random_normal() {
  return {.name = "RandomNormal",
          .since = {1, 22},
          .outputs = {{"output"}},
          .attributes = random_attributes({{"mean", 0.f}, {"scale", 1.f}, {"shape", AttrKind::Ints}}),
          .infer = infer_random,
          .meaning = normal_meaning};
}

}  // namespace cameo::ops
