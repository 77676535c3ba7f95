// See choose.h.
#include "optimizer/choose/choose.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "frontend/ir/check.h"
#include "optimizer/choose/lock.h"
#include "optimizer/plan/bind_plan.h"

namespace cameo {
namespace {

constexpr double kClearly = 0.9;   // of a price: what is not clearly cheaper loses against the rule of thumb
constexpr size_t kMostKept = 8;    // alternatives, beside the best one of each family
constexpr size_t kMostTuned = 16;  // the same with a lock, for the tuner to measure

/// A kernel that a family matched, and the ways to run it, the best one first.
struct Candidate {
  LoweredKernel lowered;
  std::vector<Alternative> ways;
};

/// Other ways that compute the same bits and that prices do not tell apart from this one: they are for the tuner, and
/// for the lock that it writes. Half as many chunks wait less often, twice as many are shared more evenly.
std::vector<Choice> measurable_ways(const Kernel& k, const Choice& way, const Target& target) {
  if (!target.lock || target.is_gpu()) return {};
  std::vector<Choice> all = k.family->reorderings(k, way);
  Kernel made = k;
  k.family->apply(made, way, target);
  const int64_t most = k.family->most_chunks(made, target), chunks = std::min(chunks_of(made, target), most);
  for (const int64_t other : {chunks / 2, 2 * chunks})
    if (other >= 1 && other <= most) all.push_back(way.with(kChunks, other));
  return all;
}

std::vector<Alternative> ways_of(Kernel& k, const Target& target) {
  k.cost = cost_of(k);
  std::vector<Alternative> ways;
  for (const Choice& c : k.family->candidates(k, target))
    ways.push_back({k.family, c, k.family->price(k, k.cost, c, target), {}});
  CAMEO_CHECK(!ways.empty(), "a way to run a kernel that a family has matched");
  auto best = std::ranges::min_element(ways, {}, &Alternative::seconds);
  if (!target.measured || best->seconds >= kClearly * ways.front().seconds) best = ways.begin();
  std::iter_swap(ways.begin(), best);
  for (size_t i = 0, priced = ways.size(); i < priced; ++i)
    for (const Choice& c : measurable_ways(k, ways[i].choice, target))
      ways.push_back({k.family, c, ways[i].seconds, {}});
  return ways;
}

/// A family that takes over a nest, but for the one that takes any.
void adopt(Kernel& k, const Target& target) {
  const Family& any = family("nest");
  for (const Family* f : all_families())
    if (f != &any && f->adopt(k, target)) return;
  any.adopt(k, target);
}

/// Puts the way that the lock has for a problem before all others.
void obey(const ChoiceLock::Row& row, const std::string& problem, std::vector<Candidate>& candidates) {
  for (Candidate& c : candidates)
    for (Alternative& way : c.ways)
      if (way.family->name() == row.family && way.choice.text() == row.choice) {
        std::swap(way, c.ways.front());
        std::swap(c, candidates.front());
        return;
      }
  throw no_way(problem, row);
}

/// In order of their prices, families that did not match last.
std::vector<Alternative> best_of(std::vector<Alternative> lost, const Family* won, size_t most) {
  std::ranges::stable_sort(lost, {}, [](const Alternative& a) { return std::pair(!a.why_not.empty(), a.seconds); });
  std::set<const Family*> seen{won};
  std::vector<Alternative> kept;
  size_t more = 0;
  for (Alternative& a : lost)
    if (seen.insert(a.family).second || ++more <= most) kept.push_back(std::move(a));
  return kept;
}

/// Completes the kernel by the first way of the first candidate; the others are what lost.
LoweredKernel finish(std::vector<Candidate> candidates, std::vector<Alternative> lost, const Target& target) {
  LoweredKernel chosen = std::move(candidates.front().lowered);
  const Alternative way = std::move(candidates.front().ways.front());
  for (Candidate& c : candidates)
    for (Alternative& other : c.ways)
      if (&other != &candidates.front().ways.front()) lost.push_back(std::move(other));
  Kernel& k = chosen.kernel;
  k.alternatives = best_of(std::move(lost), way.family, target.lock ? kMostTuned : kMostKept);
  k.seconds = way.seconds;
  k.family->apply(k, way.choice, target);
  return chosen;
}

/// The sizes that only a run knows and that a kernel's axes are made of, at their lower ends; empty: it has none.
DimBinding least_sizes(const Kernel& k) {
  DimBinding sizes;
  for (Expr axis : k.axes)
    visit(std::vector{axis.extent()}, [&](Expr e) {
      if (e.op() == Op::Symbol)
        sizes[std::string(symbol_name(e))] = std::max<int64_t>(static_cast<int64_t>(range_of(e).low), 1);
    });
  return sizes;
}

/// Whether it has an index that runs over nothing: the model has no meaning at such sizes, or the kernel no points.
bool is_empty(const Kernel& k) {
  bool empty = false;
  visit(expressions_of(k), [&](Expr e) { empty |= e.op() == Op::Var && Dim(e.extent()).estimate() < 1; });
  return empty;
}

/// How much longer each candidate takes than the best one, at the likely sizes or at the least ones, whichever is more:
/// what a batch of many pays for, weights of four times the size for instance, may cost a batch of one most of its
/// time.
std::vector<double> regrets_of(std::span<const Candidate> candidates, const Target& target) {
  std::vector<double> likely, least;
  for (const Candidate& c : candidates) likely.push_back(c.ways.front().seconds);
  for (const Candidate& c : candidates) {
    const DimBinding sizes = least_sizes(c.lowered.kernel);
    if (sizes.empty() || candidates.size() == 1 || !target.measured) break;
    Kernel k = c.lowered.kernel;
    bind_kernel(k, sizes);
    if (is_empty(k)) break;
    least.push_back(k.family->price(k, cost_of(k), c.ways.front().choice, target));
  }
  const double best_likely = *std::ranges::min_element(likely);
  for (double& seconds : likely) seconds /= best_likely;
  if (least.size() < likely.size()) return likely;
  const double best_least = *std::ranges::min_element(least);
  for (size_t i = 0; i < likely.size(); ++i) likely[i] = std::max(likely[i], least[i] / best_least);
  return likely;
}

struct Attempt {
  const Family* family;
  Lowered lowered;
};

/// What tells equal nests apart: which operands are constants, and which families can compute them, for some look at
/// the constants' elements.
std::string ways_text(const LoweredKernel& nest, std::span<const Attempt> attempts, const Graph& g) {
  std::string s;
  for (const Operand& o : nest.operands) s += g[o.value].constant ? '!' : '.';
  for (const auto& [family, lowered] : attempts)
    if (lowered.kernel) s += fmt::format(" {}", family->name());
  return s;
}

/// The best way of all kernels that families have lowered; nullopt where there is none. `problem`: as a lock names it,
/// where that is no hash of the nest.
std::optional<LoweredKernel> choose(std::vector<Attempt> attempts, const Graph& g, const Target& target,
                                    std::string problem = {}) {
  const ChoiceLock* lock = target.lock.get();
  std::vector<Candidate> candidates;
  std::vector<Alternative> refused;
  for (auto& [family, lowered] : attempts) {
    if (!lowered.kernel) {
      refused.push_back({family, {}, 0, lowered.why_not});
      continue;
    }
    Kernel& k = lowered.kernel->kernel;
    if (!k.family) {
      if (lock) problem = problem_of(k, ways_text(*lowered.kernel, attempts, g));
      adopt(k, target);
    }
    std::vector<Alternative> ways = ways_of(k, target);
    candidates.push_back({std::move(*lowered.kernel), std::move(ways)});
  }
  if (candidates.empty()) return std::nullopt;
  const std::vector<double> regrets = regrets_of(candidates, target);
  std::swap(candidates.front(), candidates[std::ranges::min_element(regrets) - regrets.begin()]);
  if (!problem.empty()) {
    const ChoiceLock::Row* row = lock->find(target.name, problem);
    if (row && row->family != kExpanded) obey(*row, problem, candidates);
    candidates.front().lowered.kernel.problems = {problem};
  }
  return finish(std::move(candidates), std::move(refused), target);
}

}  // namespace

void choose_nest(Kernel& k, const Target& target) {
  adopt(k, target);
  const Alternative way = ways_of(k, target).front();
  k.seconds = way.seconds;
  k.family->apply(k, way.choice, target);
}

std::vector<FamilyMatch> match_families(const Problem& p) {
  std::vector<FamilyMatch> matches;
  for (const Family* f : all_families()) matches.push_back({f, f->match(p)});
  return matches;
}

LoweredKernel choose_kernel(const Problem& p, std::span<const FamilyMatch> matches) {
  std::vector<Attempt> attempts;
  for (const auto& [family, matched] : matches)
    attempts.push_back({family, matched.match ? family->lower(p, *matched.match) : Lowered(matched.why_not)});
  auto chosen = choose(std::move(attempts), p.graph, p.target);
  CAMEO_CHECK(chosen.has_value(), "a family that computes any part of an output");
  return std::move(*chosen);
}

std::optional<LoweredKernel> choose_kernel(const NodeProblem& p) {
  std::vector<Attempt> attempts;
  for (const Family* f : all_families()) attempts.push_back({f, f->lower(p)});
  const bool named = p.target.lock && std::holds_alternative<Composite>(p.meaning);
  return choose(std::move(attempts), p.graph, p.target, named ? problem_of(alone(p.graph, p.node, p.node.inputs)) : "");
}

}  // namespace cameo
