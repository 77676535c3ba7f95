// QLinearMatMul: the i32 product of two 8-bit matrices, less their zero points, rescaled to the output's scale.
#include "frontend/ops/quantized_matmul.h"

namespace cameo::ops {
namespace {

void infer_q_linear_mat_mul(Infer& n) {
  for (int scale : {1, 4, 6}) check_scale(n, scale);
  Shape product = matmul::product_shape(n, n.shape(0), n.shape(3));
  for (int of_a : {1, 2}) check_matrix_parameter(n, of_a, true, product);
  for (int of_b : {4, 5, 6, 7}) check_matrix_parameter(n, of_b, false, product);
  n.output(0, n.dtype(7), product);
}

Meaning q_linear_mat_mul(const MeaningView& n) {
  auto out = n.index();
  auto parameter = [&](int input, bool of_rows) {
    return cast(n.load(input, matrix_parameter(n, input, of_rows, out)), DType::f32);
  };
  Expr scale = parameter(1, true) * parameter(4, false) / parameter(6, false);
  Expr y = cast(integer_product(n, 0, 3, 2, 5, out), DType::f32) * scale;
  Expr zero = zero_point(n, 7, DType::i32, matrix_parameter(n, 7, false, out));
  return Compute{{{out, quantized(y, zero, n.out_dtype())}}};
}

}  // namespace

Operator declare_q_linear_mat_mul() {
  constexpr DTypes kScale{DType::f32, DType::f16, DType::bf16};
  return {.name = "QLinearMatMul",
          .since = {10, 21},
          .inputs = {{"a", kQuantized},
                     {"a_scale", kScale},
                     {"a_zero_point", kQuantized, InputSpec::Required, 0},
                     {"b", kQuantized},
                     {"b_scale", kScale},
                     {"b_zero_point", kQuantized, InputSpec::Required, 3},
                     {"y_scale", kScale},
                     {"y_zero_point", kQuantized}},
          .outputs = {{"y"}},
          .infer = infer_q_linear_mat_mul,
          .meaning = q_linear_mat_mul};
}

}  // namespace cameo::ops
