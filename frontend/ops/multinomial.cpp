// Multinomial: classes drawn by the logarithms of their probabilities, up to a constant: of each class's logarithm and
// a number of its own from the Gumbel distribution, the greatest sum.
#include "frontend/ops/random.h"

namespace cameo::ops {
namespace {

void infer_multinomial(Infer& n) {
  if (n.rank() != 2) n.fail(Code::E0302, "`input` is " + to_string(n.type(0)) + ", not batch by classes");
  if (!n.may_hold(lt(integer(0), n.shape()[1].extent()))) n.fail(Code::E0302, "`Multinomial` of no classes");
  n.output(0, random_type(n, DType::i32, kIndices), {n.shape()[0], count_attr(n, "sample_size")});
}

Meaning multinomial(const MeaningView& n) {
  const std::vector<Expr> index = n.index();
  const DType t = accumulator(n.dtype());
  const Expr classes = n.shape()[1].extent(), c = var(classes);
  const Expr number = random_unit(random_key(n), flatten(index, n.out_shape()) * classes + c, t);
  const Expr gumbel = -log(-log(number + (t == DType::f64 ? 0x1p-54 : 0x1p-25)));
  const Expr score = cast(n.load(0, {index[0], c}), t) + gumbel;
  return Compute{{{index, cast(fold(FoldKind::ArgMax, c, score), n.out_dtype())}}};
}

}  // namespace

Operator declare_multinomial() {
  return {.name = "Multinomial",
          .since = {7, 22},
          .inputs = {{"input", kFloats}},
          .outputs = {{"output"}},
          .attributes = random_attributes({{"sample_size", 1}}),
          .infer = infer_multinomial,
          .meaning = multinomial};
}

}  // namespace cameo::ops
