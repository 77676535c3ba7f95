// SwiGLU: a * sigmoid(alpha * a) * b.
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

void infer_swi_glu(Infer& n) {
  if (n.rank(0) != n.rank(1)) n.fail(Code::E0302, "A is " + to_string(n.type(0)) + " and B is " + to_string(n.type(1)));
  Shape s;
  for (int a = 0; a < n.rank(); ++a) s.push_back(same_dim(n, n.shape(0)[a], n.shape(1)[a], "extents of A and B"));
  n.output(0, n.dtype(), s);
}

Meaning swi_glu(const MeaningView& n) {
  OutputExpr out{n.index(), {}};
  DType t = accumulator(n.dtype());
  Expr a = cast(n.load(0, out.index), t), b = cast(n.load(1, out.index), t);
  out.value = cast(a * sigmoid(a * n.attr_float("alpha")) * b, n.dtype());
  return Compute{{out}};
}

}  // namespace

Operator declare_swi_glu() {
  return {.name = "SwiGLU",
          .since = {28},
          .inputs = {{"A", kFloats}, {"B", kFloats, InputSpec::Required, 0}},
          .attributes = {{"alpha", 1.f}},
          .infer = infer_swi_glu,
          .meaning = swi_glu};
}

}  // namespace cameo::ops
