// Transpose: output axis i is input axis perm[i]; reversed without `perm`.
#include "frontend/ir/operator.h"

namespace cameo::ops {
namespace {

std::vector<int> permutation(const NodeView& n) {
  if (n.has_attr("perm")) {
    std::vector<int64_t> perm = n.attr_ints("perm");
    if (static_cast<int>(perm.size()) != n.rank())
      n.fail(Code::E0204, "`perm` has " + std::to_string(perm.size()) + " axes, the input " + std::to_string(n.rank()));
    for (int64_t a : perm)
      if (a < 0)
        n.fail(Code::E0204, "`perm` holds " + std::to_string(a) + ", axes count from 0 there",
               "with --lenient it counts from the end");
    return NodeView::axes(perm, n.rank());
  }
  std::vector<int> perm;
  for (int d = n.rank(); d-- > 0;) perm.push_back(d);
  return perm;
}

void infer_transpose(Infer& n) {
  Shape out;
  for (int a : permutation(n)) out.push_back(n.shape()[a]);
  n.output(0, n.dtype(), out);
}

Meaning transpose_meaning(const MeaningView& n) {
  OutputExpr out{n.index(), {}};
  std::vector<int> perm = permutation(n);
  std::vector<Expr> at(perm.size());
  for (size_t i = 0; i < perm.size(); ++i) at[perm[i]] = out.index[i];
  out.value = n.load(0, at);
  return Compute{{out}};
}

}  // namespace

Operator declare_transpose() {
  return {.name = "Transpose",
          .since = {1, 13, 21, 23, 24, 25},
          .inputs = {{"data"}},
          .outputs = {{"transposed"}},
          .attributes = {{"perm", AttrKind::Ints}},
          .infer = infer_transpose,
          .meaning = transpose_meaning};
}

}  // namespace cameo::ops
