// Buckets: schedules of single sizes beside a plan's own. They come from plans made as if there were no other sizes,
// and use the plan's kernels, each of which is one function in the artifact.
#include <algorithm>
#include <map>

#include "optimizer/plan/bind_plan.h"
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

using Names = std::map<std::string, Expr>;

/// The plan's symbols in place of the bucket's, which have other bounds: the table of sizes has one place for each.
/// What a run learns has one name in both, rooms belong to the same input and output.
Names symbols_of(const Plan& plan, const Plan& made, std::vector<Expr>& without_room) {
  Names names;
  for (Expr learned : learned_symbols(plan)) names.emplace(symbol_name(learned), learned);
  for (const Append& a : plan.appends) {
    const auto is_same = [&](const Append& other) { return other.input == a.input && other.output == a.output; };
    const auto same = std::ranges::find_if(made.appends, is_same);
    if (same == made.appends.end()) {
      without_room.insert(without_room.end(), {a.input_room, a.output_room});
      continue;
    }
    names.insert_or_assign(std::string(symbol_name(same->input_room)), a.input_room);
    names.insert_or_assign(std::string(symbol_name(same->output_room)), a.output_room);
  }
  return names;
}

void rename_symbols(Plan& plan, const Names& names) {
  const SymbolBinding binding = [&](Expr symbol) {
    const auto at = names.find(std::string(symbol_name(symbol)));
    return at == names.end() ? symbol : at->second;
  };
  const auto bind = [&](Expr& e) { e = bind_symbols(e, binding); };
  const auto bind_dim = [&](Dim& d) { d = Dim(bind_symbols(d.extent(), binding)); };
  each_size(plan, bind);
  bind_nodes(plan, binding);
  for (Step& s : plan.steps) std::ranges::for_each(s.elements, bind);
  for (Kernel& k : plan.kernels) bind_dim(k.scratch_bytes);
  bind_dim(plan.scratch_bytes);
}

}  // namespace

Plan plan_of_bucket(const Plan& plan, const Bucket& bucket) {
  Plan alone = plan;
  static_cast<Schedule&>(alone) = bucket;
  alone.buckets.clear();
  return alone;
}

void add_bucket(Plan& plan, Plan made, DimBinding sizes) {
  std::vector<Expr> without_room;
  rename_symbols(made, symbols_of(plan, made, without_room));
  const std::vector<uint32_t> numbers = take_kernels(plan, std::move(made.kernels));
  for (Step& s : made.steps)
    if (s.kind == StepKind::Kernel) s.kernel = numbers[s.kernel];
  for (Claim& claim : made.claims)
    if (std::ranges::find(plan.claims, claim.problem, &Claim::problem) == plan.claims.end())
      plan.claims.push_back(std::move(claim));
  plan.buckets.push_back({std::move(static_cast<Schedule&>(made)), std::move(sizes), std::move(without_room)});
}

}  // namespace cameo
