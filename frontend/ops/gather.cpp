// Gather: slices of the data along an axis; an index out of [-n, n) is an error.
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

void infer_gather(Infer& n) {
  int axis = NodeView::axis(n.attr_int("axis"), n.rank(0));
  const Shape &data = n.shape(0), &indices = n.shape(1);
  check_indices(n, 1, data[axis]);
  Shape out(data.begin(), data.begin() + axis);
  out.insert(out.end(), indices.begin(), indices.end());
  out.insert(out.end(), data.begin() + axis + 1, data.end());
  n.output(0, n.dtype(0), out);
}

Meaning gather_meaning(const MeaningView& n) {
  int axis = NodeView::axis(n.attr_int("axis"), n.rank(0));
  OutputExpr out{n.index(), {}};
  auto begin = out.index.begin() + axis, end = begin + n.rank(1);
  std::vector<Expr> at(out.index.begin(), begin);
  at.push_back(wrap_index(n.load(1, std::vector<Expr>(begin, end)), n.shape(0)[axis]));
  at.insert(at.end(), end, out.index.end());
  out.value = n.load_checked(0, at);
  return Compute{{out}};
}

}  // namespace

Operator declare_gather() {
  return {.name = "Gather",
          .since = {1, 11, 13},
          .inputs = {{"data"}, {"indices", kIndices}},
          .attributes = {{"axis", 0}},
          .infer = infer_gather,
          .meaning = gather_meaning};
}

}  // namespace cameo::ops
