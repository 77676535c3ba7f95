// What the cases of contract share: the sizes of a product, and into how many parts a tile's sums are split.
#pragma once
#include <string>

#include "runtime/kernels/contract_shape.h"
#include "runtime/rt/vector.h"
#include "tests/runtime/kernels/cases.h"

namespace {

struct Shape {
  i64 m, n, k, segments = 1, row_stride = 0, segment_stride = 0;
  std::string text() const {
    return "m=" + std::to_string(m) + " n=" + std::to_string(n) + " k=" + std::to_string(k) +
           " segments=" + std::to_string(segments);
  }
};

template <int MR, int NV>
constexpr int kSplits = rt::splits_of({MR, NV}, rt::kVectorBytes, 8);

}  // namespace
