// If: one of two bodies. Its inputs are the condition and the outer values that either body captures; both bodies take
// all of those, in that order. Where the branches' extents differ, the condition decides: its element stands in them.
// An extent that a branch computes is measured first, by an If that gives nothing else, and decides.
#include <fmt/format.h>

#include "frontend/ir/build.h"
#include "frontend/ops/control.h"
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

/// The type of an output: where the branches' extents differ, that of the branch which the condition says.
Type either(Infer& n, const Type& yes, const Type& no) {
  const auto condition = n.content(0);
  if (!condition || yes.kind != Kind::Tensor || no.kind != Kind::Tensor || yes.dtype != no.dtype ||
      yes.rank() != no.rank())
    return join(n, yes, no);
  Type t = yes;
  for (int d = 0; d < t.rank(); ++d)
    if (yes.shape[d] != no.shape[d])
      t.shape[d] = Dim(simplify_index(select((*condition)[0], yes.shape[d].extent(), no.shape[d].extent())));
  return t;
}

void infer_if(Infer& n) {
  if (n.node().bodies.size() != 2) n.fail(Code::E0204, "`If` needs a `then_branch` and an `else_branch`");
  const Graph& yes = n.body(0);
  const Graph& no = n.body(1);
  if (yes.outputs().size() != no.outputs().size() || yes.outputs().size() < n.types.size())
    n.fail(Code::E0203,
           fmt::format("the branches of `If` have {} and {} outputs", yes.outputs().size(), no.outputs().size()));
  check_scalar(n, 0);
  for (size_t i = 0; i < n.types.size(); ++i)
    n.output(static_cast<int>(i), either(n, type_outside(n, yes, i), type_outside(n, no, i)));
}

bool have_equal_shapes(const Graph& yes, const Graph& no, size_t outputs) {
  for (size_t i = 0; i < outputs; ++i)
    if (yes.type(yes.outputs()[i].value).shape != no.type(no.outputs()[i].value).shape) return false;
  return true;
}

/// An extent of an output that a branch computes.
struct Extent {
  size_t output;
  int axis;
  int64_t upper;
};

std::vector<Extent> computed_extents(const NodeView& n) {
  std::vector<Extent> all;
  for (size_t i = 0; i < n.node().outputs.size(); ++i) {
    const auto shape = [&](int b) -> const Shape& { return n.body(b).type(n.body(b).outputs()[i].value).shape; };
    for (size_t d = 0; d < shape(0).size(); ++d)
      if (is_computed(n.body(0), n.body(0).inputs(), shape(0)[d]) ||
          is_computed(n.body(1), n.body(1).inputs(), shape(1)[d]))
        all.push_back({i, static_cast<int>(d), std::max(shape(0)[d].upper(), shape(1)[d].upper())});
  }
  return all;
}

ValueId extent_of(Build& b, ValueId x, int axis) { return b.slice(b.op("Shape", {x}), 0, axis, axis + 1); }

/// The branch, written into `b`; gives its outputs.
std::vector<ValueId> write_branch(Build& b, const Graph& branch) {
  std::vector<ValueId> inputs;
  for (ValueId v : branch.inputs()) inputs.push_back(b.graph().add_input(branch[v]));
  return inline_graph(b.graph(), branch, inputs, {});
}

/// The branch with these extents for outputs.
std::shared_ptr<const Graph> measured(const Graph& branch, std::span<const Extent> extents) {
  Build b;
  const std::vector<ValueId> outputs = write_branch(b, branch);
  for (const Extent& e : extents) b.graph().add_output("", extent_of(b, outputs[e.output], e.axis));
  return std::make_shared<const Graph>(std::move(b.graph()));
}

/// The branch with `known`, each of these extents, as further inputs, for extents of its outputs.
std::shared_ptr<const Graph> sized(const Graph& branch, std::span<const Extent> extents, const Graph& outer,
                                   std::span<const ValueId> known) {
  Build b;
  std::vector<ValueId> outputs = write_branch(b, branch);
  for (size_t i = 0; i < extents.size(); ++i) {
    ValueId& x = outputs[extents[i].output];
    x = b.graph().add(get_operator("First", "cameo"), {x, b.graph().add_input(outer[known[i]])},
                      {{"axis", int64_t{extents[i].axis}}})[0];
  }
  for (ValueId v : outputs) b.graph().add_output("", v);
  return std::make_shared<const Graph>(std::move(b.graph()));
}

Meaning measured_first(const MeaningView& n, std::span<const Extent> extents) {
  const std::vector<std::shared_ptr<const Graph>>& bodies = n.node().bodies;
  Build b(n);
  std::vector<ValueId> inputs;
  for (int i = 0; i < n.input_count(); ++i) inputs.push_back(b.in(i));
  const auto add = [&](size_t outputs, std::vector<std::shared_ptr<const Graph>> branches) {
    return b.graph().add(*n.node().op, inputs, n.node().attrs, {}, n.version(), static_cast<int>(outputs),
                         std::move(branches));
  };
  const std::vector<ValueId> known =
      add(extents.size(), {measured(*bodies[0], extents), measured(*bodies[1], extents)});
  for (size_t i = 0; i < known.size(); ++i) b.graph().decide(known[i], Interval{0, extents[i].upper});
  inputs.insert(inputs.end(), known.begin(), known.end());
  return b.outputs(add(n.node().outputs.size(),
                       {sized(*bodies[0], extents, b.graph(), known), sized(*bodies[1], extents, b.graph(), known)}));
}

/// With branches of different sizes the condition becomes a size that a run knows before it enters one.
Meaning if_meaning(const MeaningView& n) {
  const std::vector<std::shared_ptr<const Graph>>& bodies = n.node().bodies;
  if (const std::vector<Extent> extents = computed_extents(n); !extents.empty()) return measured_first(n, extents);
  if (n.content(0) || have_equal_shapes(*bodies[0], *bodies[1], n.node().outputs.size())) return Control{Control::If};
  Build b(n);
  const ValueId number = b.cast(b.reshape(b.in(0), {}), DType::i64);
  b.graph().decide(number, Interval{0, 1});
  std::vector<ValueId> inputs{b.cast(number, DType::b1)};
  for (int i = 1; i < n.input_count(); ++i) inputs.push_back(b.in(i));
  return b.outputs(b.graph().add(*n.node().op, std::move(inputs), n.node().attrs, {}, n.version(),
                                 static_cast<int>(n.node().outputs.size()), bodies));
}

}  // namespace

Operator declare_if() {
  return {.name = "If",
          .since = {1, 11, 13, 16, 19, 21, 23, 24, 25},
          .inputs = {{"cond", kBool}, {"captured", kTensors, InputSpec::Any, -1, InputSpec::Both}},
          .outputs = {{"outputs", OutputSpec::Variadic}},
          .attributes = {{"then_branch", AttrKind::Graph}, {"else_branch", AttrKind::Graph}},
          .infer = infer_if,
          .meaning = if_meaning};
}

}  // namespace cameo::ops
