// See folds.h.
#include "optimizer/choose/folds.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

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

/// Cycles of an operation: most take as long for a vector as for a scalar.
double cycles_of(Op op, bool in_lanes, const MachineModel& m) {
  if (op >= Op::Exp) return 10;  // and the functions behind it
  if (op == Op::Div || op == Op::FloorDiv || op == Op::Mod || op == Op::FMod || op == Op::Sqrt) return in_lanes ? 8 : 3;
  if (op == Op::Min || op == Op::Max) return 1;  // of which NaN wins
  return 0.5 / m.fmas;
}
/// Cycles in which a fold takes a term.
double cycles_of(FoldKind kind, bool in_lanes, const MachineModel& m) {
  if (kind >= FoldKind::ArgMin) return in_lanes ? 6 : 15;  // alone it branches
  return cycles_of(kind == FoldKind::Min || kind == FoldKind::Max ? Op::Max : Op::Add, in_lanes, m);
}

/// What one core issues for a nest with folds: an expression as often as the steps of the axes and folds around it say,
/// of which one takes the lanes of a vector, or an element that is left over.
class Issue {
 public:
  Issue(const Kernel& k, const Choice& choice, const Target& target) : k_(k), choice_(choice), target_(target) {
    for (const Store& s : k.stores) values_.push_back(s.value);
    const int64_t rows = choice.get("rows", 1), lanes = choice["lanes"];
    if (choice.get(kKept, 0)) {  // an element is read instead, as it was written
      values_ = {kept_terms(k, lanes, choice["fold_lanes"])->left};
      moved_ += static_cast<double>(points_of(k.axes)) / static_cast<double>(lanes) * (1 + 1 / target.machine.loads);
    }
    for (Expr axis : k.axes) add(axis, axis == k.axes.back() && rows == 1 ? lanes : 1);
    if (rows > 1) add(k.axes[k.axes.size() - 2], rows);
    for (Expr fold : folds_in(values_)) add(fold.arg(0), in_lanes(fold) ? choice["fold_lanes"] : 1, fold);
  }
  double cycles() {
    for (const Store& s : k_.stores) move(s.offset, s.offset, k_.operands[s.operand], 1);
    visit(values_, [&](Expr e) {
      if (e.op() == Op::Read) return move(e, e.offset(), e.type(), target_.machine.loads);
      if (e.op() == Op::Fold) return fold(e);
      const bool is_index = e.type() == DType::i64 || e.args().empty();
      if (!is_index)
        computed_ += steps(e) * cycles_of(e.op(), lanes_of(e), target_.machine) * registers(lanes_of(e), e.type());
    });
    return std::max(std::max(computed_, moved_) + one_by_one_, waiting_);
  }

 private:
  struct Variable {
    double steps;
    int64_t lanes;
    Expr itself, fold;  // null: an axis
  };

  void add(Expr v, int64_t lanes, Expr fold = {}) {
    const auto n = static_cast<int64_t>(extent_of(v));
    variables_[v.var_number()] = {static_cast<double>(n / lanes + parts_of(n % lanes)), lanes, v, fold};
  }
  /// Of what is left behind the last whole vector: halves and quarters of one, of 4 lanes or more, and elements.
  static int64_t parts_of(int64_t rest) { return std::popcount(static_cast<uint64_t>(rest / 4)) + rest % 4; }
  bool in_lanes(Expr fold) const { return runs_in_lanes(k_, fold, choice_["lanes"], choice_["fold_lanes"]); }
  /// Of an expression, which stands in the outermost scope that has its variables: that of no axis, of all but the last
  /// one, of all, and in these the bodies of folds.
  double steps(Expr e) {
    std::set<uint64_t> around;
    std::vector<uint64_t> left(free_.of(e).begin(), free_.of(e).end());
    while (!left.empty()) {
      const uint64_t v = left.back();
      left.pop_back();
      if (!variables_.contains(v) || !around.insert(v).second) continue;
      if (const Expr fold = variables_.at(v).fold)
        left.insert(left.end(), free_.of(fold).begin(), free_.of(fold).end());
    }
    const bool of_axes = std::ranges::any_of(k_.axes, [&](Expr a) { return around.contains(a.var_number()); });
    for (Expr axis : k_.axes)
      if (of_axes && (axis != k_.axes.back() || around.contains(axis.var_number()))) around.insert(axis.var_number());
    double product = 1;
    for (uint64_t v : around) product *= variables_.at(v).steps;
    return product;
  }
  /// The variable in whose lanes an expression runs; null: none.
  const Variable* lanes_of(Expr e) {
    for (uint64_t v : free_.of(e))
      if (const auto it = variables_.find(v); it != variables_.end() && it->second.lanes > 1) return &it->second;
    return nullptr;
  }
  double registers(const Variable* v, DType type) const {
    const auto bytes = static_cast<double>((v ? v->lanes : 1) * byte_size(type));
    return std::max(1.0, bytes / target_.vector_bytes);
  }
  void move(Expr e, Expr offset, DType type, double rate) {  // `rate`: a cycle
    const Variable* v = lanes_of(offset);
    Reads reads;
    if (v) reads.count(offset, v->itself);
    if (reads.strided) {
      const Wide span = Wide(v->lanes) * affine(offset).stride_of(v->itself).estimate() * byte_size(type);
      const double far = span > target_.machine.l1_bytes ? kFar : 0;
      one_by_one_ += steps(e) / v->steps * extent_of(v->itself) * (1 / rate + far);
    } else {
      moved_ += steps(e) * registers(v, type) / rate;
    }
    if (e.op() != Op::Read) return;
    if (const Variable* g = lanes_of(e.guard()))
      computed_ += steps(e) / g->steps * extent_of(g->itself) / static_cast<double>(g->lanes) * kGuarded;
    else if (!e.guard().is_const())
      one_by_one_ += steps(e) * kBranch;
  }
  void fold(Expr e) {
    const Variable *along = &variables_.at(e.arg(0).var_number()), *v = in_lanes(e) ? along : lanes_of(e);
    const double term = cycles_of(e.fold_kind(), v, target_.machine), terms = steps(e) * along->steps;
    computed_ += terms * term * registers(v, e.arg(1).type());
    if (v == along)
      computed_ += steps(e) * (kJoining + std::log2(along->lanes) * term);
    else if (extent_of(along->itself) >= kShortFold)
      waiting_ += terms * target_.machine.fma_latency;
  }

