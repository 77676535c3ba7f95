// SequenceLength: how many elements a sequence has.
#include "frontend/ops/list.h"

namespace cameo::ops {
namespace {

void infer_sequence_length(Infer& n) {
  element_of(n, 0);
  n.output(0, DType::i64, {});
}

Meaning sequence_length(const MeaningView& n) {
  Build b(n);
  return b.outputs({b.graph().add(get_operator("ListLength", "cameo"), {b.in(0)})[0]});
}

}  // namespace

Operator declare_sequence_length() {
  return {.name = "SequenceLength",
          .since = {11},
          .inputs = {{.name = "input_sequence", .takes = InputSpec::Lists}},
          .infer = infer_sequence_length,
          .meaning = sequence_length,
          .foldable = false};
}

}  // namespace cameo::ops
