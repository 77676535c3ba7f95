// Loop: inputs are trip count, condition, carried values, then the `captures` outer values that the body reads.
// The body takes (iteration, condition, carried.., captured..) and gives (condition, carried.., scans..). Where scans
// are wanted and only a run knows how many rounds there are, it counts them first: a loop without scans, whose count
// decides the scans' extent; then come as many rounds with them.
#include <fmt/format.h>

#include "frontend/ir/build.h"
#include "frontend/ops/control.h"

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
  const std::vector<ValueId> results =
      b.graph().add(get_operator("Loop"), operands(n, b, {b.in(0), b.in(1)}, b.scalar(DType::i64, 0)),
                    {{"captures", n.attr_int("captures")}}, {}, 0, static_cast<int>(carried) + 1,
                    {std::make_shared<const Graph>(std::move(counting.graph()))});
  return results[carried];
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
  return b.graph().add(get_operator("Loop"), operands(n, b, {rounds, {}}), {{"captures", n.attr_int("captures")}}, {},
                       0, static_cast<int>(next.size()) - 1,
                       {std::make_shared<const Graph>(std::move(unconditional.graph()))});
}

Meaning loop(const MeaningView& n) {
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
