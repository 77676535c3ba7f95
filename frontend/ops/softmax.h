// The axes of Softmax and its kin: one axis since opset 13; before, all axes from `axis` on as if they were one.
#pragma once
#include "frontend/ir/build.h"
#include "frontend/ops/window.h"

namespace cameo::ops {

inline std::vector<int64_t> softmax_axes(const NodeView& n) {
  bool one = n.version() >= 13;
  int64_t axis = n.has_attr("axis") ? n.attr_int("axis") : one ? -1 : 1;
  if (!one && axis == n.rank()) return {};  // flattened to rows of one element
  int first = NodeView::axis(axis, n.rank());
  std::vector<int64_t> axes;
  for (int a = first; a < (one ? first + 1 : n.rank()); ++a) axes.push_back(a);
  return axes;
}

inline void infer_softmax(Infer& n) {
  if (n.rank() == 0) n.fail(Code::E0302, "the input is a scalar");
  softmax_axes(n);
  n.output(0, n.type(0));
}

}  // namespace cameo::ops
