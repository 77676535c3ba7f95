// ConstantOfShape: one value everywhere in a written shape; f32 zero without `value`.
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

void infer_constant_of_shape(Infer& n) {
  Shape out;
  const std::vector<Expr> shape = elements(n, 0);
  for (Expr e : shape) out.push_back(given_dim(n, e, shape.size(), "input"));
  if (n.has_attr("value") && n.attr_tensor("value").size() != 1)
    n.fail(Code::E0204, "`value` has " + std::to_string(n.attr_tensor("value").size()) + " elements instead of one");
  DType t = n.has_attr("value") ? n.attr_tensor("value").dtype() : DType::f32;
  if (t == DType::str) n.fail(Code::E0301, "`value` is a string");
  if (is_complex(t)) n.fail(Code::E0403, "`ConstantOfShape` of " + std::string(row(t).onnx));
  n.output(0, t, out);
}

Meaning constant_of_shape_meaning(const MeaningView& n) {
  DType t = n.out_dtype();
  if (!n.has_attr("value")) return Compute{{{n.index(), zero(t)}}};
  const Tensor& value = n.attr_tensor("value");
  return Compute{{{n.index(), is_float(t) ? constant(t, value.get(0)) : integer(value.get_int(0), t)}}};
}

}  // namespace

Operator declare_constant_of_shape() {
  return {.name = "ConstantOfShape",
          .since = {9, 20, 21, 23, 24, 25},
          .inputs = {{"input", kInt64}},
          .attributes = {{"value", AttrKind::Tensor}},
          .infer = infer_constant_of_shape,
          .meaning = constant_of_shape_meaning};
}

}  // namespace cameo::ops
