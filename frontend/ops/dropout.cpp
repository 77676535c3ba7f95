// Dropout as inference runs it: the data unchanged and a mask of ones.
#include "frontend/ir/operator.h"

namespace cameo::ops {
namespace {

void infer_dropout(Infer& n) {
  bool training = n.has(2) && n.ints(2).at(0) != 0;
  if (training && !(n.has(1) && n.floats(1).at(0) == 0))
    n.fail(Code::E0402, "`Dropout` in training mode drops at random", "export the model for inference");
  n.output(0, n.type(0));
  n.output(1, n.version() < 10 ? n.dtype() : DType::b1, n.shape());
}

Meaning dropout_meaning(const MeaningView& n) {
  if (n.output_count() < 2) return View{0};
  OutputExpr data{n.index(0), {}}, mask{n.index(1), one(n.out_dtype(1))};
  data.value = n.load(0, data.index);
  return Compute{{data, mask}};
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
