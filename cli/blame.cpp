// See blame.h. One run of the artifact with taps gives the values that its kernels write; the interpreter's run over
// the imported graph meets them in execution order.
#include "cli/blame.h"

#include <fmt/format.h>

#include "frontend/reference/compare.h"
#include "frontend/reference/interpret.h"

namespace cameo {
namespace {

Blame blame_value(const Graph& g, const Node& n, const std::string& name, const Comparison& c) {
  Blame b{true, {}, where(g.sources(), n.provenance), printable(name), c.max_error, c.tolerance};
  b.sentence = fmt::format("the first node that diverges is {}: its output `{}` is {:.3g} off, tolerance {:.3g}; {}",
                           b.node, b.value, b.error, b.tolerance, c.why);
  return b;
}

}  // namespace

Blame find_divergence(const Graph& g, const Interface& io, LoadedModel& artifact, const std::vector<Tensor>& inputs) {
  const std::map<std::string, Tensor> seen = artifact.run_with_taps(inputs, io);
  Blame first;
  size_t compared = 0;
  interpret(g, inputs, [&](const Node& n, std::span<const Tensor> rounded, std::span<const Tensor> unrounded) {
    for (size_t i = 0; i < n.outputs.size() && !first.found; ++i) {
      if (!n.outputs[i] || n.outputs[i].index >= g.values().size()) continue;
      const std::string& name = g[n.outputs[i]].name;
      const auto it = seen.find(name);
      if (name.empty() || it == seen.end()) continue;
      ++compared;
      const Comparison c = compare(it->second, rounded[i], unrounded[i]);
      if (!c.pass) first = blame_value(g, n, name, c);
    }
  });
  if (!first.found) first.sentence = fmt::format("no node diverges: {} values compared", compared);
  return first;
}

}  // namespace cameo
