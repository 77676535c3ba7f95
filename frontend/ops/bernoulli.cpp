// Bernoulli: 1 with the probability that each element of the input says, else 0.
#include "frontend/ops/random.h"

namespace cameo::ops {
namespace {

void infer_bernoulli(Infer& n) { n.output(0, random_type(n, n.dtype(), kNumbers | kBool), n.shape()); }

Meaning bernoulli(const MeaningView& n) {
  const std::vector<Expr> index = n.index();
  const DType t = accumulator(n.dtype());
  const Expr number = random_unit(random_key(n), flatten(index, n.shape()), t);
  return Compute{{{index, cast(lt(number, cast(n.load(0, index), t)), n.out_dtype())}}};
}

}  // namespace

Operator declare_bernoulli() {
  return {.name = "Bernoulli",
          .since = {15, 22},
          .inputs = {{"input", kFloats}},
          .outputs = {{"output"}},
          .attributes = random_attributes({}),
          .infer = infer_bernoulli,
          .meaning = bernoulli};
}

}  // namespace cameo::ops
