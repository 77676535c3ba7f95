// Dropout: the data unchanged and a mask of ones, as inference runs it. In training mode an element is dropped where a
// number in [0, 1) is less than the ratio, and what stays is scaled up; the numbers are those of NumPy's
// RandomState(seed), 0 where there is no seed.
#include "frontend/ir/build.h"
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

constexpr int kRatio = 1, kTraining = 2;

/// Whether nothing is ever dropped: it is known not to train, or the ratio to be 0.
bool drops_nothing(const NodeView& n) {
  if (!n.has(kTraining)) return true;
  const Tensor *mode = n.constant(kTraining), *ratio = n.constant(kRatio);
  return (mode && mode->size() == 1 && mode->get_int(0) == 0) || (ratio && ratio->size() == 1 && ratio->get(0) == 0);
}

void infer_dropout(Infer& n) {
  check_scalar(n, kRatio);
  check_scalar(n, kTraining);
  n.output(0, n.type(0));
  n.output(1, n.version() < 10 ? n.dtype() : DType::b1, n.shape());
}

Meaning dropping(const MeaningView& n) {
  Build b(n);
  const DType t = accumulator(n.dtype());
  const ValueId numbers = b.graph().add(get_operator("Twister", "cameo"), {b.in(0)},
                                        {{"seed", n.has_attr("seed") ? n.attr_int("seed") : 0}})[0];
  const ValueId trains = b.reshape(b.in(kTraining), {});
  const ValueId given = b.in(kRatio) ? b.reshape(b.in(kRatio), {}) : b.scalar(DType::f32, n.attr_float("ratio"));
  const ValueId ratio = b.op("Where", {trains, b.cast(given, DType::f64), b.scalar(DType::f64, 0)});
  const ValueId stays = b.op("GreaterOrEqual", {numbers, ratio});
  const ValueId scale = b.cast(b.div(b.like(ratio, 1), b.sub(b.like(ratio, 1), ratio)), t);
  const ValueId y = b.op("Where", {stays, b.mul(b.cast(b.in(0), t), scale), b.scalar(t, 0)});
  return b.outputs({b.cast(y, n.dtype()), stays});
}

Meaning dropout_meaning(const MeaningView& n) {
  if (!drops_nothing(n)) return dropping(n);
  if (n.output_count() < 2) return View{0};
  const std::vector<Expr> index = n.index(0);
  return Compute{{{index, n.load(0, index)}, {n.index(1), one(n.out_dtype(1))}}};
}

}  // namespace

Operator declare_dropout() {
  return {.name = "Dropout",
          .since = {1, 6, 7, 10, 12, 13, 22},
          .inputs = {{"data", kFloats},
                     {"ratio", kFloats, InputSpec::Optional},
                     {"training_mode", kBool, InputSpec::Optional}},
          .outputs = {{"output"}, {"mask", OutputSpec::Optional}},
          .attributes = {{"is_test", 0}, {"ratio", 0.5f}, {"seed", AttrKind::Int, 12}},
          .infer = infer_dropout,
          .meaning = dropout_meaning};
}

}  // namespace cameo::ops
