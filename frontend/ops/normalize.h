// What the normalizations share: (x - mean) / sqrt(variance + epsilon) over some axes.
#pragma once
#include <fmt/format.h>

#include <numeric>

#include "frontend/ir/build.h"
#include "frontend/ops/window.h"

namespace cameo::ops {

struct Standardized {
  ValueId y, mean, variance, inverse;  // of the standard deviation
};
inline Standardized standardize(Build& b, ValueId x, const std::vector<int64_t>& axes, double epsilon) {
  ValueId mean = b.reduce("ReduceMean", x, axes), d = b.sub(x, mean);
  ValueId variance = b.reduce("ReduceMean", b.mul(d, d), axes);
  ValueId inverse = b.op("Reciprocal", {b.op("Sqrt", {b.add(variance, b.like(x, epsilon))})});
  return {b.mul(d, inverse), mean, variance, inverse};
}

inline std::vector<int64_t> axes_from(int64_t first, int rank) {
  std::vector<int64_t> axes(std::max<int64_t>(rank - first, 0));
  std::iota(axes.begin(), axes.end(), first);
  return axes;
}

/// 1 / sqrt(mean(x^2) + epsilon) over the axes from `axis` on.
inline ValueId inverse_root(Build& b, ValueId x, int64_t axis, double epsilon) {
  const ValueId mean = b.reduce("ReduceMean", b.mul(x, x), axes_from(axis, b.type(x).rank()));
  return b.op("Reciprocal", {b.op("Sqrt", {b.add(mean, b.like(x, epsilon))})});
}

/// A [C] tensor shaped so that it broadcasts along axis 1 of a tensor of `rank` axes.
inline ValueId per_channel(Build& b, ValueId v, int rank) {
  return rank > 2 ? b.unsqueeze(v, axes_from(1, rank - 1)) : v;
}

/// A scale or bias broadcasts to X, and not beyond.
inline void check_broadcasts(const NodeView& n, int input) {
  if (!n.has(input)) return;
  Shape shapes[] = {n.shape(0), n.shape(input)};
  Shape both = infer::broadcast_shapes(n, shapes);
  bool fits = both.size() == n.shape(0).size();
  for (size_t d = 0; fits && d < both.size(); ++d) fits = n.agree(both[d], n.shape(0)[d]);
  if (!fits)
    n.fail(Code::E0302, fmt::format("X is {}, but `{}` is {}", to_string(n.type(0)), n.node().op->inputs[input].name,
                                    to_string(n.type(input))));
}

/// The type of the first stage, by the attribute `stash_type`.
inline DType stash_type(const NodeView& n) {
  int64_t t = n.attr_int("stash_type");
  if (t < 0 || t >= kDTypeCount || !is_float(static_cast<DType>(t)))
    n.fail(Code::E0204, fmt::format("`stash_type` is {}", t));
  return static_cast<DType>(t);
}

}  // namespace cameo::ops
