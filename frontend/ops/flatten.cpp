// Flatten: a View as a matrix, cut in front of `axis`.
#include "frontend/ir/operator.h"

namespace cameo::ops {
namespace {

void infer_flatten(Infer& n) {
  int64_t axis = n.attr_int("axis");
  if (axis < -n.rank() || axis > n.rank())
    n.fail(Code::E0304, "axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(n.rank()));
  size_t cut = static_cast<size_t>(axis < 0 ? axis + n.rank() : axis);
  n.output(0, n.dtype(), {product(n.shape(), 0, cut), product(n.shape(), cut)});
}

}  // namespace

Operator declare_flatten() {
  return {.name = "Flatten",
          .since = {1, 9, 11, 13, 21, 23, 24, 25},
          .inputs = {{"input"}},
          .attributes = {{"axis", 1}},
          .infer = infer_flatten,
          .meaning = [](const MeaningView&) -> Meaning { return View{0}; }};
}

}  // namespace cameo::ops
