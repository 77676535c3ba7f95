// The terms of a sum that are zero for every element of the output: a dilated convolution's taps that only ever meet
// padding. The fold runs over those between the first and the last term that is not.
#include <unordered_set>

#include "optimizer/clusters/clusters.h"

namespace cameo {
namespace {

constexpr int64_t kMostTaps = 64;

bool always_outside(const Graph& g, Expr load, Expr tap, int64_t at) {
  const Shape& shape = g.type(ValueId{load.operand()}).shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!shape[d].is_static() || !depends_on(load.index()[d], tap)) continue;
    std::vector<Expr> taps{tap}, values{integer(at)};
    Interval r = range_of(simplify_index(substitute(load.index()[d], taps, values)));
    if (r.known() && (r.high < 0 || r.low >= shape[d].value())) return true;
  }
  return false;
}

Expr trim(const Graph& g, Expr fold_of) {
  const Expr tap = fold_of.arg(0);
  if (fold_of.fold_kind() != FoldKind::Sum || !tap.extent().is_const()) return fold_of;
  const int64_t taps = tap.extent().int_value();
  const std::vector<Expr> loads = zero_factors(fold_of.arg(1));
  if (loads.empty() || taps < 2 || taps > kMostTaps) return fold_of;
  auto dead = [&](int64_t at) {
    for (Expr l : loads)
      if (always_outside(g, l, tap, at)) return true;
    return false;
  };
  int64_t first = 0, last = taps - 1;
  while (first < last && dead(first)) ++first;
  while (last > first && dead(last)) --last;
  if (last - first == taps - 1) return fold_of;
  const Expr kept = var(integer(last - first + 1));
  std::vector<Expr> from{tap}, to{kept + integer(first)};
  return fold(FoldKind::Sum, kept, simplify_index(substitute(fold_of.arg(1), from, to)));
}

}  // namespace

std::vector<Expr> zero_factors(Expr product) {
  std::vector<Expr> loads, factors{product};
  std::unordered_set<Expr, ExprHash> seen{product};
  for (size_t next = 0; next < factors.size(); ++next) {
    const Expr e = factors[next];
    if (e.op() == Op::Mul || (e.op() == Op::Fold && e.fold_kind() == FoldKind::Sum)) {
      for (Expr a : e.args().subspan(e.op() == Op::Fold ? 1 : 0))
        if (seen.insert(a).second) factors.push_back(a);
    } else if (e.op() == Op::Load && !e.checked() && e.outside() == zero(e.type())) {
      loads.push_back(e);
    }
  }
  return loads;
}

Expr trim_folds(const Graph& g, Expr root) {
  return rewrite(root, [&](Expr e) { return e.op() == Op::Fold ? trim(g, e) : e; });
}

}  // namespace cameo
