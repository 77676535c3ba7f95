// ExpandDims: Unsqueeze, the new axis an input.
#include "frontend/ops/defined.h"

namespace cameo::ops {
namespace {

Composite define_expand_dims(const NodeView& n) {
  Build b(n);
  return b.outputs({b.op("Unsqueeze", {b.in(0), b.reshape(b.cast(b.in(1), DType::i64), {1})})});
}

}  // namespace

Operator declare_microsoft_expand_dims() {
  return {.name = "ExpandDims",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"X"}, {"axis", DTypes(DType::i32)}},
          .infer = infer_defined<define_expand_dims>,
          .meaning = defined<define_expand_dims>};
}

}  // namespace cameo::ops
