// Slice: every step-th element of [start, end) along some axes. Bounds clamp as in Python; they and the dims may be
// symbolic, and so may axes and steps. Up to version 9 the bounds are attributes.
#include "frontend/ops/named_axes.h"

namespace cameo::ops {
namespace {

struct Cut {
  Expr start = integer(0);  // clamped
  Dim extent;
  Expr step = integer(1);
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
  c.step = integer(step);
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

/// Of a step that only a run knows, whatever its sign.
Cut cut_by(const NodeView& n, Dim whole, Expr start, Expr end, Expr step) {
  n.require(ne(step, integer(0)));
  const Expr d = whole.extent(), forward = lt(integer(0), step);
  const Expr least = select(forward, integer(0), integer(-1)), high = select(forward, d, d - integer(1));
  const auto clamped = [&](Expr at, Expr low) {
    return simplify_index(min(max(select(lt(at, integer(0)), at + d, at), low), high));
  };
  Cut c;
  const Expr most = integer(kMaxExtent);  // a longer step takes one element, too
  c.step = max(min(step, most), -most);
  c.start = clamped(start, integer(0));
  const Expr stop = clamped(end, least), stride = max(abs(c.step), integer(1));
  const Expr distance = select(forward, stop - c.start, c.start - stop);
  c.extent = dim_of(max(min(floor_div(distance + stride - integer(1), stride), d), integer(0)));
  return c;
}

/// Axes or steps that only a run knows: each axis has the bounds that name it, or it is whole.
std::vector<Cut> cuts_of_run(const NodeView& n, const std::vector<Expr>& starts, const std::vector<Expr>& ends) {
  std::vector<Expr> axes, steps(starts.size(), integer(1));
  for (size_t i = 0; i < starts.size(); ++i) axes.push_back(integer(static_cast<int64_t>(i)));
  if (n.has(3)) axes = elements(n, 3);
  if (n.has(4)) steps = elements(n, 4);
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    n.fail(Code::E0302, "`starts`, `ends`, `axes` and `steps` differ in length");
  if (n.has(3)) named_axes(n, 3, n.rank(), false);  // each of them once
  std::vector<Cut> all;
  for (int d = 0; d < n.rank(); ++d) {
    Expr start = integer(0), end = integer(INT64_MAX), step = integer(1);
    for (size_t i = 0; i < axes.size(); ++i) {
      const Expr here = names_axis(axes[i], d, n.rank());
      start = select(here, starts[i], start);
      end = select(here, ends[i], end);
      step = select(here, steps[i], step);
    }
    all.push_back(cut_by(n, n.shape()[d], start, end, step));
  }
  return all;
}

std::vector<Cut> cuts(const NodeView& n) {
  std::vector<Cut> all(n.rank());
  for (int d = 0; d < n.rank(); ++d) all[d].extent = n.shape()[d];
  std::vector<Expr> starts = bounds(n, 1, "starts"), ends = bounds(n, 2, "ends");
  if ((n.has(3) && !are_known(elements(n, 3))) || (n.has(4) && !are_known(elements(n, 4))))
    return cuts_of_run(n, starts, ends);
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
  for (const Cut& c : cuts(n)) at.push_back(out.index[at.size()] * c.step + c.start);
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
