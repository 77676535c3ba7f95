// Optional: a value that may be absent. In a run it is a list of one element, or of none where there is no operand and
// `type` says of what.
#include "frontend/ops/list.h"

namespace cameo::ops {
namespace {

void infer_optional(Infer& n) {
  if (!n.has(0) && !n.has_attr("type")) n.fail(Code::E0204, "`Optional` has neither an operand nor `type`");
  const Type element = n.has(0) ? element_type(n.type(0)) : element_type(n.attr_type("type"));
  if (element.kind == Kind::Optional) n.fail(Code::E0301, "`Optional` of an optional");
  n.output(0, Type::list(Kind::Optional, element));
}

Meaning optional(const MeaningView& n) {
  return list_kernel("list_of", n.has(0) ? element_numbers(n, 0) : std::vector<Expr>{});
}

std::vector<Tensor> optional_reference(const MeaningView&, std::span<const Tensor> in) {
  return {Tensor::of_items({in.begin(), in.end()})};
}

}  // namespace

Operator declare_optional() {
  return {.name = "Optional",
          .since = {15},
          .inputs = {{"input", kTensors, InputSpec::Optional, -1, InputSpec::Both}},
          .attributes = {{"type", AttrKind::Type}},
          .infer = infer_optional,
          .meaning = optional,
          .reference = optional_reference,
          .foldable = false};
}

}  // namespace cameo::ops
