// QLinearConcat: quantised tensors, each with a scale and a zero point of its own, one after another along an axis, all
// in one quantisation.
#include "frontend/ops/microsoft/quantized.h"

namespace cameo::ops {
namespace {

Composite define_q_linear_concat(const NodeView& n) {
  if (n.input_count() % 3 != 2)
    n.fail(Code::E0203,
           fmt::format("{} inputs: Y's scale and zero point, and three a tensor, are needed", n.input_count()));
  Build b(n);
  std::vector<ValueId> parts;
  for (int i = 2; i < n.input_count(); i += 3) {
    if (n.dtype(i) != n.dtype(1) || n.dtype(i + 1) != DType::f32 || n.dtype(i + 2) != n.dtype(i))
      n.fail(Code::E0301, fmt::format("{}, {}, {}: a tensor of {}, its scale and its zero point", to_string(n.type(i)),
                                      to_string(n.type(i + 1)), to_string(n.type(i + 2)), name(n.dtype(1))));
    parts.push_back(dequantized(b, i, i + 1, i + 2));
  }
  return b.outputs({quantized(n, b, b.concat(parts, n.attr_int("axis")), 0, 1, n.dtype(1))});
}

}  // namespace

Operator declare_microsoft_q_linear_concat() {
  return {.name = "QLinearConcat",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"Y_scale", DTypes(DType::f32)},
                     {"Y_zero_point", kQuantized},
                     {"inputs", kQuantized | DTypes(DType::f32), InputSpec::Variadic}},
          .attributes = {{"axis", AttrKind::Int}},
          .infer = infer_defined<define_q_linear_concat>,
          .meaning = defined<define_q_linear_concat>};
}

}  // namespace cameo::ops
