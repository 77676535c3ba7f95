// What is quantised to u8 and dequantised inside of a kernel stays a float between: a rounded number is brought within
// what u8 holds, and no integer is made. The same bits: whole numbers of that size are exact floats.
#include <cmath>

#include "optimizer/clusters/clusters.h"

namespace cameo {
namespace {

/// A rounded float, or one and a whole number.
bool is_whole(Expr e) {
  if (e.op() == Op::Add && e.arg(1).is_const() && e.arg(1).float_value() == std::floor(e.arg(1).float_value()))
    e = e.arg(0);
  return e.op() == Op::Round && e.type() == DType::f32;
}

/// Of the float of a u8 less a zero point, which was a whole float before.
Expr without_code(Expr e) {
  if (e.op() != Op::Cast || e.type() != DType::f32) return e;
  Expr code = e.arg(0);
  double zero = 0;
  if (code.op() == Op::Sub && code.type() == DType::i32 && code.arg(1).is_const()) {
    zero = static_cast<double>(code.arg(1).int_value());
    code = code.arg(0);
  }
  if (code.op() == Op::Cast && code.type() == DType::i32) code = code.arg(0);
  if (code.op() != Op::Cast || code.type() != DType::u8 || !is_whole(code.arg(0))) return e;
  const auto number = [](double v) { return constant(DType::f32, v); };
  const Expr x = code.arg(0), least = number(0);
  const Expr within = min(select(lt(least, x), x, least), number(UINT8_MAX));  // the least of what is no number, too
  return zero == 0 ? within : within - number(zero);
}

}  // namespace

Expr without_round_trips(Expr root) { return rewrite(root, without_code); }

}  // namespace cameo
