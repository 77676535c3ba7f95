// separate_pools: a MaxPool of many taps is one along each axis after the other: of 5 x 5 taps 10 are compared, not 25.
// Their maximum is the same.
#include <algorithm>

#include "frontend/ir/operator.h"
#include "frontend/ops/window.h"
#include "optimizer/pipeline.h"

namespace cameo {
namespace {

constexpr int64_t kFewestTaps = 16;  // of 9, what a second pass moves takes as long as what it saves

/// `pool` with the window of one axis, and of a single element along all others.
Attrs along(const NodeView& pool, size_t axis, std::span<const int64_t> kernel) {
  Attrs attrs = pool.node().attrs;
  const auto keep = [&](std::string_view name, size_t count, int64_t other) {
    if (!pool.has_attr(name)) return;
    std::vector<int64_t> all = ops::per_axis(pool, name, count, 0, INT64_MIN);
    for (size_t i = 0; i < count; ++i)
      if (i % kernel.size() != axis) all[i] = other;
    attrs[std::string(name)] = all;
  };
  keep("kernel_shape", kernel.size(), 1);
  keep("strides", kernel.size(), 1);
  keep("dilations", kernel.size(), 1);
  keep("pads", 2 * kernel.size(), 0);
  return attrs;
}

std::optional<ValueId> separate(Graph& into, const Node& n, std::span<const ValueId> in, PassContext& context) {
  if (n.op->name != "MaxPool" || n.outputs.size() != 1) return std::nullopt;
  Node pool = n;
  pool.inputs.assign(in.begin(), in.end());
  const NodeView view(into, pool);
  const std::vector<int64_t> kernel = view.attr_ints("kernel_shape");
  int64_t taps = 1;
  for (int64_t k : kernel) taps *= k;
  const bool is_line = std::ranges::count_if(kernel, [](int64_t k) { return k > 1; }) < 2;
  if (is_line || taps < kFewestTaps || !context.apply("separate_pool", into, n.provenance)) return std::nullopt;
  const std::vector<int64_t> strides = ops::per_axis(view, "strides", kernel.size(), 1, 1);
  for (size_t axis = 0; axis < kernel.size(); ++axis)
    if (kernel[axis] > 1 || strides[axis] > 1)
      pool.inputs[0] = into.add(*n.op, pool.inputs, along(view, axis, kernel), n.provenance, n.version)[0];
  return pool.inputs[0];
}

}  // namespace

Graph separate_pools(const Graph& g, PassContext& context) {
  if (context.target.is_gpu()) return g;
  return replay(g, [&](Graph& into, const Node& n, std::span<const ValueId> in) -> std::optional<std::vector<ValueId>> {
    const auto y = separate(into, n, in, context);
    return y ? std::optional(std::vector<ValueId>{*y}) : std::nullopt;
  });
}

}  // namespace cameo
