// Row-major flat positions: an index list to one number and back.
#pragma once
#include <span>
#include <vector>

#include "frontend/ir/expr.h"

namespace cameo::ops {

inline Expr flatten(std::span<const Expr> index, const Shape& shape) {
  Expr flat = integer(0);
  for (size_t i = 0; i < shape.size(); ++i) flat = flat * shape[i].extent() + index[i];
  return flat;
}

inline std::vector<Expr> unflatten(Expr flat, const Shape& shape) {
  std::vector<Expr> index(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    index[i] = i == 0 ? flat : mod(flat, shape[i].extent());
    flat = floor_div(flat, shape[i].extent());
  }
  return index;
}

}  // namespace cameo::ops
