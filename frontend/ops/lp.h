// The Lp norm: (sum |x|^p)^(1/p), with p 1 and 2 spelled out.
#pragma once
#include "frontend/ops/window.h"

namespace cameo::ops {

/// |x|^p in the type that sums are made in.
inline Expr lp_term(Expr x, int64_t p) {
  x = cast(x, accumulator(x.type()));
  if (p == 1) return abs(x);
  if (p == 2) return x * x;
  return apply(Op::Pow, {abs(x), like(x, static_cast<double>(p))});
}
inline Expr lp_root(Expr sum, int64_t p) {
  if (p == 1) return sum;
  if (p == 2) return sqrt(sum);
  return apply(Op::Pow, {sum, like(sum, 1 / static_cast<double>(p))});
}

}  // namespace cameo::ops
