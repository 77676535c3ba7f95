// If: one of two bodies. Its inputs are the condition and the outer values that either body captures; both bodies take
// all of those, in that order. Where the branches' extents differ, only the data tells.
#include <fmt/format.h>

#include "frontend/ops/control.h"

namespace cameo::ops {
namespace {

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
    n.output(static_cast<int>(i), join(n, yes.type(yes.outputs()[i].value), no.type(no.outputs()[i].value)));
}

Meaning if_meaning(const MeaningView&) { return Control{Control::If}; }

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
