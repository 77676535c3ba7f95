// SequenceErase: the sequence without the element at a position, or without its last one.
#include "frontend/ops/list.h"

namespace cameo::ops {
namespace {

void infer_sequence_erase(Infer& n) {
  check_scalar(n, 1);
  n.output(0, Type::list(Kind::Sequence, element_of(n, 0)));
}

std::vector<Tensor> sequence_erase_reference(const MeaningView&, std::span<const Tensor> in) {
  std::vector<Tensor> items = in[0].items();
  items.erase(items.begin() + static_cast<int64_t>(place_in(in, 1, items.size(), -1)));
  return {Tensor::of_items(std::move(items))};
}

}  // namespace

Operator declare_sequence_erase() {
  return {
      .name = "SequenceErase",
      .since = {11},
      .inputs = {{.name = "input_sequence", .takes = InputSpec::Lists}, {"position", kIndices, InputSpec::Optional}},
      .infer = infer_sequence_erase,
      .meaning = [](const MeaningView&) -> Meaning { return list_kernel("list_erase"); },
      .reference = sequence_erase_reference,
      .foldable = false};
}

}  // namespace cameo::ops
