// RequantShift, which PULP's quantlib writes behind integer sums and Deeploy deploys: a multiplier and a summand for
// each channel, a division that rounds half up, and the range of integers of `n_levels_out` levels.
//   cameo build network.onnx --custom requant_shift.cpp
#include <cameo/op.h>

using namespace cameo::op;

static Scalar requant_shift(const Element& e) {
  const double levels = e.number("n_levels_out"), low = e.number("signed") != 0 ? -(levels / 2) : 0;
  const Scalar x = e.in(0), mul = e.in(1), add = e.in(2);
  const Scalar scaled = floor((x * mul + add) / e.number("div") + 0.5);
  return min(max(scaled, low), low + levels - 1);
}

CAMEO_OPERATORS({.name = "RequantShift",
                 .inputs = {{"x", floats}, {"mul", floats, required, 0}, {"add", floats, required, 0}},
                 .attributes = {{"div", Kind::tensor}, {"n_levels_out", Kind::tensor}, {"signed", Kind::tensor}},
                 .element = requant_shift})
