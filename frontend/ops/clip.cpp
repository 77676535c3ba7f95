// Clip: min(max(x, low), high); the bounds are attributes up to version 6 and optional inputs after.
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

void infer_clip(Infer& n) {
  check_scalar(n, 1);
  check_scalar(n, 2);
  n.output(0, n.type(0));
}

Expr bound(const MeaningView& n, int input, std::string_view attr, DType t) {
  if (n.has_attr(attr)) return constant(t, n.attr_float(attr));
  return scalar_operand(n, input);
}

Meaning clip_meaning(const MeaningView& n) {
  OutputExpr out{n.index(), {}};
  out.value = n.load(0, out.index);
  if (Expr low = bound(n, 1, "min", n.dtype())) out.value = max(out.value, low);
  if (Expr high = bound(n, 2, "max", n.dtype())) out.value = min(out.value, high);
  return Compute{{out}};
}

}  // namespace

Operator declare_clip() {
  return {.name = "Clip",
          .since = {1, 6, 11, 12, 13},
          .inputs = {{"input", kNumbers},
                     {"min", kNumbers, InputSpec::Optional, 0},
                     {"max", kNumbers, InputSpec::Optional, 0}},
          .attributes = {{"min", AttrKind::Float}, {"max", AttrKind::Float}},
          .infer = infer_clip,
          .meaning = clip_meaning};
}

}  // namespace cameo::ops
