// FusedGemm: Gemm through an activation.
#include "frontend/ops/microsoft/channels.h"
#include "frontend/ops/microsoft/fused_activation.h"

namespace cameo::ops {
namespace {

Composite define_fused_gemm(const NodeView& n) {
  Build b(n);
  const ValueId y = b.op("Gemm", {b.in(0), b.in(1), b.in(2)}, attributes_of(n, {"alpha", "beta", "transA", "transB"}));
  return b.outputs({fused_activation(n, b, y, [&](size_t, std::string_view name) -> std::optional<double> {
    const std::string attr = fmt::format("activation_{}", name);
    return n.has_attr(attr) ? std::optional(n.attr_float(attr)) : std::nullopt;
  })});
}

}  // namespace

Operator declare_microsoft_fused_gemm() {
  return {.name = "FusedGemm",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"A", kNumbers}, {"B", kNumbers, InputSpec::Required, 0}, {"C", kNumbers, InputSpec::Optional, 0}},
          .attributes = {{"activation", AttrKind::String},
                         {"activation_alpha", AttrKind::Float},
                         {"activation_beta", AttrKind::Float},
                         {"activation_gamma", AttrKind::Float},
                         {"alpha", 1.f},
                         {"beta", 1.f},
                         {"transA", 0},
                         {"transB", 0}},
          .infer = infer_defined<define_fused_gemm>,
          .meaning = defined<define_fused_gemm>};
}

}  // namespace cameo::ops
