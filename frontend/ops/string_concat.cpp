// StringConcat: each string of X with that of Y behind it, with broadcasting.
#include "frontend/ops/texts.h"

namespace cameo::ops {
namespace {

Meaning string_concat(const MeaningView& n) {
  Build b(n);
  const auto like = [&](ValueId x, ValueId other) { return b.op("Expand", {x, b.op("Shape", {other})}); };
  const ValueId x = like(b.in(0), b.in(1)), y = like(b.in(1), b.in(0));
  return b.outputs({b.graph().add(get_operator("JoinTexts", "cameo"), {x, y})[0]});
}

}  // namespace

Operator declare_string_concat() {
  return {.name = "StringConcat",
          .since = {20},
          .inputs = {{"X", kStrings}, {"Y", kStrings}},
          .outputs = {{"Z"}},
          .infer = infer::broadcast,
          .meaning = string_concat};
}

}  // namespace cameo::ops
