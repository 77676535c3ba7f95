// Expand: broadcasting with a written shape, in both directions.
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

void infer_expand(Infer& n) {
  Shape written;
  const std::vector<Expr> shape = elements(n, 1);
  for (Expr e : shape) written.push_back(given_dim(n, e, shape.size(), "shape"));
  Shape shapes[] = {n.shape(), written};
  n.output(0, n.dtype(), infer::broadcast_shapes(n, shapes));
}

Meaning expand_meaning(const MeaningView& n) {
  OutputExpr out{n.index(), {}};
  out.value = n.load_broadcast(0, out.index);
  return Compute{{out}};
}

}  // namespace

Operator declare_expand() {
  return {.name = "Expand",
          .since = {8, 13},
          .inputs = {{"input"}, {"shape", kInt64}},
          .infer = infer_expand,
          .meaning = expand_meaning};
}

}  // namespace cameo::ops
