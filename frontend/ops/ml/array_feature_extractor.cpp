// ArrayFeatureExtractor: the elements of the last axis that the indices say; of a vector, a row of them.
#include "frontend/ops/ml/rows.h"

namespace cameo::ops {
namespace {

void infer_array_feature_extractor(Infer& n) {
  if (n.rank() < 1) n.fail(Code::E0302, "X is a scalar");
  check_indices(n, 1, n.shape().back());
  Shape s = n.shape();
  s.back() = product(n.shape(1));
  if (n.rank() == 1) s.insert(s.begin(), 1);
  n.output(0, n.dtype(), s);
}

Meaning array_feature_extractor(const MeaningView& n) {
  Build b(n);
  const ValueId rows = n.rank() == 1 ? b.unsqueeze(b.in(0), {0}) : b.in(0);
  return b.outputs({b.gather(rows, b.reshape(b.in(1), {-1}), -1)});
}

}  // namespace

Operator declare_ml_array_feature_extractor() {
  return {.name = "ArrayFeatureExtractor",
          .domain = "ai.onnx.ml",
          .since = {1},
          .inputs = {{"X", kAllButComplex}, {"Y", kInt64}},
          .outputs = {{"Z"}},
          .infer = infer_array_feature_extractor,
          .meaning = array_feature_extractor};
}

}  // namespace cameo::ops
