// OptionalGetElement: what an optional holds, which ends the run if that is nothing; any other value as it is.
#include "frontend/ops/list.h"

namespace cameo::ops {
namespace {

void infer_optional_get_element(Infer& n) {
  if (n.type(0).kind != Kind::Optional) return n.output(0, n.type(0));
  if (n.type(0).of->is_list()) return n.output(0, *n.type(0).of);
  Type element = tensor_of(n, 0);
  for (Dim& d : element.shape)
    if (!d.is_static()) d = n.fresh();
  n.output(0, element);
}

Meaning optional_get_element(const MeaningView& n) {
  if (n.type(0).kind != Kind::Optional) return View{0};
  Build b(n);
  return b.outputs({take_element(b, b.in(0), b.scalar(DType::i64, 0))});
}

}  // namespace

Operator declare_optional_get_element() {
  return {.name = "OptionalGetElement",
          .since = {15, 18},
          .inputs = {{"input", kTensors, InputSpec::Required, -1, InputSpec::Both}},
          .infer = infer_optional_get_element,
          .meaning = optional_get_element,
          .foldable = false};
}

}  // namespace cameo::ops
