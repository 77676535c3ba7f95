// claim_composites: a composite node that a family of the target computes whole for less than its definition costs
// stays one node, and says whose it is; what is not claimed is expanded by the next pass.
#include <algorithm>
#include <iterator>

#include "optimizer/choose/claim.h"
#include "optimizer/choose/family.h"
#include "optimizer/pipeline.h"

namespace cameo {
namespace {

/// A node as it would stand in `into`, in a graph of its own; nullopt where its outputs became constants.
std::optional<Graph> alone_with(const Graph& into, const Node& n, std::span<const ValueId> inputs) {
  Graph one = alone(into, n, inputs);
  if (one.nodes().size() != 1) return std::nullopt;
  return one;
}

}  // namespace

Graph claim_composites(const Graph& g, PassContext& context) {
  Claims claims(context.target, context.claims);
  Graph claimed = replay(
      g, [&](Graph& into, const Node& n, std::span<const ValueId> inputs) -> std::optional<std::vector<ValueId>> {
        if (!n.bodies.empty() || is_claimed(n)) return std::nullopt;
        const auto one = alone_with(into, n, inputs);
        const Claim* claim = one ? claims.decide(*one) : nullptr;
        if (!claim || !claim->won.family || !context.apply("claim_composite", into, n.provenance)) return std::nullopt;
        Attrs attrs = n.attrs;
        attrs[std::string(kClaimedBy)] = std::string(claim->won.family->name());
        return into.add(*n.op, {inputs.begin(), inputs.end()}, std::move(attrs), n.provenance, n.version,
                        static_cast<int>(n.outputs.size()));
      });
  std::ranges::move(claims.take(), std::back_inserter(context.claims));
  return claimed;
}

}  // namespace cameo
