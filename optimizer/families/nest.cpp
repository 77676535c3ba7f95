// The Nest family: any loop nest. A processor's vectors run along the last axis, and folds that read memory in order
// run in lanes of their own. On a GPU neighbouring threads have neighbouring points instead, and what a row has to fold
// is shared by a team of them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "optimizer/choose/folds.h"
#include "optimizer/work.h"
#include "runtime/call.h"
#include "runtime/kernels/contract_shape.h"

namespace cameo {
namespace {

int lanes_of(Expr axis) {
  const int64_t n = Dim(axis.extent()).estimate();
  return n >= 16 ? 16 : n >= 8 ? 8 : n >= 4 ? 4 : 1;
}

std::vector<Expr> values_of(const Kernel& k) {
  std::vector<Expr> values;
  for (const Store& s : k.stores) values.push_back(s.value);
  return values;
}

/// The last axis gathers while the folds read memory in order.
bool folds_are_read_in_order(const Kernel& k) {
  if (k.axes.empty()) return false;
  const std::vector<Expr> values = values_of(k);
  Reads along = reads_along(values, k.axes.back());
  Reads folded;
  visit(values, [&](Expr e) {
    if (e.op() != Op::Fold || !is_size(e.arg(0).extent()) || Dim(e.arg(0).extent()).estimate() < 8) return;
    std::vector<Expr> body{e.arg(1)};
    Reads r = reads_along(body, e.arg(0));
    folded.contiguous += r.contiguous;
    folded.strided += r.strided;
  });
  return along.strided > 0 && folded.contiguous > folded.strided && along.contiguous <= along.strided;
}

int lanes_along_last(const Kernel& k) {
  if (k.axes.empty() || folds_are_read_in_order(k)) return 1;
  return lanes_of(k.axes.back());
}

/// Instructions that move one element when so many lanes run along `v`: a strided access is one for each lane.
double moves_along(const Kernel& k, Expr v, int64_t at_once) {
  const double lanes = static_cast<double>(at_once);
  double moves = 0;
  for (const Store& s : k.stores) moves += affine(s.offset).stride_of(v).is_static(1) ? 1 / lanes : 1;
  Reads r = reads_along(values_of(k), v);
  return moves + r.contiguous / lanes + r.strided;
}

constexpr int64_t kShortFold = 24;  // terms, which a thread folds alone
constexpr int kWarp = 32;           // threads

/// How many terms a fold has with those of the longest one that runs for each of them.
int64_t terms_of(Expr fold) {
  const auto extent = [](Expr e) { return Dim(e.arg(0).extent()).estimate(); };
  int64_t inner = 1;
  for (Expr e : folds_in({fold.arg(1)}))
    if (depends_on(e, fold.arg(0))) inner = std::max(inner, extent(e));
  return extent(fold) * inner;
}
/// The terms of the longest fold; of those that do not change along the last axis if `of_rows`.
int64_t longest_fold(const Kernel& k, bool of_rows) {
  const std::vector<Expr> values = values_of(k);
  int64_t longest = 0;
  const std::vector<Expr> all = folds_in(values);
  for (Expr e : all) {
    const std::vector<Expr> inside = folds_in({e});
    const bool within = std::ranges::any_of(all, [&](Expr o) {  // it changes from term to term of another
      return std::ranges::find(inside, o) == inside.end() && depends_on(e, o.arg(0));
    });
    if (within || (of_rows && !k.axes.empty() && depends_on(e, k.axes.back()))) continue;
    longest = std::max(longest, terms_of(e));
  }
  return longest;
}

/// A fold that all points of a row need, or that its threads would read far apart, or that would leave most of the card
/// idle, is a team's: a warp's, or, if it is long, the whole block's.
int team_of(const Kernel& k, const Target& target) {
  constexpr int64_t kLong = 1024;
  const bool of_rows = longest_fold(k, true) >= kShortFold;
  const int64_t terms = longest_fold(k, of_rows);
  if (terms < kShortFold) return 1;
  if (!of_rows) {
    const bool idle =
        points_of(k.axes) * 8 < int64_t(target.sm_count) * target.block_threads && terms >= 8 * kShortFold;
    if (!idle && !folds_are_read_in_order(k)) return 1;
  }
  return terms < kLong ? kWarp : target.block_threads;
}

/// A thread takes as many neighbours as one access of rt::kAlignment bytes moves, where all accesses are such and
/// threads enough are left for the whole card.
int lanes_of_thread(const Kernel& k, const Target& target) {
  int64_t widest = 1;
  for (DType t : k.operands) widest = std::max<int64_t>(widest, byte_size(t));
  const int64_t lanes = rt::kAlignment / widest;
  if (k.axes.empty() || lanes < 2 || !k.axes.back().extent().is_const() || k.axes.back().extent().int_value() % lanes)
    return 1;
  if (points_of(k.axes) / lanes < int64_t(target.sm_count) * target.block_threads) return 1;
  return moves_together(k, lanes) ? static_cast<int>(lanes) : 1;
}

/// A kernel without folds may run its lanes along any axis: where the last one is short, or would gather, another is
/// better.
void rotate_lanes(Kernel& k) {
  if (has_folds(k) || k.axes.size() < 2) return;
  size_t best = k.axes.size() - 1;
  double least = moves_along(k, k.axes[best], lanes_of(k.axes[best]));
  for (size_t i = 0; i + 1 < k.axes.size(); ++i) {
    if (Dim(k.axes[i].extent()).estimate() < 8) continue;
    double moves = moves_along(k, k.axes[i], lanes_of(k.axes[i]));
    if (moves < least * 0.75) {
      best = i;
      least = moves;
    }
  }
  if (best + 1 == k.axes.size()) return;
  std::rotate(k.axes.begin() + static_cast<long>(best), k.axes.begin() + static_cast<long>(best) + 1, k.axes.end());
  // what the lanes leave between their elements the other axes fill: soon, while the lines are in the first cache
  constexpr int64_t kLongest = 512, kShortest = 64;
  if (!k.axes.back().extent().is_const()) return;
  int64_t extent = k.axes.back().extent().int_value(), block = std::min(extent, kLongest);
  while (extent % block) --block;
  if (block < extent && block >= kShortest) {
    Expr outer = split_axis(k, k.axes.size() - 1, integer(block));
    k.axes.erase(std::ranges::find(k.axes, outer));
    k.axes.insert(k.axes.begin(), outer);
  }
}

bool has_folds_in_lanes(const Kernel& k, int64_t lanes) {
  const std::vector<Expr> values = values_of(k);
  return std::ranges::any_of(folds_in(values), [&](Expr e) { return runs_in_lanes(k, e, lanes, kFoldLanes); });
}

/// Whether a core does more for an element than move it: it folds, or computes where to read and by which weights.
bool computes(const Kernel& k) {
  constexpr int kMany = 16;  // operations
  const std::vector<Expr> values = values_of(k);
  int operations = 0;
  visit(values, [&](Expr e) { operations += !e.args().empty() && e.type() != DType::i64; });
  return has_folds(k) || operations >= kMany;
}

/// Whether all points along an axis fold as many terms, so that they may be lanes.
bool may_be_lanes(const Kernel& k, Expr axis) {
  const std::vector<Expr> values = values_of(k);
  return std::ranges::none_of(folds_in(values), [&](Expr e) { return depends_on(e.arg(0).extent(), axis); });
}

constexpr int kRowLanes = 16;
/// Whether there are rows enough that each of them may be a lane.
bool has_rows_in_lanes(const Kernel& k) {
  if (!computes(k) || k.axes.size() < 2) return false;
  const Expr rows = k.axes[k.axes.size() - 2];
  return Dim(rows.extent()).estimate() >= kRowLanes && may_be_lanes(k, rows);
}

/// The ways to run a nest on a processor.
std::vector<Choice> ways_of_lanes(const Kernel& k) {
  std::vector<Choice> all;
  const auto add = [&](int64_t lanes, int64_t fold_lanes) {
    const Choice c{{"lanes", lanes}, {"fold_lanes", fold_lanes}, {"team", 1}};
    if (std::ranges::find(all, c) == all.end()) all.push_back(c);
  };
  const bool has_lanes = !k.axes.empty() && may_be_lanes(k, k.axes.back());
  const int thumb = has_lanes ? lanes_along_last(k) : 1, most = has_lanes ? lanes_of(k.axes.back()) : 1;
  for (int lanes : {thumb, 1, most}) {
    if (has_folds_in_lanes(k, lanes)) add(lanes, kFoldLanes);
    add(lanes, 1);
  }
  if (kept_terms(k, most, kFoldLanes))
    all.push_back({{"lanes", most}, {"fold_lanes", kFoldLanes}, {"team", 1}, {std::string(kKept), 1}});
  if (has_rows_in_lanes(k)) all.push_back({{"lanes", most}, {"fold_lanes", 1}, {"team", 1}, {"rows", kRowLanes}});
  return all;
}

/// What an axis needs that comes before the last one is computed once for all of that: of a kernel that computes, the
/// axis that leaves the least to do comes last.
void put_cheapest_last(Kernel& k, const Target& target) {
  constexpr double kClearly = 0.75;
  const auto cycles = [&](const Kernel& other) {
    double least = std::numeric_limits<double>::infinity();
    for (const Choice& way : ways_of_lanes(other)) least = std::min(least, cycles_of_folds(other, way, target));
    return least;
  };
  const Kernel before = k;
  double least = kClearly * cycles(before);
  for (size_t i = 0; i + 1 < before.axes.size(); ++i) {
    Kernel other = before;
    std::rotate(other.axes.begin() + static_cast<long>(i), other.axes.begin() + static_cast<long>(i) + 1,
                other.axes.end());
    if (const double needed = cycles(other); needed < least) {
      least = needed;
      k.axes = other.axes;
    }
  }
}

/// Of one core: what it computes; else elements that are moved one by one or as many as there are lanes.
double cycles_of_lanes(const Kernel& k, const Choice& c, const Target& target) {
  if (computes(k)) return cycles_of_folds(k, c, target);
  if (k.axes.empty()) return 0;
  const double points = static_cast<double>(points_of(k.axes));
  return points * moves_along(k, k.axes.back(), c["lanes"]) / target.machine.loads;
}

/// Of a GPU: the terms of the longest fold, each a whole sector where neighbouring threads read far apart, and the
/// steps in which a team meets; by all threads that are resident, or as many as have something to do.
double cycles_of_teams(const Kernel& k, const Choice& c, const Target& target) {
  const int64_t team = c["team"];
  const bool in_order = longest_fold(k, true) >= kShortFold || folds_are_read_in_order(k);
  const double apart = in_order == (team > 1) ? 1 : static_cast<double>(target.card.sector_bytes) / sizeof(float);
  const double points = static_cast<double>(points_of(k.axes)),
               terms = static_cast<double>(std::max<int64_t>(longest_fold(k, false), 1));
  const double resident = static_cast<double>(int64_t(target.sm_count) * target.card.threads);
  const double busy = std::min(1.0, points * static_cast<double>(team) / static_cast<double>(c["lanes"]) / resident);
  const double meeting = static_cast<double>(team) * std::log2(static_cast<double>(team));
  return points * (terms * apart + meeting) / busy;
}

/// How an operand should stand of which elements are looked up along its innermost axis, so that lanes have to run
/// along another one (an interpolation along rows, samples of a grid): with that one last.
std::optional<Operand> relaid_for_lanes(const Problem& p, Expr load, Expr lanes) {
  const ValueId v{load.operand()};
  const Layout& made = p.layouts[v.index];
  if (p.graph[v].constant || load.checked() || !lanes || made.order.empty()) return std::nullopt;
  const Expr innermost = load.index()[static_cast<size_t>(made.order.back())];
  const auto is_looked_up = [](Expr index) {
    return std::ranges::any_of(affine(index).terms, [](const Affine::Term& t) { return t.term.op() != Op::Var; });
  };
  const auto axis = std::ranges::find(load.index(), lanes) - load.index().begin();
  if (axis == std::ssize(load.index()) || depends_on(innermost, lanes) || !is_looked_up(innermost)) return std::nullopt;
  return in_order(p.graph, v, with_last(made.order, static_cast<int>(axis)));
}

/// Of operands whose elements are read several times each: less often they are as soon fetched as brought into order.
std::vector<Operand> wishes_of_lanes(const Problem& p) {
  const Expr value = p.part.out.value, lanes = last_moving(axes_in_memory(p.part.out, p.layouts[p.output.index]));
  const double points = static_cast<double>(points_of(p.part.out.index));
  std::vector<Operand> wishes;
  visit(std::vector{value}, [&](Expr e) {
    if (e.op() != Op::Load || std::ranges::count(wishes, ValueId{e.operand()}, &Operand::value)) return;
    const auto relaid = relaid_for_lanes(p, e, lanes);
    if (relaid && is_read_again(p.graph, relaid->value, value, points)) wishes.push_back(*relaid);
  });
  return wishes;
}

class Nest final : public Family {
 public:
  std::string_view name() const override { return "nest"; }

