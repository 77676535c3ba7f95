// What ai.onnx.ml's operators on rows of numbers share: lists of attributes as constants, one entry a feature or one
// for all. Features stand along the last axis.
#pragma once
#include <fmt/format.h>

#include "frontend/ir/build.h"
#include "frontend/ops/operands.h"

namespace cameo::ops {

inline constexpr DTypes kOfRows{DType::f32, DType::f64, DType::i32, DType::i64};

inline ValueId list_of(Build& b, DType t, const std::vector<double>& values) {
  Tensor list(t, {static_cast<int64_t>(values.size())});
  for (size_t i = 0; i < values.size(); ++i) list.set(static_cast<int64_t>(i), values[i]);
  return b.graph().constant(std::move(list));
}
inline ValueId list_of(Build& b, DType t, const std::vector<int64_t>& values) { return b.cast(b.ints(values), t); }

/// An attribute with an entry a feature, or one for all.
inline void check_of_features(const NodeView& n, std::string_view attr, size_t count) {
  const Dim features = n.rank() ? n.shape().back() : Dim(1);
  if (count != 1 && !n.agree(Dim(static_cast<int64_t>(count)), features))
    n.fail(Code::E0204, fmt::format("`{}` has {} entries for {} features", attr, count, to_string(features)));
}

/// The type that sums of such rows are computed in: f64 for integers too.
inline DType type_of_sums(DType x) { return x == DType::f32 ? DType::f32 : DType::f64; }

}  // namespace cameo::ops
