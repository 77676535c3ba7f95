// flush_denormals: weights and biases of f32 that are denormal are zeros where others of their tensor are not small.
// They are what weight decay leaves of channels that a network does not use, and what is made of them is denormal too:
// on Intel's processors each operation on such numbers takes a hundred times as long.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "frontend/ir/operator.h"
#include "optimizer/pipeline.h"
#include "optimizer/rewrites/operands.h"

namespace cameo {
namespace {

constexpr float kNotSmall = 0x1p-64f;  // beside it a denormal is below 2^-62

bool sums_or_scales(const Node& n) {
  constexpr std::string_view kOperators[] = {
      "Add", "BatchNormalization", "Conv", "ConvTranspose", "Gemm", "MatMul", "Mul", "Sub"};
  return n.op->domain.empty() && std::ranges::find(kOperators, n.op->name) != std::end(kOperators);
}

bool is_denormal(float x) { return x != 0 && std::abs(x) < std::numeric_limits<float>::min(); }

bool has_denormals_beside_others(const Tensor& t) {
  if (t.dtype() != DType::f32) return false;
  const std::span<const float> values = t.as<float>();
  return std::ranges::any_of(values, is_denormal) &&
         std::ranges::any_of(values, [](float x) { return std::abs(x) >= kNotSmall; });
}

Tensor flushed(const Tensor& t) {
  const std::span<const float> values = t.as<float>();
  Tensor zeros(t.dtype(), t.dims());
  std::ranges::transform(values, zeros.mutable_as<float>().begin(), [](float x) { return is_denormal(x) ? 0 : x; });
  return zeros;
}

}  // namespace

Graph flush_denormals(const Graph& g, PassContext& context) {
  std::map<ValueId, ValueId> done;  // by constant of the graph that is made
  return replay(g, [&](Graph& into, const Node& n, std::span<const ValueId> in) -> std::optional<std::vector<ValueId>> {
    if (!sums_or_scales(n)) return std::nullopt;
    std::vector<ValueId> inputs(in.begin(), in.end());
    for (ValueId& v : inputs) {
      const Tensor* weights = constant(into, v);
      if (!weights || !has_denormals_beside_others(*weights)) continue;
      if (!done.contains(v) && context.apply("flush_denormals", into, n.provenance))
        done[v] = into.constant(flushed(*weights));
      if (const auto zeros = done.find(v); zeros != done.end()) v = zeros->second;
    }
    if (std::ranges::equal(inputs, in)) return std::nullopt;
    return into.add(*n.op, std::move(inputs), n.attrs, n.provenance, n.version, static_cast<int>(n.outputs.size()));
  });
}

}  // namespace cameo
