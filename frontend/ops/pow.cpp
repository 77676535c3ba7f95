// Pow: of the base's type; computed in the wider floating type of the two, in f32 where that is of 16 bits and the
// exponent of another type, or in integers when both are.
#include "frontend/ops/arithmetic.h"

namespace cameo::ops {
namespace {

DType computing(DType x, DType y) {
  if (!is_float(x) && !is_float(y)) return x;
  if (x == DType::f64 || y == DType::f64) return DType::f64;
  if (!is_float(x)) return DType::f64;
  return x == y ? x : DType::f32;
}
Expr power(Expr x, Expr y) {
  DType t = computing(x.type(), y.type());
  return cast(apply(Op::Pow, {cast(x, t), cast(y, t)}), x.type());
}

}  // namespace

Operator declare_pow() {
  Operator op =
      arithmetic::declare("Pow", {1, 7, 12, 13, 15}, arithmetic::meaning([](Expr x, Expr y) { return power(x, y); }));
  op.inputs = {{"X", kNumbers}, {"Y", kNumbers}};
  return op;
}

}  // namespace cameo::ops
