// ConcatFromSequence: the elements of a sequence one after the other along an axis, or along a new one.
#include "frontend/ops/known_list.h"
#include "frontend/ops/list.h"

namespace cameo::ops {
namespace {

/// Of elements whose types are known.
Type joined_type(const NodeView& n, const std::vector<Type>& types, int axis, bool is_new) {
  Type joined = types[0];
  Dim along = 0;
  for (const Type& t : types) {
    if (t.rank() != joined.rank()) n.fail(Code::E0302, to_string(t) + " and " + to_string(joined) + " are joined");
    for (int d = 0; d < t.rank(); ++d)
      if (is_new || d != axis) joined.shape[d] = same_dim(n, joined.shape[d], t.shape[d], "extents of what is joined");
    along = along + (is_new ? Dim(1) : t.shape[axis]);
  }
  if (is_new)
    joined.shape.insert(joined.shape.begin() + axis, along);
  else
    joined.shape[axis] = along;
  return joined;
}

void infer_concat_from_sequence(Infer& n) {
  element_of(n, 0);
  if (const auto known = known_types(n.graph(), n.node().inputs[0]); known && !known->empty()) {
    const bool new_axis = n.attr_int("new_axis");
    const int at = NodeView::axis(n.attr_int("axis"), (*known)[0].rank() + new_axis);
    return n.output(0, joined_type(n, *known, at, new_axis));
  }
  Type joined = tensor_of(n, 0);
  const bool is_new = n.attr_int("new_axis");
  const int axis = NodeView::axis(n.attr_int("axis"), joined.rank() + is_new);
  if (is_new)
    joined.shape.insert(joined.shape.begin() + axis, n.fresh());
  else
    joined.shape[static_cast<size_t>(axis)] = n.fresh();
  for (Dim& d : joined.shape)
    if (d == any_extent()) d = n.fresh();
  n.output(0, joined);
}

Meaning concat_from_sequence(const MeaningView& n) {
  Build b(n);
  return b.outputs(
      {joined(b, b.in(0), NodeView::axis(n.attr_int("axis"), n.out_type().rank()), n.attr_int("new_axis"))});
}

}  // namespace

Operator declare_concat_from_sequence() {
  return {.name = "ConcatFromSequence",
          .since = {11},
          .inputs = {{.name = "input_sequence", .takes = InputSpec::Lists}},
          .attributes = {{"axis", AttrKind::Int}, {"new_axis", 0}},
          .infer = infer_concat_from_sequence,
          .meaning = concat_from_sequence,
          .foldable = false};
}

}  // namespace cameo::ops
