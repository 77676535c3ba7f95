// Squeeze: a View without the given axes of extent 1, or without all such axes.
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

void infer_squeeze(Infer& n) {
  bool all = !n.has(1) && !n.has_attr("axes");
  if (all && !is_static(n.shape()))
    n.fail(Code::E0404, "data is " + to_string(n.type(0)) + ": without axes, all extents must be known when compiling");
  std::vector<bool> gone(n.rank());
  for (int d = 0; d < n.rank(); ++d) gone[d] = all && n.shape()[d].is_static(1);
  for (int a : NodeView::axes(ints_or_attr(n, 1, "axes"), n.rank())) {
    const Dim& d = n.shape()[a];
    if (!n.agree(d, 1)) n.fail(Code::E0302, "axis " + std::to_string(a) + " of " + to_string(n.type(0)) + " is not 1");
    gone[a] = true;
  }
  Shape out;
  for (int d = 0; d < n.rank(); ++d)
    if (!gone[d]) out.push_back(n.shape()[d]);
  n.output(0, n.dtype(), out);
}

}  // namespace

Operator declare_squeeze() {
  return {.name = "Squeeze",
          .since = {1, 11, 13, 21, 23, 24, 25},
          .inputs = {{"data"}, {"axes", kInt64, InputSpec::Optional}},
          .outputs = {{"squeezed"}},
          .attributes = {{"axes", AttrKind::Ints}},
          .infer = infer_squeeze,
          .meaning = [](const MeaningView&) -> Meaning { return View{0}; }};
}

}  // namespace cameo::ops
