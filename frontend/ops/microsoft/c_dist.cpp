// CDist: the distance of each row of A to each row of B.
#include <fmt/format.h>

#include "frontend/ops/defined.h"

namespace cameo::ops {
namespace {

Composite define_c_dist(const NodeView& n) {
  Build b(n);
  const std::string metric = n.attr_string("metric");
  if (metric != "euclidean" && metric != "sqeuclidean") refuse(n, fmt::format("by the metric `{}`", printable(metric)));
  check_rank(n, 0, {2}, "rows");
  check_rank(n, 1, {2}, "rows");
  const ValueId apart = b.sub(b.unsqueeze(b.in(0), {1}), b.unsqueeze(b.in(1), {0}));
  const ValueId squares = b.reduce("ReduceSum", b.mul(apart, apart), {2}, false);
  return b.outputs({metric == "euclidean" ? b.op("Sqrt", {squares}) : squares});
}

}  // namespace

Operator declare_microsoft_c_dist() {
  return {
      .name = "CDist",
      .domain = "com.microsoft",
      .since = {1},
      .inputs = {{"A", DTypes(DType::f32, DType::f64)}, {"B", DTypes(DType::f32, DType::f64), InputSpec::Required, 0}},
      .outputs = {{"C"}},
      .attributes = {{"metric", "sqeuclidean"}},
      .infer = infer_defined<define_c_dist>,
      .meaning = defined<define_c_dist>};
}

}  // namespace cameo::ops
