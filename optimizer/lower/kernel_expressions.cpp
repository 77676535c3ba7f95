// The expressions of a kernel: all of them, and the offsets at which it reads and writes.
#include <algorithm>

#include "optimizer/lower/lower_kernel.h"

namespace cameo {

void each_expression(Kernel& k, const std::function<void(Expr&)>& f) {
  std::ranges::for_each(k.axes, f);
  for (Store& s : k.stores) {
    for (Expr* e : {&s.offset, &s.guard, &s.value}) f(*e);
    std::ranges::for_each(s.blamed, f);
  }
  if (k.accumulated) f(k.accumulated);
}

std::vector<Expr> expressions_of(const Kernel& k) {
  std::vector<Expr> all(k.axes.begin(), k.axes.end());
  for (const Store& s : k.stores) {
    all.insert(all.end(), {s.offset, s.guard, s.value});
    all.insert(all.end(), s.blamed.begin(), s.blamed.end());
  }
  if (k.accumulated) all.push_back(k.accumulated);
  return all;
}

void each_offset(const Kernel& k, const std::function<void(uint32_t operand, Expr offset, Expr guard)>& f) {
  for (const Store& s : k.stores)
    if (!s.guard.is_const(0)) f(s.operand, s.offset, s.guard);
  visit(expressions_of(k), [&](Expr e) {
    if (e.op() == Op::Read && !e.guard().is_const(0)) f(e.operand(), e.offset(), e.guard());
  });
}

}  // namespace cameo
