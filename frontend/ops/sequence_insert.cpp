// SequenceInsert: the sequence with one more tensor in front of the element at a position, or behind all.
#include "frontend/ops/list.h"

namespace cameo::ops {
namespace {

void infer_sequence_insert(Infer& n) {
  check_scalar(n, 2);
  n.output(0, Type::list(Kind::Sequence, element_of_both(n, element_of(n, 0), element_type(n.type(1)))));
}

std::vector<Tensor> sequence_insert_reference(const MeaningView&, std::span<const Tensor> in) {
  std::vector<Tensor> items = in[0].items();
  const auto count = static_cast<int64_t>(items.size());
  int64_t position = in.size() > 2 && in[2].size() ? in[2].get_int(0) : count;
  if (position != count) position = static_cast<int64_t>(place_in(position, items.size()));
  items.insert(items.begin() + position, in[1]);
  return {Tensor::of_items(std::move(items))};
}

}  // namespace

Operator declare_sequence_insert() {
  return {.name = "SequenceInsert",
          .since = {11},
          .inputs = {{.name = "input_sequence", .takes = InputSpec::Lists},
                     {"tensor"},
                     {"position", kIndices, InputSpec::Optional}},
          .infer = infer_sequence_insert,
          .meaning = [](const MeaningView& n) -> Meaning { return list_kernel("list_insert", element_numbers(n, 1)); },
          .reference = sequence_insert_reference,
          .foldable = false};
}

}  // namespace cameo::ops
