// What BitCast and its kin share: the bytes of the operand are those of the output.
#pragma once
#include <algorithm>

#include "frontend/ir/operator.h"

namespace cameo::ops {

inline Meaning same_bytes(const MeaningView& n) {
  const Dim count = product(is_complex(n.out_dtype()) ? n.out_shape() : n.shape());
  Opaque kernel{"bit_cast"};
  kernel.numbers.push_back(count.extent());
  kernel.units = count.estimate();
  return kernel;
}

inline std::vector<Tensor> same_bytes_reference(const MeaningView& n, std::span<const Tensor> in) {
  std::vector<int64_t> dims = in[0].dims();
  if (n.out_type().rank() > n.rank()) dims.push_back(2);
  if (n.out_type().rank() < n.rank()) dims.pop_back();
  Tensor y(n.out_dtype(), dims);
  std::ranges::copy(in[0].bytes(), y.mutable_bytes().begin());
  return {y};
}

}  // namespace cameo::ops
