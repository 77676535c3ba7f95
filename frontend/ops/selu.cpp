// Selu: gamma * x above zero, gamma * alpha * (exp(x) - 1) below.
#include "frontend/ir/operator.h"

namespace cameo::ops {
namespace {
/// In version 1 the defaults have fewer digits.
double selu_attr(const NodeView& n, std::string_view name, float first) {
  return n.version() < 6 && !n.has_attr(name) ? double{first} : n.attr_float(name);
}
}  // namespace

Operator declare_selu() {
  return {.name = "Selu",
          .since = {1, 6, 22},
          .inputs = {{"X", kFloats}},
          .attributes = {{"alpha", 1.67326319217681884765625f}, {"gamma", 1.05070102214813232421875f}},
          .infer = infer::same_as_first,
          .meaning = elementwise([](const MeaningView& n, Expr x) {
            const double alpha = selu_attr(n, "alpha", 1.6732f), gamma = selu_attr(n, "gamma", 1.0507f);
            return gamma * select(gt(x, zero(x.type())), x, alpha * expm1(x));
          })};
}

}  // namespace cameo::ops
