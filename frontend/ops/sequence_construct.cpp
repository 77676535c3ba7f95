// SequenceConstruct: the sequence of its operands.
#include "frontend/ops/list.h"

namespace cameo::ops {
namespace {

void infer_sequence_construct(Infer& n) {
  Type element = element_type(n.type(0));
  for (int i = 1; i < n.input_count(); ++i) element = element_of_both(n, element, element_type(n.type(i)));
  if (is_packed(element.dtype))
    n.fail(Code::E0403, fmt::format("a list of {} is not computed with yet", name(element.dtype)));
  n.output(0, Type::list(Kind::Sequence, element));
}

Meaning sequence_construct(const MeaningView& n) {
  Build b(n);
  ValueId list = b.op("SequenceEmpty", {}, {{"dtype", static_cast<int64_t>(n.dtype())}});
  for (int i = 0; i < n.input_count(); ++i) list = b.op("SequenceInsert", {list, b.in(i)});
  return b.outputs({list});
}

}  // namespace

Operator declare_sequence_construct() {
  return {.name = "SequenceConstruct",
          .since = {11},
          .inputs = {{"inputs", kTensors, InputSpec::Variadic, 0}},
          .infer = infer_sequence_construct,
          .meaning = sequence_construct,
          .foldable = false};
}

}  // namespace cameo::ops
