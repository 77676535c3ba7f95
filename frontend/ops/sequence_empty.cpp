// SequenceEmpty: a sequence without elements, of tensors of `dtype`.
#include "frontend/ops/list.h"

namespace cameo::ops {
namespace {

void infer_sequence_empty(Infer& n) {
  const auto dtype = static_cast<DType>(n.attr_int("dtype"));
  if (n.attr_int("dtype") <= 0 || n.attr_int("dtype") >= kDTypeCount || is_packed(dtype))
    n.fail(Code::E0403, fmt::format("a sequence of elements of type {} is not computed with yet", n.attr_int("dtype")));
  Type element(dtype, {});
  element.ranked = false;
  n.output(0, Type::list(Kind::Sequence, element));
}

}  // namespace

Operator declare_sequence_empty() {
  return {.name = "SequenceEmpty",
          .since = {11},
          .attributes = {{"dtype", static_cast<int>(DType::f32)}},
          .infer = infer_sequence_empty,
          .meaning = [](const MeaningView&) -> Meaning { return list_kernel("list_of"); },
          .reference = [](const MeaningView&, std::span<const Tensor>) { return std::vector{Tensor::of_items({})}; },
          .foldable = false};
}

}  // namespace cameo::ops
