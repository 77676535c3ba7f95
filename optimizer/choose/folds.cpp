// See folds.h.
#include "optimizer/choose/folds.h"

#include <fmt/format.h>

#include <algorithm>

#include "optimizer/work.h"

namespace cameo {
namespace {

/// Whether a Fold is shared by a team: all points of a row need it.
bool folds_by_team(const Kernel& k, Expr e) {
  if (k.choice.get("team", 1) == 1 || depends_on(e, k.axes.back())) return false;
  std::vector<Expr> vars, bound, roots{e};
  visit(roots, [&](Expr x) {
    if (x.op() == Op::Var) vars.push_back(x);
    if (x.op() == Op::Fold) bound.push_back(x.arg(0));
  });
  return std::ranges::all_of(vars, [&](Expr v) {
    return std::ranges::find(bound, v) != bound.end() || std::ranges::find(k.axes, v) != k.axes.end();
  });
}

constexpr double kShortFold = 24;  // terms; shorter ones run beside those of other points

double extent_of(Expr variable) { return static_cast<double>(Dim(variable.extent()).estimate()); }

/// How many terms a kernel folds by one Fold.
double terms_of(const Kernel& k, Expr fold, std::span<const Expr> all) {
  double terms = extent_of(fold.arg(0));
  for (Expr axis : k.axes)
    if (depends_on(fold, axis)) terms *= extent_of(axis);
  for (Expr around : all)
    if (around != fold && depends_on(fold, around.arg(0))) terms *= extent_of(around.arg(0));
  return terms;
}

}  // namespace

bool runs_in_lanes(const Kernel& k, Expr fold, int64_t lanes, int64_t fold_lanes) {
  if (fold_lanes == 1 || fold.fold_kind() >= FoldKind::ArgMin) return false;
  if (lanes > 1 && !k.axes.empty() && depends_on(fold, k.axes.back())) return false;
  Expr v = fold.arg(0);
  if (!is_size(v.extent()) || Dim(v.extent()).estimate() < fold_lanes) return false;
  bool unit = false, nested = false;
  std::vector<Expr> body{fold.arg(1)};
  visit(body, [&](Expr x) {
    if (x.op() == Op::Fold && depends_on(x, v)) nested = true;
    if (x.op() == Op::Read && affine(x.offset()).stride_of(v).is_static(1)) unit = true;
  });
  return unit && !nested;
}

std::string fold_function(const Kernel& k, Expr fold) {
  const std::string_view kind = name(fold.fold_kind());
  const int64_t lanes = k.choice.get("lanes", 1), fold_lanes = k.choice.get("fold_lanes", 1);
  if (runs_in_lanes(k, fold, lanes, fold_lanes))
    return fmt::format("fold_lanes<rt::FoldKind::{}, {}>", kind, fold_lanes);
  if (folds_by_team(k, fold)) return fmt::format("fold_team<rt::FoldKind::{}, {}>", kind, k.choice["team"]);
  return fmt::format("fold<rt::FoldKind::{}>", kind);
}

double cycles_of_folds(const Kernel& k, const Choice& choice, const Target& target) {
  std::vector<Expr> values;
  for (const Store& s : k.stores) values.push_back(s.value);
  const std::vector<Expr> all = folds_in(values);
  const MachineModel& m = target.machine;
  const auto at_once = [&](int64_t lanes) {
    return static_cast<double>(std::min<int64_t>(lanes, target.vector_bytes / static_cast<int>(sizeof(float))));
  };
  const int64_t lanes = choice["lanes"], fold_lanes = choice["fold_lanes"];
  double cycles = 0;
  for (Expr fold : all) {
    const bool in_lanes = runs_in_lanes(k, fold, lanes, fold_lanes);
    const bool along_last = !in_lanes && lanes > 1 && depends_on(fold, k.axes.back());
    if (extent_of(fold.arg(0)) < kShortFold) continue;
    double loads = 0, term = m.fma_latency;
    visit(std::vector<Expr>{fold.arg(1)}, [&](Expr e) { loads += e.op() == Op::Read; });
    if (in_lanes || along_last) {
      const Reads reads = reads_along(std::vector<Expr>{fold.arg(1)}, in_lanes ? fold.arg(0) : k.axes.back());
      const double width = at_once(in_lanes ? fold_lanes : lanes), strided = static_cast<double>(reads.strided);
      loads = strided + (loads - strided) / width;
      term = std::max(1 / width / m.fmas, in_lanes ? 0 : term / static_cast<double>(lanes));
    }
    term = std::max(term, loads / m.loads);
    cycles += term * terms_of(k, fold, all);
  }
  return cycles;
}

double gathered_elements(const Kernel& k, const Choice& choice) {
  if (!has_folds(k)) return 0;
  double gathered = 0;
  for (const Store& s : k.stores) {
    std::vector<Expr> along;
    if (choice["lanes"] > 1)
      along = {k.axes.back()};
    else
      for (Expr fold : folds_in({s.value})) along.push_back(fold.arg(0));
    for (const auto& [e, times] : evaluations(s.value, static_cast<double>(points_of(k.axes)), 1)) {
      if (e.op() != Op::Read) continue;
      const Affine offset = affine(e.offset());
      if (std::ranges::any_of(along, [&](Expr v) { return offset.stride_of(v).upper() > 1; })) gathered += times;
    }
  }
  return gathered;
}

}  // namespace cameo
