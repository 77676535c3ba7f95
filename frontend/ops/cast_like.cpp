// CastLike: to the element type of the second input.
#include "frontend/ops/conversion.h"

namespace cameo::ops {
namespace {
void infer_cast_like(Infer& n) {
  check_round_mode(n);
  n.output(0, n.dtype(1), n.shape(0));
}
Meaning cast_like_meaning(const MeaningView& n) {
  if (converts_texts(n)) return convert_texts(n);
  OutputExpr out{n.index(), {}};
  out.value = convert(n, n.load(0, out.index), n.out_dtype());
  return Compute{{out}};
}
}  // namespace

Operator declare_cast_like() {
  return {.name = "CastLike",
          .since = {15, 19, 21, 23, 24, 25},
          .inputs = {{"input", kAllButComplex}, {"target_type", kAllButComplex}},
          .attributes = {{"saturate", 1, 19}, {"round_mode", "up", 24}},
          .infer = infer_cast_like,
          .meaning = cast_like_meaning};
}

}  // namespace cameo::ops
