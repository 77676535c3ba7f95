// What is quantised to u8 and dequantised inside of a kernel stays a float between: a rounded number is brought within
// what u8 holds, and no integer is made. The same bits: whole numbers of that size are exact floats. A zero of an
// integer has no sign; where one would show, 0 is added, and where it would not, that is left out.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

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
  if (e.type() != DType::f32) return {};
  if (e.op() == Op::Add && e.arg(1).is_const()) {
    more = e.arg(1).float_value();
    e = e.arg(0);
  }
  if (e.op() != Op::Round || more != std::floor(more) || std::abs(more) > UINT8_MAX) return {};
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

/// What the sign of a zero at an argument of an expression may change of its value.
enum class Sign { Shows /* more than a sign */, Stays /* the sign of a zero alone */, IsLost /* nothing */ };
Sign sign_through(Expr e, size_t arg) {
  switch (e.op()) {
    case Op::Cast: return is_float(e.type()) ? Sign::Stays : Sign::IsLost;
    case Op::Eq:
    case Op::Ne:
    case Op::Lt:
    case Op::Le: return Sign::IsLost;
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Min:
    case Op::Max:
    case Op::Neg:
    case Op::Abs:
    case Op::Floor:
    case Op::Ceil:
    case Op::Round:
    case Op::Trunc: return Sign::Stays;
    case Op::Select: return arg > 0 ? Sign::Stays : Sign::Shows;
    case Op::Div: return arg == 0 ? Sign::Stays : Sign::Shows;
    default: return Sign::Shows;
  }
}
bool adds_zero(Expr e) {
  return e.op() == Op::Add && e.type() == DType::f32 && e.arg(1).is_const() && e.arg(1).float_value() == 0 &&
         !std::signbit(e.arg(1).float_value());
}
Expr without_signs(Expr root) {
  std::vector<Expr> parts;
  const std::vector<Expr> roots{root};
  visit(roots, [&](Expr e) { parts.push_back(e); });
  const auto loses_signs = [](Expr e) {
    for (size_t arg = 0; arg < e.args().size(); ++arg)
      if (sign_through(e, arg) == Sign::IsLost) return true;
    return false;
  };
  if (std::ranges::none_of(parts, adds_zero) || std::ranges::none_of(parts, loses_signs)) return root;
  std::unordered_set<Expr, ExprHash> shows{root};  // those of which the sign of a zero does, somewhere
  for (size_t i = parts.size(); i-- > 0;)          // users before what they use
    for (size_t arg = 0; arg < parts[i].args().size(); ++arg) {
      const Sign sign = sign_through(parts[i], arg);
      if (sign == Sign::Shows || (sign == Sign::Stays && shows.contains(parts[i]))) shows.insert(parts[i].args()[arg]);
    }
  std::unordered_map<Expr, Expr, ExprHash> done;
  for (Expr e : parts) {
    std::vector<Expr> args;
    for (Expr a : e.args()) args.push_back(done.at(a));
    const bool changed = !std::ranges::equal(args, e.args());
    done[e] = adds_zero(e) && !shows.contains(e) ? args[0] : changed ? make(e.op(), e.type(), args, e.bits()) : e;
  }
  return done.at(root);
}

}  // namespace

Expr without_round_trips(Expr root) { return without_signs(rewrite(root, without_code)); }

}  // namespace cameo
