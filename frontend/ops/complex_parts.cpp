// ComplexParts, of cameo's own: the real and the imaginary parts of complex numbers along a last axis of 2, which is
// how they stand in memory.
#include "frontend/ops/same_bytes.h"

namespace cameo::ops {

Operator declare_complex_parts() {
  const auto infer = [](Infer& n) {
    Shape s = n.shape();
    s.push_back(2);
    n.output(0, type_of_parts(n.dtype()), s);
  };
  return {.name = "ComplexParts",
          .domain = "cameo",
          .since = {1},
          .inputs = {{"x", kComplex}},
          .infer = infer,
          .meaning = same_bytes,
          .reference = same_bytes_reference};
}

}  // namespace cameo::ops
