// Loop: inputs are trip count, condition, carried values, then the `captures` outer values that the body reads.
// The body takes (iteration, condition, carried.., captured..) and gives (condition, carried.., scans..). Where scans
// are wanted and only a run knows how many rounds there are, it counts them first: a loop without scans, whose count
// decides the scans' extent; then come as many rounds with them. A carried value whose extents a round changes is
// carried in an optional, and each round learns its dims; scans of extents that rounds compute are a sequence, which is
// joined.
#include <fmt/format.h>

#include "frontend/ir/build.h"
#include "frontend/ops/control.h"
#include "frontend/ops/list.h"

namespace cameo::ops {
namespace {

/// The body leaves its condition alone, or sets it to true: only the trip count ends the loop.
bool always_continues(const NodeView& n) {
  const Graph& body = n.body(0);
  ValueId c = body.outputs()[0].value;
  auto is_true = [](const Constant& t) { return t && t->get_int(0); };
  if (n.has(1) && !(n.constant(1) && n.constant(1)->get_int(0))) return false;
  return c == body.inputs()[1] || is_true(body[c].constant);
}

int count_carried(const NodeView& n) {
  return std::max(n.input_count(), 2) - 2 - static_cast<int>(n.attr_int("captures"));
}

void check_one(const Infer& n, const Type* t, std::string_view what) {
  if (!t || t->kind == Kind::Error) return;
  if (t->kind != Kind::Tensor || (is_static(t->shape) && !product(t->shape).is_static(1)))
    n.fail(Code::E0302, fmt::format("{} is {}, it must hold one element", what, to_string(*t)));
}

Dim trips(Infer& n) {
  if (!n.has(0)) return n.fresh();
  auto count = n.content(0);
  if (!count) return n.fresh();
  const Dim d(simplify_index(max((*count)[0], integer(0))));
  return always_continues(n) ? d : n.fresh(d.upper());
}

void infer_loop(Infer& n) {
  check_one(n, n.has(0) ? &n.type(0) : nullptr, "the trip count `M`");
  check_one(n, n.has(1) ? &n.type(1) : nullptr, "the condition of `Loop`");
  for (int input : {0, 1}) check_scalar(n, input);  // of sizes that only a run knows
  if (n.node().bodies.size() != 1) n.fail(Code::E0204, "`Loop` needs a `body`");
  const Graph& body = n.body(0);
  int carried = count_carried(n);
  int outputs = static_cast<int>(body.outputs().size()) - 1;
  if (carried < 0 || outputs < carried || static_cast<int>(n.types.size()) > outputs)
    n.fail(Code::E0203, fmt::format("`Loop` carries {} values and has {} outputs, its body gives {}", carried,
                                    n.types.size(), outputs));
  if (body.inputs().size() != static_cast<size_t>(std::max(n.input_count(), 2)))
    n.fail(Code::E0203,
           fmt::format("the body of `Loop` takes {} inputs for {}", body.inputs().size(), n.input_count()));
  const Type& next = body.type(body.outputs()[0].value);
  if (next.kind != Kind::Error && next.dtype != DType::b1)
    n.fail(Code::E0301,
           fmt::format("the body of `Loop` gives {} as its condition, it must be one bool", to_string(next)));
  check_one(n, &next, "the condition that the body of `Loop` gives");
  std::optional<Dim> count;
  for (int i = 0; i < static_cast<int>(n.types.size()); ++i) {
    const Type t = type_outside(n, body, 1 + i);
    if (i < carried) {
      n.output(i, join(n, n.type(2 + i), t));
    } else if (t.is_list()) {
      n.fail(Code::E0301, fmt::format("the body of `Loop` gives {} to be stacked", to_string(t)));
    } else if (t.kind == Kind::Error) {
      n.output(i, t);
    } else {
      if (!count) count = trips(n);
      Shape s = t.shape;
      s.insert(s.begin(), *count);
      n.output(i, t.dtype, s);
    }
  }
}

/// The node's inputs from the carried values on, with `extra` behind those.
std::vector<ValueId> operands(const NodeView& n, const Build& b, std::vector<ValueId> first,
                              std::optional<ValueId> extra = {}) {
  for (int i = 2; i < n.input_count(); ++i) {
    if (extra && i == 2 + count_carried(n)) first.push_back(*extra), extra.reset();
    first.push_back(b.in(i));
  }
  if (extra) first.push_back(*extra);
  return first;
}

std::vector<ValueId> add_loop(Build& b, std::vector<ValueId> inputs, int64_t captures, Graph body) {
  const int outputs = static_cast<int>(body.outputs().size()) - 1;
  return b.graph().add(get_operator("Loop"), std::move(inputs), {{"captures", captures}}, {}, 0, outputs,
                       {std::make_shared<const Graph>(std::move(body))});
}

/// How many rounds the body asks for: it runs without its scans and carries a counter.
ValueId counted_rounds(const MeaningView& n, Build& b) {
  const Graph& body = n.body(0);
  const size_t carried = static_cast<size_t>(count_carried(n));
  Build counting;
  std::vector<ValueId> inputs;
  ValueId counter;
  for (ValueId v : body.inputs()) {
    if (inputs.size() == 2 + carried && !counter) counter = counting.input("", Type(DType::i64, {}));
    inputs.push_back(counting.input("", body.type(v)));
  }
  if (!counter) counter = counting.input("", Type(DType::i64, {}));
  std::vector<ValueId> next = inline_graph(counting.graph(), body, inputs, {});
  next.resize(1 + carried);
  next.push_back(counting.add(counter, counting.scalar(DType::i64, 1)));
  for (ValueId v : next) counting.graph().add_output("", v);
  return add_loop(b, operands(n, b, {b.in(0), b.in(1)}, b.scalar(DType::i64, 0)), n.attr_int("captures"),
                  std::move(counting.graph()))[carried];
}

/// So many rounds, whatever condition the body gives.
std::vector<ValueId> loop_of(ValueId rounds, const MeaningView& n, Build& b) {
  const Graph& body = n.body(0);
  Build unconditional;
  std::vector<ValueId> inputs;
  for (ValueId v : body.inputs()) inputs.push_back(unconditional.input("", body.type(v)));
  std::vector<ValueId> next = inline_graph(unconditional.graph(), body, inputs, {});
  next[0] = inputs[1];
  for (ValueId v : next) unconditional.graph().add_output("", v);
  return add_loop(b, operands(n, b, {rounds, {}}), n.attr_int("captures"), std::move(unconditional.graph()));
}

/// A carried value whose extents along `axes` are not the same in all rounds.
struct Changing {
  int carried;
  std::vector<int> axes;
};

std::vector<Changing> changing_values(const NodeView& n, const Graph& body) {
  std::vector<Changing> all;
  for (int i = 0; i < count_carried(n); ++i) {
    const Type &given = n.type(2 + i), &taken = body.type(body.inputs()[static_cast<size_t>(2 + i)]);
    const Type& left = body.type(body.outputs()[static_cast<size_t>(1 + i)].value);
    if (given.kind != Kind::Tensor || left.kind != Kind::Tensor) continue;
    Changing value{i, {}};
    for (int d = 0; d < given.rank(); ++d)
      if (taken.shape[d] != given.shape[d] || left.shape[d] != given.shape[d]) value.axes.push_back(d);
    if (!value.axes.empty()) all.push_back(std::move(value));
  }
  return all;
}

/// The body, of the carried values as the first round has them.
Graph body_of_first_round(const NodeView& n) {
  const Graph& body = n.body(0);
  Build b;
  std::vector<ValueId> inputs;
  for (ValueId v : body.inputs()) {
    const int input = static_cast<int>(inputs.size());
    const bool is_carried = input >= 2 && input < 2 + count_carried(n);
    inputs.push_back(is_carried ? b.input("", n.type(input)) : b.graph().add_input(body[v]));
  }
  for (ValueId v : inline_graph(b.graph(), body, inputs, {})) b.graph().add_output("", v);
  return std::move(b.graph());
}

/// The tensor in an optional, which has the extents of `like` but along the axes where they change.
ValueId take_changed(Build& b, ValueId optional, ValueId like, const Changing& value) {
  const ValueId position = b.scalar(DType::i64, 0), learned = learned_dims(b, optional, position);
  const ValueId known = b.op("Shape", {like});
  std::vector<ValueId> dims;
  for (int d = 0; d < b.type(like).rank(); ++d)
    dims.push_back(b.slice(std::ranges::count(value.axes, d) ? learned : known, 0, d, d + 1));
  return take_element(b, optional, position, b.concat(std::move(dims), 0));
}

/// The type of an optional with the value of any round, which is `t` in the first.
Type any_round(Type t, const Changing& value) {
  for (int axis : value.axes) t.shape[axis] = any_extent();
  return Type::list(Kind::Optional, element_type(std::move(t)));
}

/// What of a loop stands in lists: values that it carries, and the outputs of its body that it stacks.
struct InLists {
  std::vector<Changing> carried;
  std::vector<size_t> scans;
};

InLists values_in_lists(const NodeView& n, const Graph& body) {
  InLists lists{changing_values(n, body), {}};
  std::vector<ValueId> given(body.inputs().begin(), body.inputs().end());
  for (const Changing& value : lists.carried) std::erase(given, body.inputs()[static_cast<size_t>(2 + value.carried)]);
  for (size_t i = 1 + static_cast<size_t>(count_carried(n)); i <= n.node().outputs.size(); ++i)
    if (std::ranges::any_of(body.type(body.outputs()[i].value).shape,
                            [&](const Dim& d) { return is_computed(body, given, d); }))
      lists.scans.push_back(i);
  return lists;
}

bool are_empty(const InLists& lists) { return lists.carried.empty() && lists.scans.empty(); }

/// The body, which takes and gives lists: optionals in their places, sequences behind what it carries. Behind what it
/// captures it takes the values of the first round.
Graph body_of_lists(const NodeView& n, const InLists& lists) {
  const Graph& body = n.body(0);
  const auto behind = static_cast<size_t>(2 + count_carried(n));
  Build b;
  std::vector<ValueId> inputs, sequences;
  const auto add_sequences = [&] {
    for (size_t i : lists.scans)
      sequences.push_back(b.input("", Type::list(Kind::Sequence, element_type(body.type(body.outputs()[i].value)))));
  };
  for (ValueId v : body.inputs()) {
    if (inputs.size() == behind) add_sequences();
    const int carried = static_cast<int>(inputs.size()) - 2;
    const auto value = std::ranges::find(lists.carried, carried, &Changing::carried);
    inputs.push_back(value == lists.carried.end() ? b.graph().add_input(body[v])
                                                  : b.input("", any_round(n.type(2 + carried), *value)));
  }
  if (inputs.size() == behind) add_sequences();
  for (const Changing& value : lists.carried) {
    ValueId& input = inputs[static_cast<size_t>(2 + value.carried)];
    input = take_changed(b, input, b.input("", n.type(2 + value.carried)), value);
  }
  std::vector<ValueId> next = inline_graph(b.graph(), body, inputs, {});
  for (const Changing& value : lists.carried) {
    ValueId& left = next[static_cast<size_t>(1 + value.carried)];
    left = b.op("Optional", {left});
  }
  for (size_t i = 0; i < sequences.size(); ++i)
    sequences[i] = b.op("SequenceInsert", {sequences[i], next[lists.scans[i]]});
  for (auto i = lists.scans.rbegin(); i != lists.scans.rend(); ++i) next.erase(next.begin() + static_cast<int64_t>(*i));
  next.insert(next.begin() + static_cast<int64_t>(behind) - 1, sequences.begin(), sequences.end());
  for (ValueId v : next) b.graph().add_output("", v);
  return std::move(b.graph());
}

/// What the loop over lists takes: as its body does.
std::vector<ValueId> inputs_of_lists(const NodeView& n, const InLists& lists, Build& b) {
  std::vector<ValueId> inputs, firsts, sequences;
  for (int i = 0; i < std::max(n.input_count(), 2); ++i) inputs.push_back(b.in(i));
  for (const Changing& value : lists.carried) {
    ValueId& input = inputs[static_cast<size_t>(2 + value.carried)];
    firsts.push_back(input);
    input = b.op("Optional", {input});
  }
  for (size_t i : lists.scans)
    sequences.push_back(b.op("SequenceEmpty", {},
                             {{"dtype", static_cast<int64_t>(n.body(0).type(n.body(0).outputs()[i].value).dtype)}}));
  inputs.insert(inputs.begin() + 2 + count_carried(n), sequences.begin(), sequences.end());
  inputs.insert(inputs.end(), firsts.begin(), firsts.end());
  return inputs;
}

/// Of a stacked output that no round has computed: 0 where only a round would know.
std::vector<int64_t> dims_of_no_rounds(const Graph& body, size_t output) {
  std::vector<int64_t> dims{0};
  for (const Dim& d : body.type(body.outputs()[output].value).shape) dims.push_back(d.is_static() ? d.value() : 0);
  return dims;
}

/// A loop whose values have the same extents in all rounds: they are those of the first round after all, or stand in
/// lists.
Meaning with_lists(const MeaningView& n, const InLists& lists) {
  Build b(n);
  const int64_t captures = n.attr_int("captures");
  if (Graph first = body_of_first_round(n); are_empty(values_in_lists(n, first)))
    return b.outputs(add_loop(b, operands(n, b, {b.in(0), b.in(1)}), captures, std::move(first)));
  std::vector<ValueId> results = add_loop(
      b, inputs_of_lists(n, lists, b), captures + static_cast<int64_t>(lists.carried.size()), body_of_lists(n, lists));
  for (const Changing& value : lists.carried) {
    ValueId& result = results[static_cast<size_t>(value.carried)];
    result = take_changed(b, result, b.in(2 + value.carried), value);
  }
  const auto sequences = results.begin() + count_carried(n);
  std::vector<ValueId> scans;
  for (size_t i = 0; i < lists.scans.size(); ++i)
    scans.push_back(
        joined(b, sequences[static_cast<int64_t>(i)], 0, true, dims_of_no_rounds(n.body(0), lists.scans[i])));
  results.erase(sequences, sequences + static_cast<int64_t>(scans.size()));
  for (size_t i = 0; i < scans.size(); ++i)
    results.insert(results.begin() + static_cast<int64_t>(lists.scans[i]) - 1, scans[i]);
  return b.outputs(std::move(results));
}

Meaning loop(const MeaningView& n) {
  if (const InLists lists = values_in_lists(n, n.body(0)); !are_empty(lists)) return with_lists(n, lists);
  const bool is_counted = n.has(0) && n.content(0) && always_continues(n);
  if (is_counted || static_cast<int>(n.node().outputs.size()) <= count_carried(n)) return Control{Control::Loop};
  Build b(n);
  ValueId rounds;
  if (always_continues(n) && n.has(0)) {
    rounds = b.op("Max", {b.reshape(b.in(0), {}), b.scalar(DType::i64, 0)});
    b.graph().decide(rounds);
  } else {
    rounds = counted_rounds(n, b);
    const auto most = n.has(0) ? n.content(0) : std::nullopt;
    b.graph().decide(rounds, most ? std::optional(Interval{0, Dim((*most)[0]).upper()}) : std::nullopt);
  }
  return b.outputs(loop_of(rounds, n, b));
}

}  // namespace

Operator declare_loop() {
  return {.name = "Loop",
          .since = {1, 11, 13, 16, 19, 21, 23, 24, 25},
          .inputs = {{"M", kInt64, InputSpec::Optional},
                     {"cond", kBool, InputSpec::Optional},
                     {"v_initial", kTensors, InputSpec::Any, -1, InputSpec::Both}},
          .outputs = {{"v_final_and_scan_outputs", OutputSpec::Variadic}},
          .attributes = {{"body", AttrKind::Graph}, {"captures", 0}},
          .infer = infer_loop,
          .meaning = loop};
}

}  // namespace cameo::ops
