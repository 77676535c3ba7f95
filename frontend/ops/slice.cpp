// Slice: every step-th element of [start, end) along some axes. Bounds clamp as in Python; they and the dims may be
// symbolic, the steps may not. Up to version 9 the bounds are attributes.
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

struct Cut {
  Expr start = integer(0);  // clamped
  Dim extent;
  int64_t step = 1;
};

std::vector<Expr> bounds(const NodeView& n, int input, std::string_view attr) {
  if (n.has(input)) return elements(n, input);
  std::vector<Expr> v;
  for (int64_t b : n.attr_ints(attr)) v.push_back(integer(b));
  return v;
}

Cut cut(const NodeView& n, Dim whole, Expr start, Expr end, int64_t step) {
  if (step == 0) n.fail(Code::E0304, "`Slice` with a step of 0");
  Expr d = whole.extent();
  Expr high = step > 0 ? d : d - integer(1);
  auto clamped = [&](Expr at, Expr least) {
    Expr from_end = select(lt(at, integer(0)), at + d, at);
    return simplify_index(min(max(from_end, least), high));
  };
  Cut c;
  c.step = step;
  c.start = clamped(start, integer(0));
  Expr stop = clamped(end, integer(step > 0 ? 0 : -1));
  Expr distance = step > 0 ? stop - c.start : c.start - stop;
  int64_t stride = step > 0 ? step : step == INT64_MIN ? INT64_MAX : -step;
  Expr count = stride == 1 ? distance : floor_div(distance + integer(stride - 1), integer(stride));
  if (stride > std::min(whole.upper(), kMaxExtent))  // a stride near the end of the integers would wrap
    count = select(lt(integer(0), distance), integer(1), integer(0));
  c.extent = dim_of(max(count, integer(0)));
  return c;
}

std::vector<Cut> cuts(const NodeView& n) {
  std::vector<Cut> all(n.rank());
  for (int d = 0; d < n.rank(); ++d) all[d].extent = n.shape()[d];
  std::vector<Expr> starts = bounds(n, 1, "starts"), ends = bounds(n, 2, "ends");
  std::vector<int64_t> axes = ints_or_attr(n, 3, "axes"), steps(starts.size(), 1);
  if (axes.empty() && !n.has(3))
    for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  if (n.has(4)) steps = n.ints(4);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    n.fail(Code::E0302, "`starts`, `ends`, `axes` and `steps` differ in length");
  std::vector<int> where = NodeView::axes(axes, n.rank());
  for (size_t i = 0; i < where.size(); ++i) all[where[i]] = cut(n, n.shape()[where[i]], starts[i], ends[i], steps[i]);
  return all;
}

void infer_slice(Infer& n) {
  Shape out;
  for (const Cut& c : cuts(n)) out.push_back(c.extent);
  n.output(0, n.dtype(), out);
}

Meaning slice_meaning(const MeaningView& n) {
  OutputExpr out{n.index(), {}};
  std::vector<Expr> at;
  for (const Cut& c : cuts(n)) at.push_back(out.index[at.size()] * integer(c.step) + c.start);
  out.value = n.load(0, at);
  return Compute{{out}};
}

}  // namespace

Operator declare_slice() {
  return {.name = "Slice",
          .since = {1, 10, 11, 13},
          .inputs = {{"data"},
                     {"starts", kIndices, InputSpec::Optional},
                     {"ends", kIndices, InputSpec::Optional},
                     {"axes", kIndices, InputSpec::Optional},
                     {"steps", kIndices, InputSpec::Optional}},
          .attributes = {{"starts", AttrKind::Ints}, {"ends", AttrKind::Ints}, {"axes", AttrKind::Ints}},
          .infer = infer_slice,
          .meaning = slice_meaning};
}

}  // namespace cameo::ops
