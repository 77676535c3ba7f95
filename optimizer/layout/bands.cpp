// See bands.h.
#include "optimizer/layout/bands.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "optimizer/clusters/clusters.h"

namespace cameo {
namespace {

constexpr int64_t kMostTaps = 16;
constexpr size_t kMostBands = 5;             // along an axis
constexpr double kLeastSaved = 0.25;         // of the products
constexpr int64_t kMostWeights = 8'000'000;  // elements that all regions read
constexpr int64_t kMostCopies = 3;           // of an element of the weights, as many as regions read it

std::vector<Expr> sums_in(Expr value) {
  std::vector<Expr> sums;
  visit(std::vector<Expr>{value}, [&](Expr e) {
    if (e.op() == Op::Fold && e.fold_kind() == FoldKind::Sum) sums.push_back(e);
  });
  return sums;
}

/// Where along `axis` taps of `sum` enter or leave what its factors read.
void add_cuts(const Graph& g, const OutputExpr& out, size_t axis, Expr sum, std::set<int64_t>& cuts) {
  const Expr v = out.index[axis], tap = sum.arg(0);
  if (!tap.extent().is_const() || tap.extent().int_value() > kMostTaps) return;
  for (Expr load : zero_factors(sum.arg(1))) {
    const Shape& shape = g.type(ValueId{load.operand()}).shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      const Affine index = affine(load.index()[d]);
      const Dim by = index.stride_of(v), of_tap = index.stride_of(tap);
      if (!shape[d].is_static() || index.terms.size() != 2 || !by.is_static() || by.value() < 1 ||
          of_tap.is_static(0) || !of_tap.is_static())
        continue;
      for (int64_t t = 0; t < tap.extent().int_value(); ++t) {
        const int64_t first = index.constant + of_tap.value() * t;  // what the tap reads for the axis's first index
        const auto steps_to = [&](int64_t place) {
          return first >= place ? 0 : (place - first + by.value() - 1) / by.value();
        };
        cuts.insert(steps_to(0));
        cuts.insert(steps_to(shape[d].value()));
      }
    }
  }
}

/// The part cut along an axis, its sums without the taps that are dead there.
std::vector<OutputPart> cut(const Graph& g, const OutputPart& part, size_t axis) {
  const Expr extent = part.out.index[axis].extent();
  if (!extent.is_const()) return {part};
  std::set<int64_t> cuts;
  for (Expr sum : sums_in(part.out.value)) add_cuts(g, part.out, axis, sum, cuts);
  cuts.insert(extent.int_value());
  std::vector<OutputPart> parts;
  int64_t begin = 0;
  for (const int64_t end : cuts) {
    if (end <= begin || end > extent.int_value()) continue;
    parts.push_back(restrict_axis(part, axis, 1, integer(begin), integer(end - begin)));
    parts.back().out.value = trim_folds(g, simplify_index(parts.back().out.value));
    begin = end;
  }
  return parts.size() > kMostBands ? std::vector<OutputPart>{part} : parts;
}

struct Work {
  double products = 0;
  int64_t weights = 0;  // elements of constants that the regions read, each for itself
};
Work work_of(const Graph& g, std::span<const OutputPart> parts) {
  Work all;
  for (const OutputPart& part : parts) {
    std::vector<Expr> variables = part.out.index;
    for (Expr sum : sums_in(part.out.value)) variables.push_back(sum.arg(0));
    const auto points = [&](auto counts) {
      int64_t n = 1;
      for (Expr v : variables)
        if (counts(v)) n *= Dim(v.extent()).estimate();
      return n;
    };
    all.products += static_cast<double>(points([](Expr) { return true; }));
    visit(std::vector<Expr>{part.out.value}, [&](Expr e) {
      if (e.op() == Op::Load && g[ValueId{e.operand()}].constant)
        all.weights += points([&](Expr v) { return depends_on(e, v); });
    });
  }
  return all;
}

}  // namespace

std::vector<OutputPart> split_bands(const Graph& g, const OutputExpr& out, const Target& target) {
  const std::vector<OutputPart> whole{{out, out.index}};
  std::vector<OutputPart> parts = whole;
  for (size_t axis = 0; axis < out.index.size(); ++axis) {
    std::vector<OutputPart> finer;
    for (const OutputPart& part : parts) std::ranges::move(cut(g, part, axis), std::back_inserter(finer));
    parts = std::move(finer);
  }
  if (parts.size() == 1) return whole;
  const Work before = work_of(g, whole), after = work_of(g, parts);
  const double saved = before.products - after.products,
               start = static_cast<double>(parts.size() - 1) * (target.launch() + target.machine.barrier);
  const bool pays = saved > kLeastSaved * before.products && 2 * saved / target.peak() > start;
  const bool fits =
      after.weights <= kMostWeights && after.weights <= kMostCopies * before.weights && !target.keeps_size;
  return pays && fits ? parts : whole;
}

}  // namespace cameo
