// Operators that join any number of operands, from the first one on. Many are joined by several nodes, each of which
// takes what is joined so far and some more, in f32 at least: no kernel reads thousands of values.
#pragma once
#include "frontend/ir/build.h"

namespace cameo::ops {

constexpr int kMostJoined = 32;  // operands of one node

inline ValueId join_in_parts(Build& b, const NodeView& n, std::string_view op) {
  const DType wide = is_float(n.dtype()) && byte_size(n.dtype()) < 4 ? DType::f32 : n.dtype();
  ValueId joined;
  for (int i = 0; i < n.input_count();) {
    std::vector<ValueId> operands;
    if (joined) operands.push_back(joined);
    while (i < n.input_count() && operands.size() < kMostJoined) operands.push_back(b.cast(b.in(i++), wide));
    joined = b.op(op, std::move(operands));
  }
  return joined;
}

inline Meaning joining_meaning(const MeaningView& n, std::string_view op, Expr (*join)(Expr, Expr)) {
  if (n.input_count() > kMostJoined) {
    Build b(n);
    return b.outputs({b.cast(join_in_parts(b, n, op), n.dtype())});
  }
  return elementwise_meaning(n, [&](std::span<const Expr> x) {
    Expr joined = x[0];
    for (Expr e : x.subspan(1)) joined = join(joined, e);
    return joined;
  });
}

}  // namespace cameo::ops
