// Concat: the inputs one after the other along an axis: a chain of selects over where each begins. Of many inputs, a
// tree of Concats, since a chain is walked by every element.
#include "frontend/ir/build.h"
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

constexpr size_t kConcatChain = 64;  // of one chain

int concat_axis(const NodeView& n) {
  const bool by_default = n.version() < 4 && !n.has_attr("axis");
  return NodeView::axis(by_default ? 1 : n.attr_int("axis"), n.rank());
}

void infer_concat(Infer& n) {
  int axis = concat_axis(n);
  Shape out = n.shape(0);
  for (int i = 1; i < n.input_count(); ++i) {
    if (n.rank(i) != n.rank(0))
      n.fail(Code::E0302,
             "input " + std::to_string(i) + " is " + to_string(n.type(i)) + ", input 0 is " + to_string(n.type(0)));
    for (int d = 0; d < n.rank(); ++d)
      out[d] = d == axis ? out[d] + n.shape(i)[d]
                         : same_dim(n, out[d], n.shape(i)[d],
                                    "extents of axis " + std::to_string(d) + " off the concatenation");
  }
  n.output(0, n.dtype(), out);
}

/// Many inputs are put together in groups, and the groups in groups.
Composite concat_in_groups(const MeaningView& n) {
  Build b(n);
  std::vector<ValueId> parts;
  for (int i = 0; i < n.input_count(); ++i) parts.push_back(b.in(i));
  while (parts.size() > 1) {
    std::vector<ValueId> groups;
    for (size_t i = 0; i < parts.size(); i += kConcatChain) {
      size_t end = std::min(i + kConcatChain, parts.size());
      groups.push_back(b.concat({parts.begin() + i, parts.begin() + end}, concat_axis(n)));
    }
    parts = std::move(groups);
  }
  return b.outputs(parts);
}

Meaning concat_meaning(const MeaningView& n) {
  if (n.input_count() > static_cast<int>(kConcatChain)) return concat_in_groups(n);
  int axis = concat_axis(n);
  OutputExpr out{n.index(), {}};
  std::vector<Expr> parts, ends;
  Dim begin = 0;
  for (int i = 0; i < n.input_count(); ++i) {
    std::vector<Expr> at = out.index;
    at[axis] = at[axis] - begin.extent();
    parts.push_back(n.load(i, at));
    begin = begin + n.shape(i)[axis];
    ends.push_back(begin.extent());
  }
  out.value = parts.back();
  for (size_t i = parts.size() - 1; i-- > 0;) out.value = select(lt(out.index[axis], ends[i]), parts[i], out.value);
  return Compute{{out}};
}

}  // namespace

Operator declare_concat() {
  return {.name = "Concat",
          .since = {1, 4, 11, 13},
          .inputs = {{"inputs", kTensors, InputSpec::Variadic, 0}},
          .outputs = {{"concat_result"}},
          .attributes = {{"axis", AttrKind::Int}},
          .infer = infer_concat,
          .meaning = concat_meaning};
}

}  // namespace cameo::ops
