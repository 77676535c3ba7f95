// Trilu: the triangle of each matrix on one side of its k-th diagonal, the diagonal included; zero elsewhere.
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

void infer_trilu(Infer& n) {
  if (n.rank() < 2) n.fail(Code::E0302, "`Trilu` of " + to_string(n.type(0)) + ", which holds no matrices");
  check_scalar(n, 1);
  n.output(0, n.type(0));
}

Meaning trilu_meaning(const MeaningView& n) {
  OutputExpr out{n.index(), {}};
  Expr row = out.index[n.rank() - 2], column = out.index[n.rank() - 1], k = scalar_operand(n, 1, integer(0)),
       diagonal = row + min(max(k, integer(-kMaxExtent)), integer(kMaxExtent));
  Expr kept = n.attr_int("upper") ? ge(column, diagonal) : le(column, diagonal);
  out.value = select(kept, n.load(0, out.index), zero(n.dtype()));
  return Compute{{out}};
}

}  // namespace

Operator declare_trilu() {
  return {.name = "Trilu",
          .since = {14},
          .inputs = {{"input"}, {"k", kInt64, InputSpec::Optional}},
          .attributes = {{"upper", 1}},
          .infer = infer_trilu,
          .meaning = trilu_meaning};
}

}  // namespace cameo::ops
