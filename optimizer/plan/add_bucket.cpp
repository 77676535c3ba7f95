// Buckets: schedules of single sizes beside a plan's own. They come from plans made as if there were no other sizes,
// and use the plan's kernels, each of which is one function in the artifact.
#include <algorithm>
#include <map>

#include "optimizer/plan/kernel_table.h"

namespace cameo {
namespace {

/// Equal functions: what is known of where operands begin is a part of them.
std::string function_text(const Kernel& k) {
  std::string text = kernel_text(k) + "|";
  for (bool aligned : k.aligned) text += aligned ? '1' : '0';
  return text;
}

/// The numbers that another plan's kernels have in this one.
std::vector<uint32_t> take_kernels(Plan& plan, std::vector<Kernel> kernels) {
  std::map<std::string, uint32_t> known;
  for (uint32_t i = 0; i < plan.kernels.size(); ++i) known.emplace(function_text(plan.kernels[i]), i);
  std::vector<uint32_t> numbers;
  for (Kernel& k : kernels) {
    const auto [it, fresh] = known.try_emplace(function_text(k), static_cast<uint32_t>(plan.kernels.size()));
    numbers.push_back(it->second);
    if (fresh) {
      k.symbol = symbol_of(plan.kernels.size(), k.title);
      plan.kernels.push_back(std::move(k));
    } else {
      add_origins(plan.kernels[it->second], k);
    }
  }
  return numbers;
}

}  // namespace

Plan plan_of_bucket(const Plan& plan, const Bucket& bucket) {
  Plan alone = plan;
  static_cast<Schedule&>(alone) = bucket;
  alone.buckets.clear();
  return alone;
}

void add_bucket(Plan& plan, Plan made, DimBinding sizes) {
  const std::vector<uint32_t> numbers = take_kernels(plan, std::move(made.kernels));
  for (Step& s : made.steps)
    if (s.kind == StepKind::Kernel) s.kernel = numbers[s.kernel];
  for (Claim& claim : made.claims)
    if (std::ranges::find(plan.claims, claim.problem, &Claim::problem) == plan.claims.end())
      plan.claims.push_back(std::move(claim));
  plan.buckets.push_back({std::move(static_cast<Schedule&>(made)), std::move(sizes)});
}

}  // namespace cameo
