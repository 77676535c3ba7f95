// NonZero: the indices of the elements that are not zero, in row-major order, one column an element.
#include "frontend/ir/operator.h"

namespace cameo::ops {
namespace {

void infer_non_zero(Infer& n) { n.output(0, DType::i64, {Dim(n.rank()), n.fresh(product(n.shape()).upper())}); }

Meaning non_zero_meaning(const MeaningView& n) {
  std::vector<Expr> at = MeaningView::index_of(n.shape());
  return Compact{at, ne(n.load(0, at), zero(n.dtype())), at};
}

}  // namespace

Operator declare_non_zero() {
  return {.name = "NonZero",
          .since = {9, 13},
          .inputs = {{"X", kNumbers | kBool}},
          .infer = infer_non_zero,
          .meaning = non_zero_meaning};
}

}  // namespace cameo::ops
