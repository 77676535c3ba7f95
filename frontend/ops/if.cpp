// If: one of two bodies. Its inputs are the condition and the outer values that either body captures; both bodies take
// all of those, in that order. Where the branches' extents differ, the condition decides: its element stands in them.
#include <fmt/format.h>

#include "frontend/ir/build.h"
#include "frontend/ops/control.h"

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
  if (is_static(n.shape()) && !product(n.shape()).is_static(1))
    n.fail(Code::E0302, fmt::format("the condition of `If` is {}, it must hold one element", to_string(n.type(0))));
  for (size_t i = 0; i < n.types.size(); ++i)
    n.output(static_cast<int>(i), either(n, type_outside(n, yes, i), type_outside(n, no, i)));
}

bool have_equal_shapes(const Graph& yes, const Graph& no, size_t outputs) {
  for (size_t i = 0; i < outputs; ++i)
    if (yes.type(yes.outputs()[i].value).shape != no.type(no.outputs()[i].value).shape) return false;
  return true;
}

/// With branches of different sizes the condition becomes a size that a run knows before it enters one.
Meaning if_meaning(const MeaningView& n) {
  const std::vector<std::shared_ptr<const Graph>>& bodies = n.node().bodies;
  if (n.content(0) || have_equal_shapes(*bodies[0], *bodies[1], n.node().outputs.size())) return Control{Control::If};
  Build b(n);
  const ValueId number = b.cast(b.in(0), DType::i64);
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
          .inputs = {{"cond", kBool}, {"captured", kTensors, InputSpec::Any}},
          .outputs = {{"outputs", OutputSpec::Variadic}},
          .attributes = {{"then_branch", AttrKind::Graph}, {"else_branch", AttrKind::Graph}},
          .infer = infer_if,
          .meaning = if_meaning};
}

}  // namespace cameo::ops
