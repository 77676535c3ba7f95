// Scan: a Loop over the scanned axis of its inputs. Inputs are states, scanned tensors, then the `captures` outer
// values that the body reads; version 8 puts sequence lengths first, a batch axis before everything, and is a Loop over
// the batch outside. Behind its length a sequence is scanned on, at its last element: states stay as they are then,
// and zeros are stacked.
#include "frontend/ir/build.h"
#include "frontend/ops/control.h"
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

struct ScanShape {
  bool batched = false;
  int first = 0, states = 0, scans = 0, captures = 0, outputs = 0;  // `outputs`: those that stack
  std::vector<int> in_axes, out_axes;  // of the element's tensor with the scanned axis put in
  std::vector<int64_t> in_backward, out_backward;
  Dim steps, batch;
  int state(int i) const { return first + i; }
  int scan(int i) const { return first + states + i; }
  int capture(int i) const { return first + states + scans + i; }
};

std::vector<int64_t> list(const NodeView& n, std::string_view attr, size_t count) {
  std::vector<int64_t> v = n.has_attr(attr) ? n.attr_ints(attr) : std::vector<int64_t>(count, 0);
  if (v.size() != count) n.fail(Code::E0204, fmt::format("`{}` has {} entries, {} are needed", attr, v.size(), count));
  return v;
}

/// 1 where a tensor is walked through backwards, 0 where forwards.
std::vector<int64_t> directions(const NodeView& n, std::string_view attr, size_t count) {
  std::vector<int64_t> v = list(n, attr, count);
  for (int64_t backward : v)
    if (backward != 0 && backward != 1)
      n.fail(Code::E0204, fmt::format("`{}` holds {}, neither 0 nor 1", attr, backward));
  return v;
}

ScanShape scan_shape(const NodeView& n) {
  if (n.node().bodies.size() != 1) n.fail(Code::E0204, "`Scan` needs a `body`");
  const Graph& body = n.body(0);
  ScanShape s;
  s.batched = n.version() == 8;
  s.first = s.batched;
  s.scans = static_cast<int>(n.attr_int("num_scan_inputs"));
  s.captures = static_cast<int>(n.attr_int("captures"));
  s.states = n.input_count() - s.first - s.scans - s.captures;
  s.outputs = static_cast<int>(body.outputs().size()) - s.states;
  if (s.scans < 1 || s.states < 0 || s.outputs < 0 ||
      static_cast<int>(body.inputs().size()) != n.input_count() - s.first)
    n.fail(Code::E0203, fmt::format("`Scan` has {} inputs of which {} are scanned, its body has {} and gives {}",
                                    n.input_count(), s.scans, body.inputs().size(), body.outputs().size()));
  s.in_backward = directions(n, s.batched ? "directions" : "scan_input_directions", s.scans);
  s.out_backward = directions(n, "scan_output_directions", s.outputs);
  auto in_axes = list(n, "scan_input_axes", s.scans), out_axes = list(n, "scan_output_axes", s.outputs);
  for (int i = 0; i < s.scans; ++i) s.in_axes.push_back(NodeView::axis(in_axes[i], n.rank(s.scan(i)) - s.batched));
  for (int i = 0; i < s.outputs; ++i)
    s.out_axes.push_back(NodeView::axis(out_axes[i], body.type(body.outputs()[s.states + i].value).rank() + 1));
  s.steps = n.shape(s.scan(0))[s.in_axes[0] + s.batched];
  if (s.batched) s.batch = n.shape(s.scan(0))[0];
  if (s.batched && n.has(0)) check_shape(n, 0, {s.batch}, "one a sequence");
  for (int i = 1; i < s.scans; ++i)
    s.steps = same_dim(n, s.steps, n.shape(s.scan(i))[s.in_axes[i] + s.batched], "lengths of scanned inputs");
  if (s.batched && n.has(0)) check_lengths(n, 0, s.steps);
  return s;
}

/// A state keeps its shape, so an extent that is a number before the body is no other one behind it.
void check_state(const NodeView& n, int i, const Type& before, const Type& after) {
  for (size_t d = 0; d < before.shape.size() && before.rank() == after.rank(); ++d) {
    const Dim &was = before.shape[d], &is = after.shape[d];
    if (was.is_static() && is.is_static() && !(was == is))
      n.fail(Code::E0302, fmt::format("state {} is {} and the body makes it {}: a state of `Scan` keeps its shape", i,
                                      to_string(before), to_string(after)));
  }
}

void infer_scan(Infer& n) {
  ScanShape s = scan_shape(n);
  const Graph& body = n.body(0);
  for (int i = 0; i < static_cast<int>(n.types.size()); ++i) {
    Type t = body.type(body.outputs()[i].value);
    if (i >= s.states) t.shape.insert(t.shape.begin() + s.out_axes[i - s.states], s.steps);
    if (s.batched) t.shape.insert(t.shape.begin(), s.batch);
    if (i < s.states) check_state(n, i, n.type(s.state(i)), t);
    n.output(i, i < s.states ? join(n, n.type(s.state(i)), t) : t);
  }
}

ValueId trips(Build& b, ValueId x, int axis, const Dim& d) {
  if (d.is_static()) return b.scalar(DType::i64, static_cast<double>(d.value()));
  return b.squeeze(b.slice(b.op("Shape", {x}), 0, axis, axis + 1), {0});
}

