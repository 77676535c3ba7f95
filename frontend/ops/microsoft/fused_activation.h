// The activations that operators of com.microsoft have inside, by the names of ai.onnx's operators.
#pragma once
#include <fmt/format.h>

#include <functional>

#include "frontend/ops/defined.h"

namespace cameo::ops {

/// What an activation's attribute is, which is the `place`-th that it has; nothing: its default.
using ActivationParameter = std::function<std::optional<double>(size_t place, std::string_view name)>;

inline ValueId fused_activation(const NodeView& n, Build& b, ValueId x, const ActivationParameter& parameter) {
  struct Row {
    std::string_view name;
    std::vector<std::string_view> attrs;
  };
  static const Row kRows[] = {{"Relu", {}},
                              {"Tanh", {}},
                              {"Sigmoid", {}},
                              {"Softplus", {}},
                              {"Softsign", {}},
                              {"HardSwish", {}},
                              {"LeakyRelu", {"alpha"}},
                              {"ThresholdedRelu", {"alpha"}},
                              {"Elu", {"alpha"}},
                              {"HardSigmoid", {"alpha", "beta"}},
                              {"Selu", {"alpha", "gamma"}}};
  const std::string name = n.has_attr("activation") ? n.attr_string("activation") : "";
  if (name.empty()) return x;
  if (name == "Clip") {
    const auto bound = [&](size_t place, std::string_view which) {
      const auto v = parameter(place, which);
      return v ? b.like(x, *v) : ValueId{};
    };
    return b.op("Clip", {x, bound(0, "alpha"), bound(1, "beta")});
  }
  const auto found = std::ranges::find(kRows, std::string_view(name), &Row::name);
  if (found == std::end(kRows)) refuse(n, fmt::format("with the activation `{}`", printable(name)));
  Attrs attrs;
  for (size_t i = 0; i < found->attrs.size(); ++i)
    if (const auto v = parameter(i, found->attrs[i])) attrs.emplace(found->attrs[i], *v);
  return b.op(name, {x}, std::move(attrs));
}

}  // namespace cameo::ops
