// Gemm: alpha * A B + beta * C of matrices, each of A and B transposed if asked for; C broadcasts.
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

void infer_gemm(Infer& n) {
  if (n.rank(0) != 2 || n.rank(1) != 2)
    n.fail(Code::E0302,
           "`Gemm` of " + to_string(n.type(0)) + " and " + to_string(n.type(1)) + ", which are no matrices");
  int a = n.attr_int("transA") != 0, b = n.attr_int("transB") != 0;
  same_dim(n, n.shape(0)[1 - a], n.shape(1)[b], "the inner extents of `Gemm`");
  Shape out{n.shape(0)[a], n.shape(1)[1 - b]};
  if (n.has(2)) {
    Shape shapes[] = {out, n.shape(2)};
    Shape both = infer::broadcast_shapes(n, shapes);
    if (both.size() != 2 || !n.agree(both[0], out[0]) || !n.agree(both[1], out[1]))
      n.fail(Code::E0302, "`C` of shape " + to_string(n.shape(2)) + " does not broadcast to " + to_string(out));
  }
  n.output(0, n.dtype(), out);
}

Meaning gemm_meaning(const MeaningView& n) {
  OutputExpr out{n.index(), {}};
  int a = n.attr_int("transA") != 0, b = n.attr_int("transB") != 0;
  DType t = accumulator(n.dtype());
  Expr row = out.index[0], column = out.index[1];
  Expr k = var(same_dim(n, n.shape(0)[1 - a], n.shape(1)[b], "inner extents").extent());
  Expr left = a ? n.load(0, {k, row}) : n.load(0, {row, k});
  Expr right = b ? n.load(1, {column, k}) : n.load(1, {k, column});
  Expr sum = scaled(fold(FoldKind::Sum, k, cast(left, t) * cast(right, t)), n.attr_float("alpha"));
  if (n.has(2)) sum = sum + scaled(cast(n.load_broadcast(2, out.index), t), n.attr_float("beta"));
  out.value = cast(sum, n.dtype());
  return Compute{{out}};
}

}  // namespace

Operator declare_gemm() {
  return {.name = "Gemm",
          .since = {1, 6, 7, 9, 11, 13},
          .inputs = {{"A", kNumbers}, {"B", kNumbers, InputSpec::Required, 0}, {"C", kNumbers, InputSpec::Optional, 0}},
          .attributes = {{"alpha", 1.0f}, {"beta", 1.0f}, {"transA", 0}, {"transB", 0}, {"broadcast", 0}},
          .infer = infer_gemm,
          .meaning = gemm_meaning};
}

}  // namespace cameo::ops
