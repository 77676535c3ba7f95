// SVMClassifier and SVMRegressor: the kernel function of each row with each support vector, or plain products where
// there are no vectors.
#pragma once
#include <cmath>

#include "frontend/ops/ml/post_transform.h"
#include "frontend/ops/ml/rows.h"

namespace cameo::ops {

inline std::vector<AttrSpec> svm_attributes(std::vector<AttrSpec> own) {
  own.insert(own.end(), {{"coefficients", AttrKind::Floats},
                         {"kernel_params", AttrKind::Floats},
                         {"kernel_type", "LINEAR"},
                         {"post_transform", "NONE"},
                         {"rho", AttrKind::Floats},
                         {"support_vectors", AttrKind::Floats}});
  return own;
}

inline int64_t svm_features(const NodeView& n) {
  if (n.rank() != 1 && n.rank() != 2) n.fail(Code::E0302, "X is " + to_string(n.type(0)) + ", not one row or rows");
  const Dim features = n.shape().back();
  if (!features.is_static()) n.fail(Code::E0404, "the number of features is " + to_string(features) + ", not a number");
  return features.value();
}
inline Dim svm_rows(const NodeView& n) { return n.rank() == 2 ? n.shape()[0] : Dim(1); }

/// A list of floats that must have so many entries; `what` they stand for.
inline std::vector<double> svm_list(const NodeView& n, std::string_view name, int64_t count, std::string_view what) {
  std::vector<double> v = n.attr_floats(name);
  if (std::ssize(v) != count)
    n.fail(Code::E0204, fmt::format("`{}` has {} entries, {} are needed: {}", name, v.size(), count, what));
  return v;
}

struct SvmKernel {
  std::string type;
  double gamma = 0, coef0 = 0, degree = 0;
};
inline SvmKernel svm_kernel(const NodeView& n) {
  SvmKernel k{n.attr_string("kernel_type")};
  if (k.type != "LINEAR" && k.type != "POLY" && k.type != "RBF" && k.type != "SIGMOID")
    n.fail(Code::E0204, fmt::format("`kernel_type` is `{}`", printable(k.type)), "LINEAR, POLY, RBF or SIGMOID");
  if (!n.has_attr("kernel_params") || n.attr_floats("kernel_params").empty()) return k;
  const std::vector<double> p = svm_list(n, "kernel_params", 3, "gamma, coef0 and degree");
  k.gamma = p[0], k.coef0 = p[1], k.degree = std::trunc(p[2]);
  return k;
}

inline ValueId svm_rows_of(const NodeView& n, Build& b) {
  return b.cast(n.rank() == 2 ? b.in(0) : b.unsqueeze(b.in(0), {0}), type_of_sums(n.dtype()));
}

/// x [rows, features] with vectors [count, features]: [rows, count].
inline ValueId svm_products(Build& b, ValueId x, ValueId vectors, const SvmKernel& k) {
  if (k.type == "RBF") {  // no difference of squares: near vectors would lose all digits
    const ValueId d = b.sub(b.unsqueeze(x, {1}), vectors), squares = b.reduce("ReduceSum", b.mul(d, d), {-1}, false);
    return b.op("Exp", {b.mul(squares, b.like(x, -k.gamma))});
  }
  const ValueId s = b.op("Gemm", {x, vectors}, {{"transB", int64_t{1}}});
  if (k.type == "LINEAR") return s;
  const ValueId scaled = b.add(b.mul(s, b.like(x, k.gamma)), b.like(x, k.coef0));
  return k.type == "SIGMOID" ? b.op("Tanh", {scaled}) : b.op("Pow", {scaled, b.like(x, k.degree)});
}

inline ValueId matrix_of(Build& b, DType t, const std::vector<double>& values, int64_t rows) {
  return b.reshape(list_of(b, t, values), {rows, -1});
}

}  // namespace cameo::ops
