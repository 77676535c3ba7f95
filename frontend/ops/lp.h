// The Lp norm: (sum |x|^p)^(1/p), with p 1 and 2 spelled out.
#pragma once
#include "frontend/ops/window.h"

namespace cameo::ops {

/// The power is a float in version 1 of the operators, and an integer since.
inline double lp_power(const NodeView& n) {
  const bool is_old = n.version() < 2 && n.has_attr("p");
  return is_old ? n.attr_float("p") : static_cast<double>(n.attr_int("p"));
}

/// |x|^p in the type that sums are made in.
inline Expr lp_term(Expr x, double p) {
  x = cast(x, accumulator(x.type()));
  if (p == 1) return abs(x);
  if (p == 2) return x * x;
  return apply(Op::Pow, {abs(x), like(x, p)});
}
inline Expr lp_root(Expr sum, double p) {
  if (p == 1) return sum;
  if (p == 2) return sqrt(sum);
  return apply(Op::Pow, {sum, like(sum, 1 / p)});
}

}  // namespace cameo::ops
