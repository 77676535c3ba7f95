// The two losses over class labels, their shapes and reductions.
#pragma once
#include <fmt/format.h>

#include "frontend/ops/operands.h"

namespace cameo::ops {

inline void infer_loss(Infer& n) {
  if (n.rank(0) < 2 || n.rank(1) != n.rank(0) - 1)
    n.fail(Code::E0302, fmt::format("scores are {} and labels {}", to_string(n.type(0)), to_string(n.type(1))));
  Shape s = n.shape(0);
  s.erase(s.begin() + 1);
  for (size_t a = 0; a < s.size(); ++a) s[a] = same_dim(n, s[a], n.shape(1)[a], "extents of scores and labels");
  std::string reduction = n.attr_string("reduction");
  if (reduction != "none" && reduction != "sum" && reduction != "mean")
    n.fail(Code::E0204, fmt::format("`reduction` is `{}`", printable(reduction)), "none, sum or mean");
  n.output(0, n.dtype(), reduction == "none" ? s : Shape{});
}

}  // namespace cameo::ops
