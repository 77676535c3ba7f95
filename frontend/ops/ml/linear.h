// LinearClassifier and LinearRegressor: a row of coefficients and an intercept for each score.
#pragma once
#include "frontend/ops/ml/post_transform.h"
#include "frontend/ops/ml/rows.h"

namespace cameo::ops {

/// How many scores there are: as many as intercepts, behind whose coefficients there may be others, which nothing reads
/// (ONNX Runtime has it so, and old converters wrote such models).
inline int64_t linear_scores(const NodeView& n) {
  if (n.rank() != 1 && n.rank() != 2) n.fail(Code::E0302, "X is " + to_string(n.type(0)) + ", not one row or rows");
  const Dim features = n.shape().back();
  const auto all = std::ssize(n.attr_floats("coefficients"));
  if (!features.is_static()) n.fail(Code::E0404, "the number of features is " + to_string(features) + ", not a number");
  if (features.value() == 0 || all % features.value() || all == 0)
    n.fail(Code::E0204, fmt::format("{} `coefficients` for {} features", all, features.value()));
  const int64_t scores = all / features.value();
  if (!n.has_attr("intercepts")) return scores;
  const auto intercepts = std::ssize(n.attr_floats("intercepts"));
  if (intercepts == 0 || intercepts > scores)
    n.fail(Code::E0204, fmt::format("{} `intercepts` for {} scores", intercepts, scores));
  return intercepts;
}

inline Dim linear_rows(const NodeView& n) { return n.rank() == 2 ? n.shape()[0] : Dim(1); }

/// [rows, scores]
inline ValueId linear(const NodeView& n, Build& b) {
  const ValueId x = b.cast(n.rank() == 2 ? b.in(0) : b.unsqueeze(b.in(0), {0}), type_of_sums(n.dtype()));
  const DType t = b.type(x).dtype;
  const int64_t scores = linear_scores(n);
  std::vector<double> coefficients = n.attr_floats("coefficients");
  coefficients.resize(static_cast<size_t>(scores * n.shape().back().value()));
  std::vector<ValueId> operands{x, b.reshape(list_of(b, t, coefficients), {scores, -1})};
  if (n.has_attr("intercepts")) operands.push_back(list_of(b, t, n.attr_floats("intercepts")));
  return b.op("Gemm", operands, {{"transB", int64_t{1}}});
}

}  // namespace cameo::ops
