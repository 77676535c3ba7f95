// LRN: X / (bias + alpha / size * sum of squares)^beta, the squares summed over the neighbouring channels.
#include "frontend/ops/window.h"

namespace cameo::ops {
namespace {

void infer_lrn(Infer& n) {
  if (n.rank() < 2)
    n.fail(Code::E0302, fmt::format("X is {}, it needs at least the axes N and C", to_string(n.type(0))));
  count_attr(n, "size");
  n.output(0, n.type(0));
}

Meaning lrn(const MeaningView& n) {
  int64_t size = n.attr_int("size"), before = (size - 1) / 2, after = size / 2;
  if (const int64_t channels = n.shape()[1].upper(); channels != kOpen) {  // none are farther away
    before = std::min(before, channels);
    after = std::min(after, channels);
  }
  DType t = accumulator(n.dtype());
  auto out = n.index(), at = out;
  Expr r = var(integer(before + after + 1));
  at[1] = out[1] + r - integer(before);
  Expr near = cast(n.load(0, at), t);
  Expr base =
      fold(FoldKind::Sum, r, near * near) * (n.attr_float("alpha") / static_cast<double>(size)) + n.attr_float("bias");
  Expr y = cast(n.load(0, out), t) / apply(Op::Pow, {base, constant(t, n.attr_float("beta"))});
  return Compute{{{out, cast(y, n.dtype())}}};
}

}  // namespace

Operator declare_lrn() {
  return {.name = "LRN",
          .since = {1, 13},
          .inputs = {{"X", kFloats}},
          .attributes = {{"alpha", 1e-4f}, {"beta", 0.75f}, {"bias", 1.f}, {"size", AttrKind::Int}},
          .infer = infer_lrn,
          .meaning = lrn};
}

}  // namespace cameo::ops