  Matched match(const Problem& p) const override {
    auto match = std::make_shared<Match>();
    if (!p.target.is_gpu()) match->wishes = wishes_of_lanes(p);
    return match;
  }
  Lowered lower(const Problem& p, const Match&) const override {
    LoweredKernel l;
    Lowering lowering(p.graph, p.layouts, l);
    Kernel& k = l.kernel;
    const Layout& layout = p.layouts[p.output.index];
    k.axes = axes_in_memory(p.part.out, layout);
    const uint32_t y = lowering.operand(as_made(p.layouts, p.output));
    const Expr value = collapse_folds(lowering.lower(p.part.out.value, last_moving(k.axes)));
    k.stores.push_back({y, physical(layout, p.part.at), boolean(true), value});
    drop_unit_axes(k);
    split_axes(k);
    collapse_axes(k, 0);
    return l;
  }
  bool adopt(Kernel& k, const Target& target) const override {
    k.family = this;
    if (target.is_gpu() || !computes(k))
      rotate_lanes(k);
    else
      put_cheapest_last(k, target);
    return true;
  }
  std::vector<Choice> candidates(const Kernel& k, const Target& target) const override {
    if (!target.is_gpu()) return ways_of_lanes(k);
    std::vector<Choice> all;
    const auto add_team = [&](int team) {
      const Choice c{{"lanes", team == 1 ? lanes_of_thread(k, target) : 1}, {"fold_lanes", 1}, {"team", team}};
      if (std::ranges::find(all, c) == all.end()) all.push_back(c);
    };
    add_team(team_of(k, target));
    if (has_folds(k))
      for (int team : {1, kWarp, target.block_threads}) add_team(team);
    return all;
  }
  double price(const Kernel& k, const KernelCost& cost, const Choice& choice, const Target& target) const override {
    const double seconds = Family::price(k, cost, choice, target);
    const Choice thumb = candidates(k, target).front();
    if (!target.is_gpu()) {
      const double cycles = cycles_of_lanes(k, choice, target);
      const double share = computes(k) ? std::min(1.0, cycles / cycles_of_lanes(k, thumb, target)) : 1;
      return std::max(seconds * share, cycles / (target.machine.clock * 1e9));
    }
    return scaled(seconds, cycles_of_teams(k, choice, target) / cycles_of_teams(k, thumb, target), target);
  }
  void apply(Kernel& k, const Choice& choice, const Target& target) const override {
    const bool of_rows = longest_fold(k, true) >= kShortFold;
    if (choice["team"] > 1 && (!of_rows || k.axes.empty())) k.axes.push_back(var(integer(1)));
    Family::apply(k, choice, target);
  }

