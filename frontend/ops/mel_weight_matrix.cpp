// MelWeightMatrix: column m is a triangle over the spectrum's bins, between the edges m, m + 1 and m + 2 of equal steps
// on the mel scale, each rounded down to a bin.
#include "frontend/ops/signal.h"

namespace cameo::ops {
namespace {

void infer_mel_weight_matrix(Infer& n) {
  const Dim bands = given_dim(n, scalar_element(n, 0), 2, "num_mel_bins");
  const Dim length = given_dim(n, scalar_element(n, 1), 2, "dft_length");
  for (int input : {2, 3, 4}) check_scalar(n, input);
  n.output(0, output_datatype(n), {length / 2 + 1, bands});
}

Meaning mel_weight_matrix(const MeaningView& n) {
  auto out = n.index();
  constexpr DType t = DType::f64;
  auto scalar = [&](int input) { return cast(scalar_operand(n, input), t); };
  double log10 = std::log(10.);
  auto mel = [&](Expr hertz) { return log1p(hertz / 700.) * 2595. / log10; };
  Expr low = mel(scalar(3)), step = (mel(scalar(4)) - low) / (scalar(0) + 2.);
  auto edge = [&](Expr m) {
    Expr hertz = expm1((cast(m, t) * step + low) / 2595. * log10) * 700.;
    return floor((scalar(1) + 1.) * hertz / scalar(2));
  };
  Expr bin = cast(out[0], t), left = edge(out[1]), center = edge(out[1] + integer(1)),
       right = edge(out[1] + integer(2));
  Expr rises = logical_and(le(left, bin), le(bin, center)), falls = logical_and(le(center, bin), lt(bin, right));
  Expr rise = select(eq(left, center), one(t), (bin - left) / (center - left));
  Expr y = select(falls, (right - bin) / (right - center), select(rises, rise, zero(t)));
  return Compute{{{out, cast(y, n.out_dtype())}}};
}

}  // namespace

Operator declare_mel_weight_matrix() {
  return {.name = "MelWeightMatrix",
          .since = {17},
          .inputs = {{"num_mel_bins", kIndices},
                     {"dft_length", kIndices},
                     {"sample_rate", kIndices},
                     {"lower_edge_hertz", kFloats},
                     {"upper_edge_hertz", kFloats}},
          .outputs = {{"output"}},
          .attributes = {{"output_datatype", 1}},
          .infer = infer_mel_weight_matrix,
          .meaning = mel_weight_matrix};
}

}  // namespace cameo::ops
