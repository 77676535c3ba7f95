// take_strip: a kernel for a few indices of the outermost axis. Which ones, its operands' addresses say: each index
// reads and writes what the one before it does, so many elements further on.
#include "optimizer/lower/lower_kernel.h"

namespace cameo {
namespace {

/// How far an offset moves with a variable, where it is nothing but so much a step.
std::optional<int64_t> step_of(Expr offset, Expr variable) {
  const Affine sum = affine(offset);
  for (const Affine::Term& t : sum.terms)
    if (t.term != variable && depends_on(t.term, variable)) return std::nullopt;
  const Dim stride = sum.stride_of(variable);
  return stride.is_static() ? std::optional(stride.value()) : std::nullopt;
}

class Steps {
 public:
  Steps(size_t operands, Expr axis) : axis_(axis), steps_(operands), seen_(operands) {}
  void take(uint32_t operand, Expr offset) {
    const auto step = step_of(offset, axis_);
    if (!step || (seen_[operand] && steps_[operand] != *step)) differ_ = true;
    if (differ_) return;
    steps_[operand] = *step;
    seen_[operand] = true;
  }
  /// What is left of a value, or a guard, where nothing is read.
  void take_rest(Expr root) {
    const Expr rest = rewrite(root, [&](Expr e) {
      if (e.op() != Op::Read) return e;
      differ_ |= depends_on(e.guard(), axis_) || depends_on(e.outside(), axis_);
      take(e.operand(), e.offset());
      return zero(e.type());
    });
    differ_ |= depends_on(rest, axis_);
  }
  std::optional<std::vector<int64_t>> result() && { return differ_ ? std::nullopt : std::optional(std::move(steps_)); }

 private:
  const Expr axis_;
  bool differ_ = false;
  std::vector<int64_t> steps_;
  std::vector<bool> seen_;
};

}  // namespace

std::optional<std::vector<int64_t>> steps_of_outermost(const Kernel& k) {
  if (k.node || k.axes.empty() || !k.axes[0].extent().is_const()) return std::nullopt;
  Steps steps(k.operands.size(), k.axes[0]);
  for (const Store& s : k.stores) {
    steps.take(s.operand, s.offset);
    steps.take_rest(s.guard);
    steps.take_rest(s.value);
    for (Expr e : s.blamed) steps.take_rest(e);
  }
  if (k.accumulated) steps.take_rest(k.accumulated);
  return std::move(steps).result();
}

Kernel take_strip(Kernel k, int64_t extent) {
  const std::vector<Expr> before{k.axes[0]}, now{var(integer(extent))};
  each_expression(k, [&](Expr& e) { e = substitute(e, before, now); });
  return k;
}

}  // namespace cameo
