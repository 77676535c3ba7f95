// NegativeLogLikelihoodLoss: minus the input at each target's class, times the class's weight; ignored targets weigh
// nothing.
#include "frontend/ops/loss.h"
#include "frontend/ops/window.h"

namespace cameo::ops {
namespace {

struct Loss {
  Expr loss, weight;
};
Loss loss_at(const MeaningView& n, std::span<const Expr> at) {
  DType t = accumulator(n.dtype());
  Expr target = cast(n.load(1, at), DType::i64);
  std::vector<Expr> from{at[0], target};
  from.insert(from.end(), at.begin() + 1, at.end());
  Expr weight = n.has(2) ? cast(n.load(2, {target}), t) : one(t);
  if (n.has_attr("ignore_index")) weight = select(eq(target, integer(n.attr_int("ignore_index"))), zero(t), weight);
  return {-cast(n.load(0, from), t) * weight, weight};
}

Meaning negative_log_likelihood_loss(const MeaningView& n) {
  std::string reduction = n.attr_string("reduction");
  if (reduction == "none") {
    auto out = n.index();
    return Compute{{{out, cast(loss_at(n, out).loss, n.dtype())}}};
  }
  auto over = MeaningView::index_of(n.shape(1)), again = MeaningView::index_of(n.shape(1));
  Expr sum = fold_all(FoldKind::Sum, over, loss_at(n, over).loss);
  if (reduction == "mean") sum = sum / fold_all(FoldKind::Sum, again, loss_at(n, again).weight);
  return Compute{{{{}, cast(sum, n.dtype())}}};
}

}  // namespace

Operator declare_negative_log_likelihood_loss() {
  return {.name = "NegativeLogLikelihoodLoss",
          .since = {12, 13, 22},
          .inputs = {{"input", kFloats}, {"target", kIndices}, {"weight", kFloats, InputSpec::Optional, 0}},
          .outputs = {{"loss"}},
          .attributes = {{"ignore_index", AttrKind::Int}, {"reduction", "mean"}},
          .infer = infer_loss,
          .meaning = negative_log_likelihood_loss};
}

}  // namespace cameo::ops
