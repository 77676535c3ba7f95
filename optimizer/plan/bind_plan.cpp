// See bind_plan.h.
#include "optimizer/plan/bind_plan.h"

#include <algorithm>

namespace cameo {

Plan bind_plan(const Plan& plan, const DimBinding& sizes) {
  Plan bound = plan;
  const auto bind = [&](Expr& e) {
    if (e) e = simplify_index(bind_symbols(e, sizes));
  };
  for (Step& s : bound.steps) {
    bind(s.size);
    if (!s.size || !s.size.is_const()) continue;
    if (s.kind == StepKind::Kernel)
      s.chunks = static_cast<int>(s.size.int_value());
    else
      s.bytes = s.size.int_value();
    s.size = {};
  }
  for (Kernel& k : bound.kernels) {
    std::ranges::for_each(k.axes, bind);
    bind(k.accumulated);
    for (Store& s : k.stores) {
      bind(s.offset);
      bind(s.guard);
      bind(s.value);
      std::ranges::for_each(s.blamed, bind);
    }
  }
  return bound;
}

Module bind_module(const Module& m, const DimBinding& sizes) {
  Module bound = m;
  for (Plan& p : bound.plans) p = bind_plan(p, sizes);
  for (auto* list : {&bound.io.inputs, &bound.io.outputs})
    for (Interface::Io& io : *list) io.type = bind_symbols(io.type, sizes);
  return bound;
}

}  // namespace cameo
