// NegativeLogLikelihoodLoss: minus the input at each target's class, times the class's weight; ignored targets weigh
// nothing.
#include "frontend/ops/loss.h"
#include "frontend/ops/window.h"

namespace cameo::ops {
namespace {

struct Loss {
  Expr loss, weight;
};
/// A label that names no class ends the run, unless it is the ignored one, for which class 0 is read and not counted.
Loss loss_at(const MeaningView& n, std::span<const Expr> at) {
  DType t = accumulator(n.dtype());
  Expr target = cast(n.load(1, at), DType::i64), label = target;
  const bool ignores = n.has_attr("ignore_index");
  const Expr ignored = ignores ? eq(target, integer(n.attr_int("ignore_index"))) : boolean(false);
  if (ignores) label = select(ignored, integer(0), target);
  std::vector<Expr> from{at[0], label};
  from.insert(from.end(), at.begin() + 1, at.end());
  const Expr weight = n.has(2) ? cast(n.load(2, {label}), t) : one(t);
  const Expr loss = -cast(n.load_checked(0, from), t) * weight;
  return {select(ignored, zero(t), loss), select(ignored, zero(t), weight)};
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
