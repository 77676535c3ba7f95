// SequenceAt: the element of a sequence at a position. The run knows its dims: ListDims gives them, and they decide.
#include "frontend/ops/known_list.h"
#include "frontend/ops/list.h"

namespace cameo::ops {
namespace {

void infer_sequence_at(Infer& n) {
  element_of(n, 0);
  check_scalar(n, 1);
  if (const auto known = known_types(n.graph(), n.node().inputs[0]))
    if (const auto at = known_place(n, 1, known->size(), 0); at && *at < std::ssize(*known))
      return n.output(0, (*known)[static_cast<size_t>(*at)]);
  Type element = tensor_of(n, 0);
  for (Dim& d : element.shape)
    if (!d.is_static()) d = n.fresh();
  n.output(0, element);
}

Meaning sequence_at(const MeaningView& n) {
  Build b(n);
  return b.outputs({take_element(b, b.in(0), b.in(1))});
}

}  // namespace

Operator declare_sequence_at() {
  return {.name = "SequenceAt",
          .since = {11},
          .inputs = {{.name = "input_sequence", .takes = InputSpec::Lists}, {"position", kIndices}},
          .infer = infer_sequence_at,
          .meaning = sequence_at,
          .foldable = false};
}

}  // namespace cameo::ops
