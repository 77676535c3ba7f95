// See choose.h.
#include "optimizer/choose/choose.h"

#include <algorithm>

#include "frontend/check.h"

namespace cameo {
namespace {

constexpr double kClearly = 0.9;  // of a price: what is not clearly cheaper loses against the rule of thumb
constexpr size_t kMostKept = 8;   // alternatives

/// The family's best way to run a kernel; its others are added to `alternatives`.
Alternative best_way(const Kernel& k, const Target& target, std::vector<Alternative>& alternatives) {
  std::vector<Alternative> ways;
  for (const Choice& c : k.family->candidates(k, target))
    ways.push_back({k.family, c, k.family->price(k, c, target), {}});
  CAMEO_CHECK(!ways.empty(), "a way to run a kernel that a family has matched");
  auto best = std::ranges::min_element(ways, {}, &Alternative::seconds);
  if (best->seconds >= kClearly * ways.front().seconds) best = ways.begin();
  std::iter_swap(ways.begin(), best);
  alternatives.insert(alternatives.end(), ways.begin() + 1, ways.end());
  return ways.front();
}

void keep_best(std::vector<Alternative>& alternatives) {
  std::ranges::stable_sort(alternatives, {},
                           [](const Alternative& a) { return std::pair(!a.why_not.empty(), a.seconds); });
  if (alternatives.size() > kMostKept) alternatives.resize(kMostKept);
}

void finish(Kernel& k, const Alternative& way, std::vector<Alternative> alternatives, const Target& target) {
  keep_best(alternatives);
  k.alternatives = std::move(alternatives);
  k.seconds = way.seconds;
  k.family->apply(k, way.choice, target);
}

/// A family that takes over a nest, but for the one that takes any.
void adopt(Kernel& k, const Target& target) {
  const Family& any = family("nest");
  for (const Family* f : all_families())
    if (f != &any && f->adopt(k, target)) return;
  any.adopt(k, target);
}

template <class AnyProblem>
std::optional<LoweredKernel> choose(const AnyProblem& p) {
  std::optional<LoweredKernel> chosen;
  Alternative way;
  std::vector<Alternative> alternatives;
  for (const Family* f : all_families()) {
    Match m = f->match(p);
    if (!m.kernel) {
      alternatives.push_back({f, {}, 0, m.why_not});
      continue;
    }
    if (!m.kernel->kernel.family) adopt(m.kernel->kernel, p.target);
    Alternative next = best_way(m.kernel->kernel, p.target, alternatives);
    if (!chosen || next.seconds < way.seconds) {
      std::swap(way, next);
      chosen = std::move(m.kernel);
    }
    if (next.family) alternatives.push_back(std::move(next));
  }
  if (chosen) finish(chosen->kernel, way, std::move(alternatives), p.target);
  return chosen;
}

}  // namespace

void choose_nest(Kernel& k, const Target& target) {
  adopt(k, target);
  std::vector<Alternative> alternatives;
  const Alternative way = best_way(k, target, alternatives);
  finish(k, way, std::move(alternatives), target);
}

LoweredKernel choose_kernel(const Problem& p) {
  auto chosen = choose(p);
  CAMEO_CHECK(chosen.has_value(), "a family that computes any part of an output");
  return std::move(*chosen);
}

std::optional<LoweredKernel> choose_kernel(const NodeProblem& p) { return choose(p); }

}  // namespace cameo
