// ComplexOfParts, of cameo's own: complex numbers from their real and imaginary parts along a last axis of 2.
#include "frontend/ops/same_bytes.h"

namespace cameo::ops {
namespace {

void infer_complex_of_parts(Infer& n) {
  if (n.rank() == 0 || !n.agree(n.shape().back(), 2))
    n.fail(Code::E0302, "x is " + to_string(n.type(0)) + ", without a last axis of 2");
  n.output(0, n.dtype() == DType::f32 ? DType::c64 : DType::c128, {n.shape().begin(), n.shape().end() - 1});
}

}  // namespace

Operator declare_complex_of_parts() {
  return {.name = "ComplexOfParts",
          .domain = "cameo",
          .since = {1},
          .inputs = {{"x", DTypes(DType::f32, DType::f64)}},
          .infer = infer_complex_of_parts,
          .meaning = same_bytes,
          .reference = same_bytes_reference};
}

}  // namespace cameo::ops
