// MatMul: numpy.matmul; narrow floats accumulate in f32.
#include "frontend/ops/matmul.h"

namespace cameo::ops {
namespace {

Meaning mat_mul_meaning(const MeaningView& n) {
  OutputExpr out{n.index(), {}};
  DType t = accumulator(n.dtype());
  matmul::Indices i = matmul::indices(n, n.shape(0), n.shape(1), out.index);
  out.value = cast(fold(FoldKind::Sum, i.k, cast(n.load(0, i.a), t) * cast(n.load(1, i.b), t)), n.dtype());
  return Compute{{out}};
}

}  // namespace

Operator declare_mat_mul() {
  return {.name = "MatMul",
          .since = {1, 9, 13},
          .inputs = {{"A", kNumbers}, {"B", kNumbers, InputSpec::Required, 0}},
          .infer = [](Infer& n) { n.output(0, n.dtype(), matmul::product_shape(n, n.shape(0), n.shape(1))); },
          .meaning = mat_mul_meaning};
}

}  // namespace cameo::ops
