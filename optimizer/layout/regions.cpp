// See regions.h. split_output: the cases of a meaning that depend on one index of the output become regions of their
// own. A Select on `index < constant` cuts an axis in segments; a condition on the remainder of an index (the taps of a
// transposed convolution) makes a region for each remainder, whose folds then run over the taps that fit and no others.
#include "optimizer/layout/regions.h"

#include <algorithm>
#include <numeric>

#include "optimizer/clusters/blocks.h"
#include "optimizer/layout/sum_of_products.h"

namespace cameo {
namespace {

constexpr size_t kMostRegions = 16;          // by remainders: each is a kernel of its own
constexpr int64_t kLongestPeriod = 1 << 12;  // of taps that fit: a stride
constexpr size_t kFewSegments = 8;           // of which one is found among the cases of a row in less time than a step
constexpr int64_t kSmallestRegion = 64;      // elements, of few: below it a step costs more than the case

bool is_proven(Expr condition) { return simplify_index(condition).is_const(1); }

/// The axis of which `index` is the variable plus a number or a size, or -1.
int axis_of(const OutputExpr& out, const Affine& index) {
  int axis = -1;
  for (const Affine::Term& t : index.terms) {
    if (is_size(t.term)) continue;
    const auto it = std::ranges::find(out.index, t.term);
    if (axis >= 0 || t.coefficient != 1 || it == out.index.end()) return -1;
    axis = static_cast<int>(it - out.index.begin());
  }
  return axis;
}

/// Where the first axis that Selects tell apart is cut.
struct Cuts {
  int axis = -1;
  std::vector<Expr> at;  // numbers and sizes within the axis, ascending

