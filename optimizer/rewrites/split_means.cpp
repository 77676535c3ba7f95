// split_means: the mean over the places of a large map, which a convolution made, is the mean of the means of its rows.
// Threads made the map by rows, channels last: each then reads what it has in its own cache, which they do not where
// they share the channels of a single sum.
#include <algorithm>

#include "frontend/ir/operator.h"
#include "frontend/ops/reduce.h"
#include "optimizer/pipeline.h"

namespace cameo {
namespace {

/// Whether a GlobalAveragePool or ReduceMean is the mean over all axes behind the channels.
bool is_mean_of_places(const Graph& g, const Node& n) {
  if (n.op->name == "GlobalAveragePool") return true;
  const std::vector<Expr> folded = ops::reduce::folded_axes(NodeView(g, n));
  for (size_t axis = 0; axis < folded.size(); ++axis)
    if (!folded[axis].is_const(axis >= 2)) return false;
  return true;
}

/// Whether a convolution made a value, with nothing behind it that computes other elements.
bool is_of_convolution(const Graph& g, ValueId v) {
  constexpr int kMostNodes = 16;
  const Shape& shape = g.type(v).shape;
  for (int i = 0; i < kMostNodes && g[v].producer; ++i) {
    const Node& n = g[g[v].producer];
    if (n.op->name == "Conv") return true;
    const auto same = std::ranges::find_if(n.inputs, [&](ValueId x) { return x && g.type(x).shape == shape; });
    if (same == n.inputs.end()) return false;
    v = *same;
  }
  return false;
}

/// Of two rows or more, and longer to read than what two threads share.
bool is_large(const Type& x, const Target& target) {
  const double bytes = static_cast<double>(product(x.shape).estimate() * byte_size(x.dtype));
  return x.shape[2].estimate() > 1 && target.seconds_to_move(bytes) > target.machine.barrier / 2;
}

std::optional<ValueId> split(Graph& into, const Node& n, std::span<const ValueId> in, PassContext& context) {
  if (n.op->name != "GlobalAveragePool" && n.op->name != "ReduceMean") return std::nullopt;
  Node mean = n;
  mean.inputs.assign(in.begin(), in.end());
  const Type x = into.type(in[0]);
  if (x.rank() < 4 || x.dtype != DType::f32 || !is_large(x, context.target) || !is_mean_of_places(into, mean) ||
      !is_of_convolution(into, in[0]) || !context.apply("split_mean", into, n.provenance))
    return std::nullopt;
  const ValueId last = into.constant(Tensor::i64({1}, std::vector<int64_t>{x.rank() - 1}));
  mean.inputs[0] = into.add(get_operator("ReduceMean"), {in[0], last}, {}, n.provenance)[0];  // last axis: 1
  return into.add(*n.op, mean.inputs, n.attrs, n.provenance, n.version)[0];
}

}  // namespace

Graph split_means(const Graph& g, PassContext& context) {
  if (context.target.is_gpu()) return g;
  return replay(g, [&](Graph& into, const Node& n, std::span<const ValueId> in) -> std::optional<std::vector<ValueId>> {
    const auto y = split(into, n, in, context);
    return y ? std::optional(std::vector<ValueId>{*y}) : std::nullopt;
  });
}

}  // namespace cameo
