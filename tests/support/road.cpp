// See road.h.
#include "tests/support/road.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/reference/compare.h"
#include "optimizer/pipeline.h"

namespace cameo::test {

Module plan_graph(const Graph& g, const std::string& name, const Target& target,
                  const std::vector<std::string>& on_host) {
  PassContext context(target);
  const Graph optimized = optimize(g, context);
  return plan_optimized(optimized, name, target, on_host, context.claims);
}

Module plan_optimized(const Graph& g, const std::string& name, const Target& target,
                      const std::vector<std::string>& on_host, const std::vector<Claim>& claims) {
  Module m;
  m.name = name;
  m.sources = g.shared_sources();
  m.io = interface_of(g);
  Diagnostics diagnostics;
  m.plans.push_back(make_plan(g, target, m.weights, diagnostics, on_host, claims));
  for (const Diagnostic& d : diagnostics.all())
    if (!is_warning(d.code)) throw CompileError(d);
  return m;
}

Target with_small_caches(std::string_view name) {
  Target t = *find_target(name);
  t.machine.l1_bytes = 1 << 10, t.machine.l2_bytes = 20 << 10, t.machine.l3_bytes = 21 << 10;
  t.machine.l3_rate = 0.1, t.machine.memory_rate = 0.01;
  return t;
}

bool may_be_refused(const Graph& g, Code code) {
  const bool size_of_data =
      std::ranges::any_of(g.outputs(), [&](const Port& p) { return !is_static(g.type(p.value).shape); });
  return size_of_data && (code == Code::E0404 || code == Code::E0402);
}

std::string differences(std::span<const Tensor> got, const Interpretation& want) {
  if (got.size() != want.rounded.size())
    return fmt::format("{} outputs instead of {}", got.size(), want.rounded.size());
  for (size_t i = 0; i < got.size(); ++i)
    if (Comparison c = compare(got[i], want.rounded[i], want.unrounded[i]); !c.pass)
      return fmt::format("output {}: {}", i, c.why);
  return "";
}

}  // namespace cameo::test