  static constexpr int64_t kLine = 64;   // bytes of a cache
  static constexpr double kFar = 1;      // cycles more of an element, where those of the lanes leave the first cache
  static constexpr double kGuarded = 8;  // cycles of a condition that not all lanes share
  static constexpr double kBranch = 2;   // cycles of a condition of one element, or that all lanes share
  static constexpr double kJoining = 3;  // cycles in which a vector's lanes meet, beside the operations

  const Kernel& k_;
  const Choice& choice_;
  const Target& target_;
  std::vector<Expr> values_;
  FreeVariables free_;
  std::map<uint64_t, Variable> variables_;  // by number
  double computed_ = 0, moved_ = 0, one_by_one_ = 0, waiting_ = 0;
};

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

std::optional<KeptTerms> kept_terms(const Kernel& k, int64_t lanes, int64_t fold_lanes) {
  if (k.axes.empty() || k.stores.size() != 1 || k.accumulated) return std::nullopt;
  const Store& s = k.stores[0];
  const Expr last = k.axes.back();
  const DType stored = k.operands[s.operand];
  if (!s.guard.is_const(1) || lanes == 1 || !affine(s.offset).stride_of(last).is_static(1)) return std::nullopt;
  for (Expr fold : folds_in({s.value})) {
    const Expr term = fold.arg(1), v = fold.arg(0);
    if (term.op() < Op::Exp || term.type() != stored || v.extent() != last.extent() || depends_on(fold, last) ||
        !runs_in_lanes(k, fold, lanes, fold_lanes))
      continue;
    const std::vector<Expr> from{v}, to{last};
    const Expr element = substitute(term, from, to);
    const Expr left = rewrite(s.value, [&](Expr e) { return e == element ? constant(stored, 0) : e; });
    if (left != s.value && !depends_on(left, last)) return KeptTerms{fold, element, left};
  }
  return std::nullopt;
}

int64_t whole_vectors(const Kernel& k) { return std::max<int64_t>(kFoldLanes, k.choice.get("lanes", 1)); }

std::string fold_function(const Kernel& k, Expr fold) {
  const std::string_view kind = name(fold.fold_kind());
  const int64_t lanes = k.choice.get("lanes", 1), fold_lanes = k.choice.get("fold_lanes", 1);
  if (runs_in_lanes(k, fold, lanes, fold_lanes))
    return fmt::format("fold_lanes<rt::FoldKind::{}, {}>", kind, fold_lanes);
  if (folds_by_team(k, fold)) return fmt::format("fold_team<rt::FoldKind::{}, {}>", kind, k.choice["team"]);
  return fmt::format("fold<rt::FoldKind::{}>", kind);
}

double cycles_of_folds(const Kernel& k, const Choice& choice, const Target& target) {
  return Issue(k, choice, target).cycles();
}

}  // namespace cameo
