// See choose.h.
#include "optimizer/choose/choose.h"

#include <algorithm>

#include "frontend/check.h"

namespace cameo {
namespace {

/// All families, those that come nearest to the machine's peak first.
const std::vector<const Family*>& by_efficiency() {
  static const std::vector<const Family*> sorted = [] {
    const auto all = all_families();
    std::vector<const Family*> list(all.begin(), all.end());
    std::ranges::stable_sort(list, std::greater(), &Family::efficiency);
    return list;
  }();
  return sorted;
}

void choose_how(Kernel& k, const Target& target) {
  const std::vector<Choice> ways = k.family->candidates(k, target);
  CAMEO_CHECK(!ways.empty(), "a way to run a kernel that a family has matched");
  k.family->apply(k, ways.front(), target);
}

template <class AnyProblem>
std::optional<LoweredKernel> match(const AnyProblem& p) {
  for (const Family* f : by_efficiency())
    if (auto l = f->match(p)) return l;
  return std::nullopt;
}

}  // namespace

void choose_nest(Kernel& k, const Target& target) {
  const auto adopts = [&](const Family* f) { return f->adopt(k, target); };
  CAMEO_CHECK(std::ranges::any_of(by_efficiency(), adopts), "a family that takes any nest");
  choose_how(k, target);
}

LoweredKernel choose_kernel(const Problem& p) {
  auto l = match(p);
  CAMEO_CHECK(l.has_value(), "a family that computes any part of an output");
  if (l->kernel.family)
    choose_how(l->kernel, p.target);
  else
    choose_nest(l->kernel, p.target);
  return std::move(*l);
}

std::optional<LoweredKernel> choose_kernel(const NodeProblem& p) {
  auto l = match(p);
  if (l) choose_how(l->kernel, p.target);
  return l;
}

}  // namespace cameo
