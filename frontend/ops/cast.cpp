// Cast: to the element type `to`; texts are those of Python. `saturate` and `round_mode` concern floats of 8 bits.
#include "frontend/ops/conversion.h"

namespace cameo::ops {
namespace {
void infer_cast(Infer& n) {
  check_conversion(n, target_type(n));
  check_round_mode(n);
  n.output(0, target_type(n), n.shape());
}
Meaning cast_meaning(const MeaningView& n) {
  if (converts_texts(n)) return convert_texts(n);
  return elementwise_meaning(n, [&](std::span<const Expr> x) { return convert(n, x[0], n.out_dtype()); });
}
}  // namespace

Operator declare_cast() {
  return {.name = "Cast",
          .since = {1, 6, 9, 13, 19, 21, 23, 24, 25, 28},
          .inputs = {{"input", kAllButComplex}},
          .attributes = {{"to", AttrKind::Int}, {"saturate", 1, 19}, {"round_mode", "up", 24}},
          .infer = infer_cast,
          .meaning = cast_meaning};
}

}  // namespace cameo::ops
