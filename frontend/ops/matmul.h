// The indices of a matrix product as numpy.matmul means it: batch axes broadcast, a vector is a row on the left and a
// column on the right. For MatMul and the operators that scale or quantise one.
#pragma once
#include "frontend/ops/operands.h"

namespace cameo::ops::matmul {

inline Shape product_shape(const NodeView& n, const Shape& a, const Shape& b) {
  if (a.empty() || b.empty()) n.fail(Code::E0302, "a matrix product with a scalar");
  same_dim(n, a.back(), b.size() == 1 ? b[0] : b[b.size() - 2], "the inner extents of a matrix product");
  Shape batches[] = {Shape(a.begin(), a.end() - std::min<size_t>(a.size(), 2)),
                     Shape(b.begin(), b.end() - std::min<size_t>(b.size(), 2))};
  Shape out = infer::broadcast_shapes(n, batches);
  if (a.size() > 1) out.push_back(a[a.size() - 2]);
  if (b.size() > 1) out.push_back(b.back());
  return out;
}

struct Indices {
  Expr k;  // the Var that is summed over
  std::vector<Expr> a, b;
};
inline Indices indices(const NodeView& n, const Shape& a, const Shape& b, std::span<const Expr> out) {
  Indices r;
  r.k = var(same_dim(n, a.back(), b.size() == 1 ? b[0] : b[b.size() - 2], "inner extents").extent());
  size_t batch = out.size() - (a.size() > 1) - (b.size() > 1);
  auto batch_of = [&](const Shape& s) {
    std::vector<Expr> at;
    size_t own = s.size() - std::min<size_t>(s.size(), 2);
    for (size_t d = 0; d < own; ++d) at.push_back(broadcast_index(s[d], out[batch - own + d]));
    return at;
  };
  r.a = batch_of(a);
  r.b = batch_of(b);
  if (a.size() > 1) r.a.push_back(out[batch]);
  r.a.push_back(r.k);
  r.b.push_back(r.k);
  if (b.size() > 1) r.b.push_back(out.back());
  return r;
}

}  // namespace cameo::ops::matmul
