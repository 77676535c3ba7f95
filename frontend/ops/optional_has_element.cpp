// OptionalHasElement: whether an optional holds something; any other value is there, and one that is left out is not.
#include "frontend/ops/list.h"

namespace cameo::ops {
namespace {

Meaning optional_has_element(const MeaningView& n) {
  if (!n.has(0) || n.type(0).kind != Kind::Optional) return Compute{{{{}, boolean(n.has(0))}}};
  Build b(n);
  const ValueId length = b.graph().add(get_operator("ListLength", "cameo"), {b.in(0)})[0];
  return b.outputs({b.op("Greater", {length, b.scalar(DType::i64, 0)})});
}

}  // namespace

Operator declare_optional_has_element() {
  return {.name = "OptionalHasElement",
          .since = {15, 18},
          .inputs = {{"input", kTensors, InputSpec::Optional, -1, InputSpec::Both}},
          .infer = [](Infer& n) { n.output(0, DType::b1, {}); },
          .meaning = optional_has_element};
}

}  // namespace cameo::ops
