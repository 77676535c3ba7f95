// GatherElements: each output element picks its own place along an axis; an index out of [-n, n) is an error.
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

void infer_gather_elements(Infer& n) {
  if (n.rank(0) != n.rank(1))
    n.fail(Code::E0302,
           "`data` is " + to_string(n.type(0)) + " and `indices` " + to_string(n.type(1)) + ": the ranks differ");
  check_elements(n, NodeView::axis(n.attr_int("axis"), n.rank(0)));
  n.output(0, n.dtype(0), n.shape(1));
}

Meaning gather_elements_meaning(const MeaningView& n) {
  int axis = NodeView::axis(n.attr_int("axis"), n.rank(0));
  OutputExpr out{n.index(), {}};
  std::vector<Expr> at = out.index;
  at[axis] = wrap_index(n.load(1, out.index), n.shape(0)[axis]);
  out.value = n.load_checked(0, at);
  return Compute{{out}};
}

}  // namespace

Operator declare_gather_elements() {
  return {.name = "GatherElements",
          .since = {11, 13},
          .inputs = {{"data"}, {"indices", kIndices}},
          .attributes = {{"axis", 0}},
          .infer = infer_gather_elements,
          .meaning = gather_elements_meaning};
}

}  // namespace cameo::ops
