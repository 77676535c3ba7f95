// Dropout as inference runs it: the data unchanged and a mask of ones. What would drop at random is refused, when
// compiling or, where only a run knows, by a fault.
#include "frontend/ops/operands.h"
#include "runtime/dtype.h"

namespace cameo::ops {
namespace {

constexpr int kRatio = 1, kTraining = 2;

/// Nothing where only a run knows.
std::optional<bool> is_training(const NodeView& n) {
  if (!n.has(kTraining)) return false;
  const Tensor* mode = n.constant(kTraining);
  return mode && mode->size() == 1 ? std::optional(mode->get_int(0) != 0) : std::nullopt;
}
std::optional<bool> has_ratio(const NodeView& n) {
  if (!n.has(kRatio)) return true;
  const Tensor* ratio = n.constant(kRatio);
  return ratio && ratio->size() == 1 ? std::optional(ratio->get(0) != 0) : std::nullopt;
}

void infer_dropout(Infer& n) {
  check_scalar(n, kRatio);
  check_scalar(n, kTraining);
  if (is_training(n) == true && has_ratio(n) == true)
    n.fail(Code::E0402, "`Dropout` in training mode drops at random", "export the model for inference");
  if (n.rank() == 0 && is_training(n) != false && has_ratio(n) != false)  // it has no index that a fault could blame
    n.fail(Code::E0402, "`Dropout` of a scalar, in a mode or at a ratio that only a run knows");
  n.output(0, n.type(0));
  n.output(1, n.version() < 10 ? n.dtype() : DType::b1, n.shape());
}

/// Where nothing is dropped, and a fault where something would be.
Expr kept(const MeaningView& n, std::vector<Expr> index) {
  if (is_training(n) == false || has_ratio(n) == false) return n.load(0, index);
  const Expr training = is_training(n) ? boolean(true) : scalar_operand(n, kTraining);
  const Expr drops =
      has_ratio(n) ? training : logical_and(training, ne(scalar_operand(n, kRatio), zero(n.dtype(kRatio))));
  index[0] = select(drops, integer(rt::kNoIndex), index[0]);
  return n.load_checked(0, index);
}

Meaning dropout_meaning(const MeaningView& n) {
  if (n.output_count() < 2 && (is_training(n) == false || has_ratio(n) == false)) return View{0};
  OutputExpr data{n.index(0), {}};
  data.value = kept(n, data.index);
  if (n.output_count() < 2) return Compute{{data}};
  return Compute{{data, {n.index(1), one(n.out_dtype(1))}}};
}

}  // namespace

Operator declare_dropout() {
  return {.name = "Dropout",
          .since = {7, 10, 12, 13, 22},
          .inputs = {{"data", kFloats},
                     {"ratio", kFloats, InputSpec::Optional},
                     {"training_mode", kBool, InputSpec::Optional}},
          .outputs = {{"output"}, {"mask", OutputSpec::Optional}},
          .attributes = {{"ratio", 0.5f}, {"seed", AttrKind::Int, 12}},
          .infer = infer_dropout,
          .meaning = dropout_meaning};
}

}  // namespace cameo::ops
