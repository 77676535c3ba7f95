// Pad: elements in front of and behind each axis, or taken away where a pad is negative. `constant` is a Load's outside
// value; `reflect`, `edge` and `wrap` are index maps, also for pads longer than the axis.
#include "frontend/ops/named_axes.h"

namespace cameo::ops {
namespace {

struct Margins {
  Expr begin = integer(0), end = integer(0);
};
std::vector<Margins> margins(const NodeView& n) {
  std::vector<Expr> pads;
  if (n.has(1))
    pads = elements(n, 1);
  else
    for (int64_t p : n.attr_ints(n.version() < 2 ? "paddings" : "pads")) pads.push_back(integer(p));
  std::vector<Expr> axes;
  for (int d = 0; d < n.rank(); ++d) axes.push_back(integer(d));
  if (n.has(3)) {
    axes = elements(n, 3);
    named_axes(n, 3, n.rank(), false);  // each of them once
  }
  if (pads.size() != 2 * axes.size())
    n.fail(Code::E0302,
           "`pads` has " + std::to_string(pads.size()) + " elements for " + std::to_string(axes.size()) + " axes");
  for (Expr p : pads)
    if (p.is_const() && (p.int_value() < -kMaxExtent || p.int_value() > kMaxExtent))
      n.fail(Code::E0304, "`pads` holds " + to_string(p) + ", not " + std::to_string(-kMaxExtent) + " to " +
                              std::to_string(kMaxExtent));
  const Expr most = integer(most_of_open(axes.size()));
  for (Expr& p : pads) {
    if (!is_any(p)) continue;
    n.require(logical_and(le(-most, p), le(p, most)));
    p = max(min(p, most), -most);
  }
  std::vector<Margins> m(n.rank());
  for (int d = 0; d < n.rank(); ++d) {
    for (size_t i = 0; i < axes.size(); ++i) {
      const Expr here = names_axis(axes[i], d, n.rank());
      m[d] = {select(here, pads[i], m[d].begin), select(here, pads[i + axes.size()], m[d].end)};
    }
  }
  return m;
}

void infer_pad(Infer& n) {
  std::vector<Margins> m = margins(n);
  check_scalar(n, 2);
  Shape out;
  for (int d = 0; d < n.rank(); ++d) {
    Dim whole = n.shape()[d], padded = whole + dim_of(m[d].begin) + dim_of(m[d].end);
    if (padded.is_static() && padded.value() < 0)
      n.fail(Code::E0304, "pads that leave " + to_string(padded) + " elements of an axis of " + to_string(whole));
    if (n.attr_string("mode") != "constant" &&
        !n.may_hold(logical_or(lt(integer(0), whole.extent()), eq(padded.extent(), integer(0)))))
      n.fail(Code::E0302, "`" + printable(n.attr_string("mode")) + "` padding of an empty axis");
    out.push_back(dim_of(padded.extent()));
  }
  n.output(0, n.dtype(), out);
}

/// The period of a reflection is 2 * (d - 1); short pads need no division.
Expr reflected(Expr i, Dim whole, const Margins& m) {
  if (whole.is_static(1)) return integer(0);
  Expr last = whole.extent() - integer(1), period = last * integer(2);
  bool is_short =
      m.begin.is_const() && m.end.is_const() && std::max(m.begin.int_value(), m.end.int_value()) <= range_of(last).low;
  if (is_short) return max(min(i, period - i), -i);
  Expr phase = mod(i, period);
  return min(phase, period - phase);
}

Expr source_index(const MeaningView& n, const std::string& mode, Expr i, Dim whole, const Margins& m) {
  if (m.begin.is_const(0) && m.end.is_const(0)) return i;
  i = i - m.begin;
  if (mode == "constant") return i;
  if (mode == "edge") return max(min(i, whole.extent() - integer(1)), integer(0));
  if (mode == "wrap") return mod(i, whole.extent());
  if (mode == "reflect") return reflected(i, whole, m);
  n.fail(Code::E0204, "`mode` is `" + printable(mode) + "`", "constant, reflect, edge or wrap");
}

Meaning pad_meaning(const MeaningView& n) {
  std::vector<Margins> m = margins(n);
  std::string mode = n.attr_string("mode");
  OutputExpr out{n.index(), {}};
  std::vector<Expr> at;
  for (int d = 0; d < n.rank(); ++d) at.push_back(source_index(n, mode, out.index[d], n.shape()[d], m[d]));
  Expr outside =
      n.has_attr("value") ? constant(n.dtype(), n.attr_float("value")) : scalar_operand(n, 2, zero(n.dtype()));
  out.value = n.load(0, at, outside);
  return Compute{{out}};
}

}  // namespace

Operator declare_pad() {
  return {.name = "Pad",
          .since = {1, 2, 11, 13, 18, 19, 21, 23, 24, 25},
          .inputs = {{"data"},
                     {"pads", kInt64, InputSpec::Optional},
                     {"constant_value", kTensors, InputSpec::Optional, 0},
                     {"axes", kIndices, InputSpec::Optional}},
          .attributes = {{"mode", "constant"},
                         {"paddings", AttrKind::Ints},
                         {"pads", AttrKind::Ints},
                         {"value", AttrKind::Float}},
          .infer = infer_pad,
          .meaning = pad_meaning};
}

}  // namespace cameo::ops
