// DequantizeLinear: (x - zero point) * scale, with a scale for the tensor, an index of an axis, or a block. A scale may
// be negative, as quantisers of symmetric weights write it, so that the extreme of a block is the most negative code.
#include "frontend/ops/quantize.h"

namespace cameo::ops {
namespace {

void infer_dequantize_linear(Infer& n) {
  check_parameter(n, 1);
  check_zero_point(n);
  int64_t t = n.attr_int("output_dtype");
  if (t < 0 || t >= kDTypeCount || (t && !kFloats.contains(static_cast<DType>(t))))
    n.fail(Code::E0204, fmt::format("`output_dtype` is {}", t));
  if (!t && is_minifloat(n.dtype(1)))
    n.fail(Code::E0204, fmt::format("`output_dtype` is missing, and nothing is made of {}", name(n.dtype(1))));
  n.output(0, t ? static_cast<DType>(t) : n.dtype(1), n.shape());
}

Meaning dequantize_linear(const MeaningView& n) {
  auto out = n.index();
  const DType wide = accumulator(n.out_dtype()), exact = is_float(n.dtype()) ? wide : DType::i32;
  Expr x = cast(n.load(0, out), exact);
  if (n.has(2)) x = x - zero_point(n, 2, exact, parameter_index(n, 2, out));
  Expr scale = n.load(1, parameter_index(n, 1, out));
  return Compute{{{out, cast(cast(x, wide) * cast(scale, wide), n.out_dtype())}}};
}

}  // namespace

Operator declare_dequantize_linear() {
  return {.name = "DequantizeLinear",
          .since = {10, 13, 19, 21, 23, 24, 25, 28},
          .inputs = {{"x", kQuantized | kNarrow | DTypes(DType::i16, DType::u16, DType::i32)},
                     {"x_scale", kFloats | DTypes(DType::f8e8m0)},
                     {"x_zero_point", kTensors, InputSpec::Optional, 0}},
          .outputs = {{"y"}},
          .attributes = {{"axis", 1, 13}, {"block_size", 0, 21}, {"output_dtype", 0, 23}},
          .infer = infer_dequantize_linear,
          .meaning = dequantize_linear,
          .folds_late = true};
}

}  // namespace cameo::ops