/// What a scan of no steps gives: the states as they are, and nothing stacked.
std::vector<ValueId> no_steps(const ScanShape& s, const Graph& body, Build& b, const std::vector<ValueId>& in) {
  std::vector<ValueId> out(in.begin(), in.begin() + s.states);
  for (int k = 0; k < s.outputs; ++k) {
    Type t = body.type(body.outputs()[s.states + k].value);
    t.shape.insert(t.shape.begin() + s.out_axes[k], 0);
    out.push_back(b.graph().constant(Tensor(t.dtype, extents(t.shape))));
  }
  return out;
}

/// The scan over values of `b`: states, scanned tensors, captured values; gives final states, then the stacked outputs.
/// `length`, if there is one: how many of the steps count.
std::vector<ValueId> scan_steps(const ScanShape& s, const Graph& body, Build& b, const std::vector<ValueId>& in,
                                ValueId length = {}) {
  bool shapes_known =
      std::ranges::all_of(body.outputs(), [&](const Port& p) { return is_static(body.type(p.value).shape); });
  if (s.steps.is_static(0) && shapes_known) return no_steps(s, body, b, in);
  std::vector<ValueId> states(in.begin(), in.begin() + s.states);
  ValueId count = trips(b, in[s.states], s.in_axes[0], s.steps);
  const ValueId zero = b.scalar(DType::i64, 0), one = b.scalar(DType::i64, 1);
  ValueId last = b.sub(count, one);
  if (length) last = b.op("Max", {zero, b.op("Min", {last, b.sub(length, one)})});
  auto out = b.loop(count, states, [&](Build& step, ValueId i, std::span<const ValueId> state) {
    std::vector<ValueId> inputs(state.begin(), state.end());
    for (int k = 0; k < s.scans; ++k) {
      ValueId at = s.in_backward[k] ? step.sub(step.capture(last), i) : i;
      if (length)
        at = s.in_backward[k] ? step.op("Max", {step.capture(zero), at}) : step.op("Min", {at, step.capture(last)});
      inputs.push_back(step.gather(step.capture(in[s.states + k]), at, s.in_axes[k]));
    }
    for (int k = 0; k < s.captures; ++k) inputs.push_back(step.capture(in[s.states + s.scans + k]));
    auto results = inline_graph(step.graph(), body, inputs, {});
    for (size_t k = 0; length && k < results.size(); ++k) {
      const ValueId counts = step.op("Less", {i, step.capture(length)});
      const ValueId otherwise =
          k < state.size() ? state[k] : step.graph().constant(Tensor(step.type(results[k]).dtype, {}));
      results[k] = step.op("Where", {counts, results[k], otherwise});
    }
    return Build::Step{{results.begin(), results.begin() + s.states}, {results.begin() + s.states, results.end()}};
  });
  for (int k = 0; k < s.outputs; ++k) {
    ValueId& v = out[s.states + k];
    if (s.out_backward[k]) v = b.slice(v, 0, -1, INT64_MIN, -1);
    if (s.out_axes[k] == 0) continue;
    std::vector<int64_t> perm;
    for (int a = 1; a < b.type(v).rank(); ++a) perm.push_back(a);
    perm.insert(perm.begin() + s.out_axes[k], 0);
    v = b.transpose(v, perm);
  }
  return out;
}

Meaning scan(const MeaningView& n) {
  ScanShape s = scan_shape(n);
  Build b(n);
  std::vector<ValueId> in;
  for (int i = s.first; i < n.input_count(); ++i) in.push_back(b.in(i));
  if (!s.batched) return b.outputs(scan_steps(s, n.body(0), b, in));
  return b.outputs(b.loop(trips(b, in[s.states], 0, s.batch), {}, [&](Build& one, ValueId i, std::span<const ValueId>) {
    std::vector<ValueId> of_batch;
    for (int k = 0; k < static_cast<int>(in.size()); ++k) {
      ValueId v = one.capture(in[k]);
      of_batch.push_back(k < s.states + s.scans ? one.gather(v, i) : v);
    }
    const ValueId length = n.has(0) ? one.gather(one.capture(b.in(0)), i) : ValueId{};
    return Build::Step{{}, scan_steps(s, n.body(0), one, of_batch, length)};
  }));
}

}  // namespace

Operator declare_scan() {
  return {.name = "Scan",
          .since = {8, 9, 11, 16, 19, 21, 23, 24, 25},
          .inputs = {{"initial_state_and_scan_inputs", kTensors, InputSpec::Any}},
          .outputs = {{"final_state_and_scan_outputs", OutputSpec::Variadic}},
          .attributes = {{"body", AttrKind::Graph},
                         {"captures", 0},
                         {"directions", AttrKind::Ints},
                         {"num_scan_inputs", AttrKind::Int},
                         {"scan_input_axes", AttrKind::Ints, 9},
                         {"scan_input_directions", AttrKind::Ints, 9},
                         {"scan_output_axes", AttrKind::Ints, 9},
                         {"scan_output_directions", AttrKind::Ints, 9}},
          .infer = infer_scan,
          .meaning = scan};
}

}  // namespace cameo::ops
