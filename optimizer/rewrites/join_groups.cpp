// join_groups: a convolution of 8-bit integers in groups that are narrower than a panel of weights is one in fewer and
// wider groups: the weights of a member by the columns of other groups are zeros. Where a panel would be partly empty
// that costs no products, and rows are read once for all columns of a panel. Integers are exact, and a zero adds none.
#include <algorithm>

#include "frontend/ir/operator.h"
#include "optimizer/pipeline.h"
#include "optimizer/rewrites/operands.h"
#include "runtime/kernels/contract_shape.h"

namespace cameo {
namespace {

/// How many neighbouring groups become one: those whose panels take the fewest products and epilogues, or the most of
/// them.
int64_t groups_together(const Tensor& w, int64_t groups) {
  constexpr int64_t kEpilogue = 6;  // products that take as long
  const int64_t columns = w.dims()[0] / groups, members = w.dims()[1], taps = w.size() / (w.dims()[0] * members);
  int64_t best = 1, least = INT64_MAX;
  for (int64_t together = 1; together == 1 || together * columns <= rt::kPanel; ++together) {
    if (groups % together) continue;
    const int64_t panels = groups / together * rt::panels_of(together * columns);
    const int64_t cost = panels * (rt::quads_of(taps, together * members) + kEpilogue);
    if (cost <= least) least = cost, best = together;
  }
  return best;
}

Tensor joined(const Tensor& w, int64_t groups, int64_t together) {
  const int64_t columns = w.dims()[0] / groups, members = w.dims()[1], taps = w.size() / (w.dims()[0] * members);
  std::vector<int64_t> dims(w.dims().begin(), w.dims().end());
  dims[1] *= together;
  Tensor all(DType::i8, dims);
  for (int64_t column = 0; column < dims[0]; ++column) {
    const int64_t first = column / columns % together * members;
    for (int64_t i = 0; i < members * taps; ++i)
      all.set_int((column * dims[1] + first) * taps + i, w.get_int(column * members * taps + i));
  }
  return all;
}

std::optional<ValueId> join(Graph& into, const Node& n, std::span<const ValueId> in, PassContext& context) {
  if (n.op->name != "ConvInteger" || operand(in, 3)) return std::nullopt;
  const Tensor* w = constant(into, in[1]);
  const int64_t groups = NodeView(into, n).attr_int("group");
  if (!w || w->dtype() != DType::i8 || w->size() == 0 || groups == 1 ||
      has_single_channels(into.type(in[1]).shape, groups))
    return std::nullopt;
  const int64_t together = groups_together(*w, groups);
  if (together == 1 || !context.apply("join_groups", into, n.provenance)) return std::nullopt;
  std::vector<ValueId> inputs(in.begin(), in.end());
  inputs[1] = into.constant(joined(*w, groups, together));
  Attrs attrs = n.attrs;
  attrs["group"] = groups / together;
  return into.add(*n.op, std::move(inputs), std::move(attrs), n.provenance, n.version)[0];
}

}  // namespace

Graph join_groups(const Graph& g, PassContext& context) {
  if (!context.target.has_integer_products()) return g;
  return replay(g, [&](Graph& into, const Node& n, std::span<const ValueId> in) -> std::optional<std::vector<ValueId>> {
    const auto y = join(into, n, in, context);
    return y ? std::optional(std::vector<ValueId>{*y}) : std::nullopt;
  });
}

}  // namespace cameo