  /// A region may turn out to be empty. A cut of which it is not known where it lies is none: its case stays in the
  /// meaning.
  void insert(Expr cut, Expr extent) {
    const auto is_before = [](Expr a, Expr b) { return a != b && is_proven(le(a, b)); };
    if (!is_before(integer(0), cut) || !is_before(cut, extent)) return;
    auto it = at.begin();
    while (it != at.end() && is_before(*it, cut)) ++it;
    if (it == at.end() || is_before(cut, *it)) at.insert(it, cut);
  }
};
Cuts find_cuts(const OutputExpr& out) {
  Cuts cuts;
  std::vector<Expr> roots{out.value};
  visit(roots, [&](Expr e) {
    if (e.op() != Op::Select || e.arg(0).op() != Op::Lt || !is_size(e.arg(0).arg(1)) ||
        e.arg(0).arg(0).type() != DType::i64)
      return;
    Affine index = affine(e.arg(0).arg(0));
    int axis = never_wraps(index) ? axis_of(out, index) : -1;
    if (axis < 0 || (cuts.axis >= 0 && axis != cuts.axis) || !has_load(e.arg(1)) || !has_load(e.arg(2))) return;
    cuts.axis = axis;
    const Expr v = out.index[static_cast<size_t>(axis)];
    cuts.insert(simplify_index(e.arg(0).arg(1) - e.arg(0).arg(0) + v), v.extent());
  });
  return cuts;
}

std::vector<OutputPart> cut_segments(const OutputPart& whole) {
  Cuts cuts = find_cuts(whole.out);
  if (cuts.axis < 0) return {whole};
  auto axis = static_cast<size_t>(cuts.axis);
  int64_t others = 1;
  for (size_t a = 0; a < whole.out.index.size(); ++a)
    if (a != axis) others *= Dim(whole.out.index[a].extent()).estimate();
  cuts.at.push_back(whole.out.index[axis].extent());
  Expr begin = integer(0);
  std::vector<OutputPart> parts;
  for (Expr end : cuts.at) {
    const Dim length = Dim(end) - Dim(begin);
    if (cuts.at.size() <= kFewSegments && length.estimate() * others < kSmallestRegion) return {whole};
    parts.push_back(restrict_axis(whole, axis, 1, begin, length.extent()));
    parts.back().out.value = simplify_index(parts.back().out.value);
    begin = end;
  }
  return parts;
}

/// A condition `P % s == 0`: P, which never wraps, and s; or s = 0.
struct Remainder {
  Affine p;
  int64_t s = 0;
};
Remainder remainder_of(Expr e) {
  if (e.op() != Op::Eq || !e.arg(1).is_const(0) || e.arg(0).op() != Op::Mod || !e.arg(0).arg(1).is_const()) return {};
  Affine p = affine(e.arg(0).arg(0));
  return never_wraps(p) ? Remainder{p, e.arg(0).arg(1).int_value()} : Remainder{};
}

bool implies(Expr e, Expr condition) {
  return e == condition || (e.op() == Op::And && (implies(e.arg(0), condition) || implies(e.arg(1), condition)));
}

/// Reads nothing where the condition does not hold: its index is negative there, and zero stands outside.
bool reads_only_where(Expr e, Expr condition) {
  if (e.op() == Op::Cast) return reads_only_where(e.arg(0), condition);
  return e.op() == Op::Load && !e.checked() && e.outside() == zero(e.type()) &&
         std::ranges::any_of(e.index(), [&](Expr i) {
           return i.op() == Op::Select && implies(i.arg(0), condition) && range_of(i.arg(2)).high < 0;
         });
}

/// The term of a sum is zero where the condition does not hold.
bool zero_unless(Expr e, Expr condition) {
  switch (e.op()) {
    case Op::Cast: return zero_unless(e.arg(0), condition);
    case Op::Mul: return reads_only_where(e.arg(0), condition) || reads_only_where(e.arg(1), condition);
    case Op::Fold: return e.fold_kind() == FoldKind::Sum && zero_unless(e.arg(1), condition);
    case Op::Select: return implies(e.arg(0), condition) && e.arg(2) == zero(e.type());
    default: return reads_only_where(e, condition);
  }
}

/// A fold whose body is asked for only where a remainder of its variable is zero runs over those values alone.
Expr fold_over_fitting(Expr e) {
  if (e.op() != Op::Fold || e.fold_kind() != FoldKind::Sum || !e.arg(0).extent().is_const()) return e;
  Expr v = e.arg(0);
  std::vector<Expr> roots{e.arg(1)};
  Remainder found;
  visit(roots, [&](Expr x) {
    Remainder r = remainder_of(x);
    if (!r.s || found.s || r.s > kLongestPeriod) return;
    bool settled = !r.p.stride_of(v).is_static(0);
    for (const Affine::Term& t : r.p.terms) settled &= t.term == v || t.coefficient % r.s == 0;
    if (settled && zero_unless(e.arg(1), x)) found = r;
  });
  if (!found.s) return e;
  int64_t extent = v.extent().int_value(), by = found.p.stride_of(v).value(), first = 0;
  auto fits = [&](int64_t k) { return (by * k + found.p.constant) % found.s == 0; };
  while (first < std::min(extent, found.s) && !fits(first)) ++first;
  if (first == std::min(extent, found.s)) return zero(e.type());
  int64_t step = found.s / std::gcd(by, found.s);  // those that fit are an arithmetic progression
  int64_t count = (extent - 1 - first) / step + 1;
  Expr j = var(integer(count));
  std::vector<Expr> from{v}, to{j * integer(count > 1 ? step : 0) + integer(first)};
  return fold(FoldKind::Sum, j, substitute(e.arg(1), from, to));
}

bool has_sum(Expr root) {
  bool found = false;
  std::vector<Expr> roots{root};
  visit(roots, [&](Expr e) { found |= e.op() == Op::Fold && e.fold_kind() == FoldKind::Sum; });
  return found;
}

std::vector<OutputPart> split_remainders(const OutputPart& whole) {
  std::vector<OutputPart> parts{whole};
  const std::vector<int64_t> blocks = has_sum(whole.out.value) ? blocks_of(whole.out) : std::vector<int64_t>{};
  for (size_t axis = 0; axis < whole.out.index.size(); ++axis) {
    int64_t s = blocks.empty() ? 0 : blocks[axis];
    const Dim extent(whole.out.index[axis].extent());
    std::vector<Expr> roots{whole.out.value};
    visit(roots, [&](Expr e) {
      Remainder r = remainder_of(e);
      const Dim stride = r.s ? r.p.stride_of(whole.out.index[axis]) : Dim(0);
      if (stride.is_static(1) || stride.is_static(-1)) s = r.s;
    });
    if (s < 2 || s > range_of(extent.extent()).low || parts.size() * static_cast<size_t>(s) > kMostRegions) continue;
    std::vector<OutputPart> finer;
    for (const OutputPart& p : parts)
      for (int64_t r = 0; r < s; ++r)
        finer.push_back(restrict_axis(p, axis, s, integer(r), ((extent + Dim(s - 1 - r)) / Dim(s)).extent()));
    parts = std::move(finer);
  }
  if (parts.size() > 1)
    for (OutputPart& p : parts) p.out.value = simplify_index(rewrite(p.out.value, fold_over_fitting));
  return parts;
}

}  // namespace

OutputPart restrict_axis(const OutputPart& part, size_t axis, int64_t scale, Expr offset, Expr extent) {
  OutputPart p = part;
  Expr v = var(simplify_index(extent));
  std::vector<Expr> from{part.out.index[axis]}, to{v * integer(scale) + offset};
  p.out.index[axis] = v;
  for (Expr& e : p.at) e = substitute(e, from, to);
  p.out.value = substitute(part.out.value, from, to);
  return p;
}

std::vector<OutputPart> split_output(const OutputExpr& out) {
  std::vector<OutputPart> parts = cut_segments({out, out.index});
  return parts.size() > 1 ? parts : split_remainders(parts[0]);
}

std::optional<ValueId> copied_value(const Graph& g, const OutputPart& part) {
  const Expr e = part.out.value;
  if (e.op() != Op::Load || e.checked()) return std::nullopt;
  const Shape& shape = g.type(ValueId{e.operand()}).shape;
  if (shape.size() != part.out.index.size()) return std::nullopt;
  for (size_t a = 0; a < shape.size(); ++a)
    if (shape[a].extent() != part.out.index[a].extent() ||
        (e.index()[a] != part.out.index[a] && !shape[a].is_static(1)))
      return std::nullopt;
  return ValueId{e.operand()};
}

Layout layout_within(const OutputPart& part, const Layout& whole) {
  Affine at = affine(physical(whole, part.at));
  Layout l{{}, size_in(at), whole.elements, whole.order};
  for (size_t a = 0; a < part.out.index.size(); ++a) {
    Expr v = part.out.index[a];
    l.pitch.push_back(v.extent().is_const(1) ? whole.pitch[a] : at.stride_of(v));
  }
  return l;
}

}  // namespace cameo
