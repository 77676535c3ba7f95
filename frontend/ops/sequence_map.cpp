// SequenceMap: a body for each element of a sequence, beside the elements of others at the same place and tensors; the
// sequences of what it gives. Inputs are the sequence, further sequences and tensors, then the `captures` outer values
// that the body reads. A Loop that inserts.
#include "frontend/ops/list.h"

namespace cameo::ops {
namespace {

int count_mapped(const NodeView& n) { return n.input_count() - static_cast<int>(n.attr_int("captures")); }

void infer_sequence_map(Infer& n) {
  if (n.node().bodies.size() != 1) n.fail(Code::E0204, "`SequenceMap` needs a `body`");
  element_of(n, 0);
  const Graph& body = n.body(0);
  if (body.inputs().size() != static_cast<size_t>(n.input_count()) || body.outputs().size() < n.types.size())
    n.fail(Code::E0203, fmt::format("the body of `SequenceMap` takes {} values for {} and gives {} for {}",
                                    body.inputs().size(), n.input_count(), body.outputs().size(), n.types.size()));
  for (size_t i = 0; i < n.types.size(); ++i) {
    const Type& t = body.type(body.outputs()[i].value);
    if (t.is_list()) n.fail(Code::E0301, "the body of `SequenceMap` gives " + to_string(t) + ", which is no tensor");
    n.output(static_cast<int>(i), t.kind == Kind::Error ? t : Type::list(Kind::Sequence, element_type(t)));
  }
}

Meaning sequence_map(const MeaningView& n) {
  Build b(n);
  const Graph& body = n.body(0);
  const ValueId length = b.op("SequenceLength", {b.in(0)});
  std::vector<ValueId> empty;
  for (size_t i = 0; i < n.node().outputs.size(); ++i)
    empty.push_back(
        b.op("SequenceEmpty", {}, {{"dtype", static_cast<int64_t>(body.type(body.outputs()[i].value).dtype)}}));
  const auto round = [&](Build& step, ValueId i, std::span<const ValueId> carried) {
    std::vector<ValueId> inputs;
    for (int k = 0; k < n.input_count(); ++k) {
      const ValueId v = step.capture(b.in(k));
      const bool mapped = k < count_mapped(n) && n.type(k).kind == Kind::Sequence;
      inputs.push_back(mapped ? take_element(step, v, i) : v);
    }
    const std::vector<ValueId> results = inline_graph(step.graph(), body, inputs, {});
    Build::Step next;
    for (size_t k = 0; k < carried.size(); ++k)
      next.carried.push_back(step.op("SequenceInsert", {carried[k], results[k]}));
    return next;
  };
  return b.outputs(b.loop(length, empty, round));
}

}  // namespace

Operator declare_sequence_map() {
  return {.name = "SequenceMap",
          .since = {17},
          .inputs = {{.name = "input_sequence", .takes = InputSpec::Lists},
                     {"additional_inputs", kTensors, InputSpec::Any, -1, InputSpec::Both}},
          .outputs = {{"out_sequence", OutputSpec::Variadic}},
          .attributes = {{"body", AttrKind::Graph}, {"captures", 0}},
          .infer = infer_sequence_map,
          .meaning = sequence_map,
          .foldable = false};
}

}  // namespace cameo::ops
