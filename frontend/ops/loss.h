// The two losses over class labels, their shapes and reductions.
#pragma once
#include <fmt/format.h>

#include "frontend/ops/operands.h"

namespace cameo::ops {

/// Labels that are known name classes, [0, C), or are ignored.
inline void check_labels(const NodeView& n) {
  const Dim classes = n.shape(0)[1];
  const bool ignores = n.has_attr("ignore_index");
  const Tensor* known = n.constant(1);
  for (int64_t i = 0; known && i < known->size(); ++i)
    if (int64_t label = known->get_int(i);
        !(ignores && label == n.attr_int("ignore_index")) && (label < 0 || !n.fits(label + 1, classes)))
      n.fail(Code::E0304, fmt::format("`{}` holds the label {}, which is outside of {} classes",
                                      n.node().op->inputs[1].name, label, to_string(classes)));
}

inline void infer_loss(Infer& n) {
  if (n.rank(0) < 2 || n.rank(1) != n.rank(0) - 1)
    n.fail(Code::E0302, fmt::format("scores are {} and labels {}", to_string(n.type(0)), to_string(n.type(1))));
  Shape s = n.shape(0);
  s.erase(s.begin() + 1);
  for (size_t a = 0; a < s.size(); ++a) s[a] = same_dim(n, s[a], n.shape(1)[a], "extents of scores and labels");
  check_labels(n);
  check_shape(n, 2, {n.shape(0)[1]}, "a weight for each class");
  std::string reduction = n.attr_string("reduction");
  if (reduction != "none" && reduction != "sum" && reduction != "mean")
    n.fail(Code::E0204, fmt::format("`reduction` is `{}`", printable(reduction)), "none, sum or mean");
  n.output(0, n.dtype(), reduction == "none" ? s : Shape{});
}

}  // namespace cameo::ops
