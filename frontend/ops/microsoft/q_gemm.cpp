// QGemm: alpha * A B + C of quantised matrices, each of A and B transposed if asked for; C is integers in the scale of
// the product. Quantised where a scale of Y is there.
#include "frontend/ops/microsoft/quantized.h"

namespace cameo::ops {
namespace {

Composite define_q_gemm(const NodeView& n) {
  enum Input { A, AScale, AZero, B, BScale, BZero, C, YScale, YZero };
  Build b(n);
  const double alpha = n.attr_float("alpha");
  const int64_t columns = n.attr_int("transB") ? 0 : 1;
  std::vector<ValueId> operands{dequantized(b, A, AScale, AZero), dequantized(b, B, BScale, BZero, columns)};
  if (b.in(C)) {
    const ValueId scale = b.mul(b.in(AScale), b.in(BScale));
    operands.push_back(b.mul(b.cast(b.in(C), DType::f32), alpha == 1 ? scale : b.mul(scale, b.like(scale, alpha))));
  }
  const ValueId y = b.op("Gemm", operands, attributes_of(n, {"alpha", "transA", "transB"}));
  if (!b.in(YScale)) return b.outputs({y});
  return b.outputs({quantized(n, b, y, YScale, YZero, n.dtype(A))});
}

}  // namespace

Operator declare_microsoft_q_gemm() {
  constexpr DTypes kScale{DType::f32};
  return {.name = "QGemm",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"A", kQuantized},
                     {"a_scale", kScale},
                     {"a_zero_point", kQuantized, InputSpec::Required, 0},
                     {"B", kQuantized},
                     {"b_scale", kScale},
                     {"b_zero_point", kQuantized, InputSpec::Required, 3},
                     {"C", DTypes(DType::i32), InputSpec::Optional},
                     {"y_scale", kScale, InputSpec::Optional},
                     {"y_zero_point", kQuantized, InputSpec::Optional}},
          .attributes = {{"alpha", 1.f}, {"transA", 0}, {"transB", 0}},
          .infer = infer_defined<define_q_gemm>,
          .meaning = defined<define_q_gemm>};
}

}  // namespace cameo::ops
