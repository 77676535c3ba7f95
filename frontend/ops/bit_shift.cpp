// BitShift: LEFT drops what passes the top; RIGHT keeps the sign. By a negative count, or by more than the width,
// leaves only the fill: 0, or -1 for a negative number shifted right.
#include "frontend/ir/operator.h"

namespace cameo::ops {
namespace {
Expr shift(const MeaningView& n, Expr x, Expr by) {
  std::string direction = n.attr_string("direction");
  if (direction == "LEFT") return apply(Op::Shl, {x, by});
  if (direction != "RIGHT")
    n.fail(Code::E0204, "`direction` is `" + printable(direction) + "`, neither LEFT nor RIGHT");
  if (row(x.type()).kind != DKind::Int) return apply(Op::Shr, {x, by});
  Expr all = like(by, row(x.type()).bits - 1);
  return apply(Op::Shr, {x, select(lt(by, zero(by.type())), all, min(by, all))});
}
}  // namespace

Operator declare_bit_shift() {
  return {.name = "BitShift",
          .since = {11, 28},
          .inputs = {{"X", kIntegers}, {"Y", kIntegers, InputSpec::Required, 0}},
          .attributes = {{"direction", AttrKind::String}},
          .infer = infer::broadcast,
          .meaning = elementwise([](const MeaningView& n, Expr x, Expr by) { return shift(n, x, by); })};
}

}  // namespace cameo::ops
