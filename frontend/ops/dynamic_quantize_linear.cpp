// DynamicQuantizeLinear: the scale and zero point that map the range of x, widened to hold 0, onto [0, 255];
// a scale of 1 where that range is 0 alone.
#include "frontend/ir/build.h"

namespace cameo::ops {
namespace {

void infer_dynamic_quantize_linear(Infer& n) {
  n.output(0, DType::u8, n.shape());
  n.output(1, n.dtype(), {});
  n.output(2, DType::u8, {});
}

Meaning dynamic_quantize_linear(const MeaningView& n) {
  Build b(n);
  ValueId x = b.in(0), none = b.like(x, 0), most = b.like(x, 255);
  auto extreme = [&](std::string_view reduce, std::string_view with) {
    return b.op(with, {b.op(reduce, {x}, {{"keepdims", int64_t{0}}}), none});
  };
  ValueId low = extreme("ReduceMin", "Min"), high = extreme("ReduceMax", "Max");
  ValueId range = b.sub(high, low);
  ValueId scale = b.op("Where", {b.op("Equal", {range, none}), b.like(x, 1), b.div(range, most)});
  ValueId zero = b.op("Clip", {b.sub(none, b.div(low, scale)), none, most});
  zero = b.cast(b.op("Round", {zero}), DType::u8);
  return b.outputs({b.op("QuantizeLinear", {x, scale, zero}), scale, zero});
}

}  // namespace

Operator declare_dynamic_quantize_linear() {
  return {.name = "DynamicQuantizeLinear",
          .since = {11},
          .inputs = {{"x", DTypes(DType::f32)}},
          .outputs = {{"y"}, {"y_scale"}, {"y_zero_point"}},
          .infer = infer_dynamic_quantize_linear,
          .meaning = dynamic_quantize_linear};
}

}  // namespace cameo::ops
