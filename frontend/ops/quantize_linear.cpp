// QuantizeLinear: saturate(round(x / scale) + zero point), with a scale for the tensor, an index of an axis, or a
// block; rounded to a whole number, or to what a float of 8 or 4 bits has.
#include "frontend/ops/quantize.h"

namespace cameo::ops {
namespace {

DType result_type(const NodeView& n) {
  if (n.has(2)) return n.dtype(2);
  int64_t t = n.attr_int("output_dtype");
  if (t < 0 || t >= kDTypeCount) n.fail(Code::E0204, fmt::format("`output_dtype` is {}", t));
  return t == 0 ? DType::u8 : static_cast<DType>(t);
}

void infer_quantize_linear(Infer& n) {
  DType t = result_type(n);
  if (!is_integer(t) && !kNarrow.contains(t)) n.fail(Code::E0301, fmt::format("`QuantizeLinear` to {}", name(t)));
  check_parameter(n, 1);
  check_scale(n, 1);
  check_zero_point(n);
  n.output(0, t, n.shape());
}

Meaning quantize_linear(const MeaningView& n) {
  auto out = n.index();
  DType precision = is_minifloat(n.dtype(1)) ? DType::f32 : is_float(n.dtype(1)) ? n.dtype(1) : DType::f64;
  if (int64_t t = n.attr_int("precision")) precision = static_cast<DType>(t);
  DType wide = accumulator(precision);
  auto rounded_to = [&](Expr e) { return cast(cast(e, precision), wide); };
  Expr x = rounded_to(n.load(0, out)), scale = rounded_to(n.load(1, parameter_index(n, 1, out)));
  const DType to = n.out_dtype(), type_of_zero = is_float(to) ? wide : DType::i32;
  Expr zero = n.has(2) ? zero_point(n, 2, type_of_zero, parameter_index(n, 2, out)) : cameo::zero(type_of_zero);
  const Expr quotient = rounded_to(x / scale);
  return Compute{{{out, is_float(to) ? quantized_to_float(quotient, zero, to, n.attr_int("saturate") != 0)
                                     : quantized(quotient, zero, to)}}};
}

}  // namespace

Operator declare_quantize_linear() {
  return {.name = "QuantizeLinear",
          .since = {10, 13, 19, 21, 23, 24, 25, 28},
          .inputs = {{"x", kFloats | DTypes(DType::i32)},
                     {"y_scale", kFloats | DTypes(DType::i32, DType::f8e8m0)},
                     {"y_zero_point", kQuantized | kNarrow | DTypes(DType::i16, DType::u16), InputSpec::Optional}},
          .outputs = {{"y"}},
          .attributes = {{"axis", 1, 13},
                         {"block_size", 0, 21},
                         {"output_dtype", 0, 21},
                         {"precision", 0, 23},
                         {"saturate", 1, 19}},
          .infer = infer_quantize_linear,
          .meaning = quantize_linear};
}

}  // namespace cameo::ops