  bool computes_strips() const override { return true; }
  int64_t chunks(const Kernel& k, const Target& target) const override {
    if (!target.is_gpu()) return chunks_by_work(k, 0, target);
    const std::span<const Expr> axes(k.axes);
    const int64_t team = k.choice["team"], threads = target.block_threads;
    if (team > 1) return rt::round_up_div(points_of(axes.first(axes.size() - 1)), threads / team);
    return rt::round_up_div(points_of(axes) / k.choice["lanes"], threads);
  }

  std::string details(const Kernel& k) const override {
    if (k.choice.get("rows", 1) > 1) return fmt::format(" rows {}", k.choice["rows"]);
    if (k.choice.get(kKept, 0)) return " terms kept";
    return k.choice["team"] > 1 ? fmt::format(" team {}", k.choice["team"]) : "";
  }
  std::string_view legend() const override {
    return "nest<W>: W points of the last axis at once; nest<W, 1, true>: a row is one thread's; "
           "nest_of_rows<P, W>: P of the axis before the last";
  }

  bool shares_sizes(const Kernel&) const override { return true; }
  void print(KernelPrinter& printer, const Kernel& k) const override {
    const std::span<const Expr> axes(k.axes), outer = axes.first(axes.empty() ? 0 : axes.size() - 1);
    const bool of_rows = k.choice.get("rows", 1) > 1;
    const std::span<const Expr> loops = outer.first(outer.size() - of_rows);
    const std::string last = fmt::format("i{}", outer.size()), lanes = fmt::format("{}", k.choice["lanes"]),
                      extents = extents_of(printer, loops),
                      extent = axes.empty() ? "rt::c<1>" : constant_of(printer, axes.back().extent(), whole_vectors(k));
    std::string parameters = parameters_of(loops);
    if (of_rows)
      parameters += fmt::format("auto i{}", loops.size());
    else if (!parameters.empty())
      parameters.resize(parameters.size() - 2);
    std::string call = fmt::format("rt::nest<{}{}>(call, {}", lanes,
                                   k.choice.get(kKept, 0) ? ", 1, true"
                                   : k.choice["team"] > 1 ? fmt::format(", {}", k.choice["team"])
                                                          : "",
                                   extent);
    if (of_rows)
      call = fmt::format("rt::nest_of_rows<{}, {}>(call, {}, {}", k.choice["rows"], lanes, extent,
                         constant_of(printer, outer.back().extent(), whole_vectors(k)));
    printer.open(fmt::format("{}, {}, [&]({}) {{", call, extents, parameters));
    std::string element;
    const std::string row = printer.scope(0, bindings_of(outer), [&] {
      element = printer.scope(1, axes.empty() ? Bindings() : Bindings{{axes.back(), last}}, [&] { printer.stores(); });
    });
    printer.append(row);
    printer.open(fmt::format("return [=](auto {}) __attribute__((always_inline)) {{", last));
    printer.line(fmt::format("(void){};", last));
    printer.append(element);
    printer.close("};");
    printer.close("});");
  }
};

}  // namespace

bool moves_together(const Kernel& k, int64_t lanes) {
  const Expr last = k.axes.back();
  bool together = true;
  const auto reach = [&](Expr offset) {  // the first of a thread's neighbours stands at a multiple of them
    if (!depends_on(offset, last)) return;
    const Affine a = affine(offset);
    together &= a.constant % lanes == 0 && std::ranges::all_of(a.terms, [&](const Affine::Term& t) {
                  return t.term == last ? t.coefficient == 1 : t.coefficient % lanes == 0 && !depends_on(t.term, last);
                });
  };
  std::vector<Expr> roots;
  for (const Store& s : k.stores) {
    reach(s.offset);
    together &= depends_on(s.offset, last) && s.guard.is_const(1);
    roots.push_back(s.value);
  }
  visit(roots, [&](Expr e) {
    if (e.op() != Op::Read) return;
    reach(e.offset());
    together &= !depends_on(e.guard(), last);
  });
  return together;
}

const Family& nest_family() {
  static const Nest family;
  return family;
}

}  // namespace cameo
