// EyeLike: ones on the k-th diagonal of a matrix of the input's shape.
#include "frontend/ir/operator.h"

namespace cameo::ops {
namespace {

void infer_eye_like(Infer& n) {
  if (n.rank() != 2) n.fail(Code::E0302, "`EyeLike` of " + to_string(n.type(0)) + ", which is no matrix");
  int64_t t = n.has_attr("dtype") ? n.attr_int("dtype") : static_cast<int64_t>(n.dtype());
  if (t <= 0 || t >= kDTypeCount) n.fail(Code::E0204, "`dtype` is " + std::to_string(t) + ", which is no element type");
  n.output(0, static_cast<DType>(t), n.shape());
}

Meaning eye_like_meaning(const MeaningView& n) {
  OutputExpr out{n.index(), {}};
  Expr on = eq(out.index[1], out.index[0] + integer(n.attr_int("k")));
  out.value = select(on, one(n.out_dtype()), zero(n.out_dtype()));
  return Compute{{out}};
}

}  // namespace

Operator declare_eye_like() {
  return {.name = "EyeLike",
          .since = {9, 22},
          .inputs = {{"input", kNumbers | kBool}},
          .attributes = {{"dtype", AttrKind::Int}, {"k", 0}},
          .infer = infer_eye_like,
          .meaning = eye_like_meaning};
}

}  // namespace cameo::ops
