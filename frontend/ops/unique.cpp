// Unique: the elements, or the slices along an axis, without repetition, in their order or in that of their first
// occurrences; the place of each one's first occurrence; which of them each element is; how often each occurs. A NaN is
// equal to a NaN; strings are compared by their ranks. `Distinct` finds the groups of equals, whose number decides the
// outputs' extent.
#include "frontend/ir/by_parts.h"

namespace cameo::ops {
namespace {

void infer_unique(Infer& n) {
  const bool has_axis = n.has_attr("axis");
  if (has_axis && n.rank() == 0) n.fail(Code::E0302, "an `axis` of a scalar");
  const int axis = has_axis ? NodeView::axis(n.attr_int("axis"), n.rank()) : 0;
  const Dim from = has_axis ? n.shape()[axis] : product(n.shape());
  const Dim kept = n.fresh(from.upper());
  Shape out{kept};
  if (has_axis) {
    out = n.shape();
    out[axis] = kept;
  }
  n.output(0, n.dtype(), out);
  for (int i = 1; i < 4; ++i)
    if (n.wants(i)) n.output(i, DType::i64, {i == 2 ? from : kept});
}

/// What is compared, as the rows of a matrix; of complex numbers the parts, the real one first.
ValueId rows_of(const MeaningView& n, Build& b, int axis) {
  const bool has_axis = n.has_attr("axis"), is_text = n.dtype() == DType::str;
  std::vector<int64_t> perm{axis};
  for (int d = 0; d < n.rank(); ++d)
    if (d != axis) perm.push_back(d);
  ValueId x = is_text ? b.graph().add(get_operator("RankTexts", "cameo"), {b.in(0)})[0] : b.in(0);
  if (has_axis) x = b.transpose(x, perm);
  if (is_complex(n.dtype())) x = parts_of(b, x);
  return b.op("Flatten", {x}, {{"axis", int64_t{has_axis ? 1 : n.rank()}}});
}

Meaning unique(const MeaningView& n) {
  Build b(n);
  const bool has_axis = n.has_attr("axis");
  const int axis = has_axis ? NodeView::axis(n.attr_int("axis"), n.rank()) : 0;
  const ValueId rows = rows_of(n, b, axis);
  const auto groups = b.graph().add(get_operator("Distinct", "cameo"), {rows}, {{"sorted", n.attr_int("sorted")}});
  const ValueId indices = groups[0], inverse = groups[1], counts = groups[2], count = groups[3];
  b.graph().decide(count, Interval{0, b.type(rows).shape[0].upper()});
  const auto first = [&](ValueId x) { return b.graph().add(get_operator("First", "cameo"), {x, count})[0]; };
  const ValueId kept = first(indices);
  return b.outputs({b.gather(has_axis ? b.in(0) : b.reshape(b.in(0), {-1}), kept, axis), kept, inverse, first(counts)});
}

}  // namespace

Operator declare_unique() {
  return {.name = "Unique",
          .since = {11},
          .inputs = {{"X", kNumbers | kBool | kComplex | kStrings}},
          .outputs = {{"Y"},
                      {"indices", OutputSpec::Optional},
                      {"inverse_indices", OutputSpec::Optional},
                      {"counts", OutputSpec::Optional}},
          .attributes = {{"axis", AttrKind::Int}, {"sorted", 1}},
          .infer = infer_unique,
          .meaning = unique};
}

}  // namespace cameo::ops
