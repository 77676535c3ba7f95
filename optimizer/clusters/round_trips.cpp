// What is quantised to u8 and dequantised inside of a kernel stays a float between: a rounded number is brought within
// what u8 holds, and no integer is made. The same bits: whole numbers of that size are exact floats.
#include <cmath>
#include <cstdint>
#include <optional>

#include "optimizer/clusters/clusters.h"

namespace cameo {
namespace {

/// A rounded float, and the whole number that is added to it.
struct Whole {
  Expr rounded;
  double more;
};
std::optional<Whole> whole(Expr e) {
  double more = 0;
  if (e.op() == Op::Add && e.arg(1).is_const()) {
    more = e.arg(1).float_value();
    e = e.arg(0);
  }
  if (e.op() != Op::Round || e.type() != DType::f32 || more != std::floor(more) || std::abs(more) > UINT8_MAX)
    return {};
  return Whole{e, more};
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
  const auto x = code.op() == Op::Cast && code.type() == DType::u8 ? whole(code.arg(0)) : std::nullopt;
  if (!x) return e;
  const auto number = [](double v) { return constant(DType::f32, v); };
  const Expr least = number(0 - x->more), most = number(UINT8_MAX - x->more);
  const Expr above = select(lt(least, x->rounded), x->rounded, least);  // the least of what is no number, too
  const Expr within = select(lt(above, most), above, most);
  return zero == 0 && x->more == 0 ? within : within + number(x->more - zero);  // adding 0 leaves no -0
}

}  // namespace

Expr without_round_trips(Expr root) { return rewrite(root, without_code); }

}  // namespace cameo
