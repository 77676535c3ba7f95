// MatMulInteger: the product of two 8-bit matrices, less their zero points, in i32.
#include "frontend/ops/quantized_matmul.h"

namespace cameo::ops {
namespace {

void infer_mat_mul_integer(Infer& n) {
  Shape product = matmul::product_shape(n, n.shape(0), n.shape(1));
  check_matrix_parameter(n, 2, true, product);
  check_matrix_parameter(n, 3, false, product);
  n.output(0, DType::i32, product);
}

Meaning mat_mul_integer(const MeaningView& n) {
  auto out = n.index();
  return Compute{{{out, integer_product(n, 0, 1, 2, 3, out)}}};
}

}  // namespace

Operator declare_mat_mul_integer() {
  return {.name = "MatMulInteger",
          .since = {10},
          .inputs = {{"A", kQuantized},
                     {"B", kQuantized},
                     {"a_zero_point", kQuantized, InputSpec::Optional, 0},
                     {"b_zero_point", kQuantized, InputSpec::Optional, 1}},
          .infer = infer_mat_mul_integer,
          .meaning = mat_mul_integer};
}

}  // namespace cameo::ops
