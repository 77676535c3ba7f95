// share_kernels: a GPU's kernels that differ in floating numbers alone are one function, which reads its numbers from
// the weights; a processor's have them in the rows of their steps (codegen/print_kernel.h). Only where there are many:
// each would cost its time to compile, a few cost less than the loads. Kernels over sizes that only a run knows are
// longer to compile, and one for all sizes, so that two are worth it.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "optimizer/lower/lower_kernel.h"
#include "optimizer/plan/kernel_table.h"

namespace cameo {
namespace {

constexpr size_t kWorthSharing = 4, kWorthSharingOverSizes = 2;  // kernels
constexpr DType kShared[] = {DType::f32, DType::f64};

std::vector<Expr> values_of(const Kernel& k) {
  std::vector<Expr> values;
  for (const Store& s : k.stores) values.push_back(s.value);
  if (k.accumulated) values.push_back(k.accumulated);
  return values;
}
/// The numbers of one type in a kernel, in an order that kernels of one shape agree in.
std::vector<Expr> numbers_in(const Kernel& k, DType type) {
  std::vector<Expr> numbers;
  visit(values_of(k), [&](Expr e) {
    if (e.is_const() && e.type() == type) numbers.push_back(e);
  });
  return numbers;
}

class Sharer {
 public:
  Sharer(Plan& plan, WeightPool& weights) : plan_(plan), weights_(weights), becomes_(plan.kernels.size()) {
    for (uint32_t k = 0; k < becomes_.size(); ++k) becomes_[k] = k;
  }
  void run() {
    std::map<std::string, std::vector<uint32_t>> alike;
    for (uint32_t k = 0; k < plan_.kernels.size(); ++k)
      if (!plan_.kernels[k].on_host) alike[shape_text(plan_.kernels[k])].push_back(k);
    for (const auto& [text, kernels] : alike) {
      const bool over_sizes = has_sizes(plan_.kernels[kernels[0]]);
      if (kernels.size() < (over_sizes ? kWorthSharingOverSizes : kWorthSharing)) continue;
      if (std::ranges::any_of(kernels, [&](uint32_t k) { return has_sizes_of_floats(plan_.kernels[k]); })) continue;
      for (DType type : kShared) share(kernels, type);
    }
    for (Step& s : plan_.steps) {
      if (s.kind != StepKind::Kernel) continue;
      for (const Ref& more : numbers_[s.kernel]) s.refs.push_back(more);
      s.kernel = becomes_[s.kernel];
    }
    drop_unused_kernels(plan_);
  }

 private:
  /// All of `kernels` load the numbers that differ; those that are equal then are one.
  void share(const std::vector<uint32_t>& kernels, DType type) {
    std::vector<std::vector<Expr>> numbers;
    for (uint32_t k : kernels) numbers.push_back(numbers_in(plan_.kernels[k], type));
    std::vector<size_t> differ;
    for (size_t i = 0; i < numbers[0].size(); ++i)
      if (std::ranges::any_of(numbers, [&](const auto& n) { return n[i] != numbers[0][i]; })) differ.push_back(i);
    if (differ.empty()) return;
    std::map<std::string, uint32_t> first;
    for (size_t k = 0; k < kernels.size(); ++k) {
      Tensor values(type, {static_cast<int64_t>(differ.size())});
      for (size_t i = 0; i < differ.size(); ++i)
        values.set(static_cast<int64_t>(i), numbers[k][differ[i]].float_value());
      const int64_t offset = weights_.add(std::make_shared<const Tensor>(std::move(values)));
      numbers_[kernels[k]].push_back({Base::Weights, 0, offset});
      Kernel& one = plan_.kernels[kernels[k]];
      load_numbers(one, type, numbers[k], differ);
      becomes_[kernels[k]] = first.try_emplace(kernel_text(one), kernels[k]).first->second;
      Kernel& kept = plan_.kernels[becomes_[kernels[k]]];
      kept.provenance = merge(kept.provenance, one.provenance);
    }
  }
  /// Those of `numbers` at the places `which` are loads of one operand more.
  static void load_numbers(Kernel& k, DType type, const std::vector<Expr>& numbers, const std::vector<size_t>& which) {
    const auto operand = static_cast<uint32_t>(k.operands.size());
    k.operands.push_back(type);
    std::unordered_map<Expr, Expr, ExprHash> loads;
    for (size_t i = 0; i < which.size(); ++i)
      loads[numbers[which[i]]] = read_at(operand, type, integer(static_cast<int64_t>(i)), boolean(true), zero(type));
    const auto loaded = [&](Expr root) {
      return rewrite(root, [&](Expr e) { return e.is_const() && loads.contains(e) ? loads[e] : e; });
    };
    for (Store& s : k.stores) s.value = loaded(s.value);
    if (k.accumulated) k.accumulated = loaded(k.accumulated);
  }

  Plan& plan_;
  WeightPool& weights_;
  std::vector<uint32_t> becomes_;                 // by kernel
  std::map<uint32_t, std::vector<Ref>> numbers_;  // by kernel: where its own stand
};

}  // namespace

void share_kernels(Plan& plan, WeightPool& weights) { Sharer(plan, weights).run(); }

}  // namespace cameo
