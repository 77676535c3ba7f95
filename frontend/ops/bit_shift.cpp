// BitShift: LEFT drops what passes the top; RIGHT keeps the sign; by more than the width leaves only the sign's fill.
#include "frontend/operator.h"

namespace cameo::ops {
namespace {
Expr shift(const MeaningView& n, Expr x, Expr by) {
  std::string direction = n.attr_string("direction");
  if (direction != "LEFT" && direction != "RIGHT")
    n.fail(Code::E0204, "`direction` is `" + printable(direction) + "`, neither LEFT nor RIGHT");
  return apply(direction == "LEFT" ? Op::Shl : Op::Shr, {x, by});
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
