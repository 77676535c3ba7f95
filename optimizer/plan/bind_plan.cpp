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
    if (k.node && !sizes.empty()) k.node = std::make_shared<const Graph>(bind_dims(*k.node, sizes));
    for (Store& s : k.stores) {
      bind(s.offset);
      bind(s.guard);
      bind(s.value);
      std::ranges::for_each(s.blamed, bind);
    }
  }
  return bound;
}

Interface bind_interface(Interface io, const DimBinding& sizes) {
  for (auto* list : {&io.inputs, &io.outputs})
    for (Interface::Io& each : *list) each.type = bind_symbols(each.type, sizes);
  return io;
}

Module bind_module(const Module& m, const DimBinding& sizes) {
  Module bound = m;
  for (Plan& p : bound.plans) p = bind_plan(p, sizes);
  bound.io = bind_interface(std::move(bound.io), sizes);
  return bound;
}

std::vector<DimBinding> ends_of_sizes(const Interface& io) {
  DimBinding low, high;
  for (const Interface::Io& input : io.inputs)
    for (const Dim& d : input.type.shape)
      visit(std::vector{d.extent()}, [&](Expr e) {
        if (e.op() != Op::Symbol) return;
        low[std::string(symbol_name(e))] = static_cast<int64_t>(range_of(e).low);
        high[std::string(symbol_name(e))] = static_cast<int64_t>(range_of(e).high);
      });
  return low == high ? std::vector{low} : std::vector{low, high};
}

}  // namespace cameo
