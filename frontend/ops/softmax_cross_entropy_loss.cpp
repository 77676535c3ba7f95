// SoftmaxCrossEntropyLoss: the negative log likelihood loss of the scores' LogSoftmax over the classes.
#include "frontend/ir/build.h"
#include "frontend/ops/loss.h"

namespace cameo::ops {
namespace {

void infer_softmax_cross_entropy_loss(Infer& n) {
  infer_loss(n);
  n.output(1, n.type(0));
}

Meaning softmax_cross_entropy_loss(const MeaningView& n) {
  Build b(n);
  Attrs attrs{{"reduction", n.attr_string("reduction")}};
  if (n.has_attr("ignore_index")) attrs["ignore_index"] = n.attr_int("ignore_index");
  ValueId log_prob = b.op("LogSoftmax", {b.in(0)}, {{"axis", int64_t{1}}});
  return b.outputs({b.op("NegativeLogLikelihoodLoss", {log_prob, b.in(1), b.in(2)}, attrs), log_prob});
}

}  // namespace

Operator declare_softmax_cross_entropy_loss() {
  return {.name = "SoftmaxCrossEntropyLoss",
          .since = {12, 13},
          .inputs = {{"scores", kFloats}, {"labels", kIndices}, {"weights", kFloats, InputSpec::Optional, 0}},
          .outputs = {{"output"}, {"log_prob", OutputSpec::Optional}},
          .attributes = {{"ignore_index", AttrKind::Int}, {"reduction", "mean"}},
          .infer = infer_softmax_cross_entropy_loss,
          .meaning = softmax_cross_entropy_loss};
}

}  // namespace cameo::ops
