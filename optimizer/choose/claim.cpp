// See claim.h.
#include "optimizer/choose/claim.h"

#include <algorithm>
#include <cmath>

#include "optimizer/choose/choose.h"
#include "optimizer/choose/lock.h"
#include "optimizer/pipeline.h"

namespace cameo {
namespace {

/// What planning a node's definition alone gives: the prices of all its steps; infinite where it has no plan.
double price_of_definition(const Graph& alone, const Target& target) {
  PassContext context(target);
  context.skip = {"claim_attention", "claim_composites"};
  WeightPool weights;
  Diagnostics diagnostics;
  const Plan plan = make_plan(optimize_for_target(alone, context), target, weights, diagnostics);
  if (diagnostics.has_errors()) return INFINITY;
  double seconds = 0;
  for (const Step& s : plan.steps)
    if (s.kind == StepKind::Kernel) seconds += plan.kernels[s.kernel].seconds;
  return seconds;
}

}  // namespace

bool is_claimed(const Node& n) { return n.attrs.contains(kClaimedBy); }

std::optional<Claim> Claims::compare(const Graph& alone, std::string problem) const {
  const Node& n = alone.nodes()[0];
  const Meaning& meaning = meaning_of(alone, n);
  if (!std::holds_alternative<Composite>(meaning)) return std::nullopt;
  const Layouts plain;
  auto whole = choose_kernel(NodeProblem{alone, plain, n, meaning, target_});
  if (!whole) return std::nullopt;
  const Kernel& k = whole->kernel;
  const Alternative expanded{nullptr, {}, price_of_definition(alone, target_), {}};
  Claim claim{std::move(problem), std::string(n.op->name), {k.family, k.choice, k.seconds, {}}, k.alternatives, {}};
  const ChoiceLock::Row* row = target_.lock ? target_.lock->find(target_.name, claim.problem) : nullptr;
  const bool expands = row ? row->family == kExpanded : expanded.seconds <= k.seconds;
  claim.lost.insert(claim.lost.begin(), expands ? claim.won : expanded);
  if (expands) claim.won = expanded;
  return claim;
}

const Claim* Claims::decide(const Graph& alone) {
  const Node& n = alone.nodes()[0];
  if (std::ranges::none_of(all_families(), [&](const Family* f) { return f->claims(*n.op); })) return nullptr;
  std::string problem = problem_of(alone);
  if (const auto known = std::ranges::find(before_, problem, &Claim::problem); known != before_.end()) {
    known->provenance = merge(known->provenance, n.provenance);
    return &*known;
  }
  auto it = decided_.find(problem);
  if (it == decided_.end()) it = decided_.emplace(problem, compare(alone, problem)).first;
  if (!it->second) return nullptr;
  it->second->provenance = merge(it->second->provenance, n.provenance);
  return &*it->second;
}

std::vector<Claim> Claims::take() {
  std::vector<Claim> all;
  for (auto& [problem, claim] : decided_)
    if (claim) all.push_back(std::move(*claim));
  std::ranges::sort(all, {}, &Claim::provenance);
  return all;
}

}  // namespace cameo
