// SimplifiedLayerNormalization, which ONNX Runtime writes into ai.onnx: RMSNormalization, with the reciprocal of the
// root as an output.
#include "frontend/ops/defined.h"
#include "frontend/ops/normalize.h"

namespace cameo::ops {
namespace {

Composite define_simplified_layer_normalization(const NodeView& n) {
  Build b(n);
  const int axis = NodeView::axis(n.attr_int("axis"), n.rank());
  const ValueId y =
      b.op("RMSNormalization", {b.in(0), b.in(1)},
           {{"axis", int64_t{axis}}, {"epsilon", n.attr_float("epsilon")}, {"stash_type", n.attr_int("stash_type")}});
  return b.outputs({y, inverse_root(b, b.cast(b.in(0), stash_type(n)), axis, n.attr_float("epsilon"))});
}

}  // namespace

Operator declare_simplified_layer_normalization() {
  return {.name = "SimplifiedLayerNormalization",
          .since = {1},
          .inputs = {{"X", kFloats}, {"scale", kFloats}},
          .outputs = {{"Y"}, {"inv_std_var", OutputSpec::Optional}},
          .attributes = {{"axis", -1}, {"epsilon", 1e-5f}, {"stash_type", 1}},
          .infer = infer_defined<define_simplified_layer_normalization>,
          .meaning = defined<define_simplified_layer_normalization>};
}

}  // namespace cameo::ops
