// Twister, of cameo's own: the numbers in [0, 1) that NumPy's RandomState(seed) draws, in the shape of X.
#include <random>

#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

void infer_twister(Infer& n) { n.output(0, DType::f64, n.shape()); }

Meaning twister_meaning(const MeaningView& n) {
  Opaque kernel{"twister"};
  kernel.numbers = {product(n.shape()).extent(), integer(n.attr_int("seed"))};
  kernel.host_only = true;
  return kernel;
}

std::vector<Tensor> twister_reference(const MeaningView& n, std::span<const Tensor> in) {
  std::mt19937 words(static_cast<uint32_t>(n.attr_int("seed")));
  Tensor y(DType::f64, in[0].dims());
  for (double& v : y.mutable_as<double>()) {
    const uint64_t high = words() >> 5, low = words() >> 6;
    v = static_cast<double>(high << 26 | low) * 0x1p-53;
  }
  return {y};
}

}  // namespace

Operator declare_twister() {
  return {.name = "Twister",
          .domain = "cameo",
          .since = {1},
          .inputs = {{"X"}},
          .attributes = {{"seed", 0}},
          .infer = infer_twister,
          .meaning = twister_meaning,
          .reference = twister_reference};
}

}  // namespace cameo::ops
