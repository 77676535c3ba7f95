// The sum that the Skip.. normalizations normalize: of a tensor, another one that broadcasts to it, and a bias.
#pragma once
#include "frontend/ops/defined.h"
#include "frontend/ops/normalize.h"

namespace cameo::ops {

inline constexpr DTypes kSkipTypes{DType::f32, DType::f16, DType::bf16};

inline ValueId skipped_sum(const NodeView& n, Build& b, int bias) {
  check_rank(n, 0, {2, 3}, "[batch, sequence, hidden] or [tokens, hidden]");
  check_broadcasts(n, 1);
  check_shape(n, bias, {n.dim(0, -1)}, "one an element of the last axis");
  const ValueId sum = b.add(b.in(0), b.in(1));
  return b.in(bias) ? b.add(sum, b.in(bias)) : sum;
}

}  // namespace cameo::ops
