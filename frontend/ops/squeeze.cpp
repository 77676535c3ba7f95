// Squeeze: a View without the given axes of extent 1, or without all such axes: then the rank depends on which they
// are, and what only a run knows must not be 1.
#include "frontend/ops/named_axes.h"

namespace cameo::ops {
namespace {

void infer_squeeze(Infer& n) {
  const bool all = !n.has(1) && !n.has_attr("axes");
  std::vector<Expr> gone = named_axes(n, 1, n.rank(), false);
  for (int d = 0; d < n.rank(); ++d) {
    const Dim& dim = n.shape()[d];
    if (all) gone[d] = boolean(dim.is_static(1));
    if (all && !dim.is_static()) n.require(logical_not(eq(dim.extent(), integer(1))));
    if (!n.may_hold(logical_or(logical_not(gone[d]), eq(dim.extent(), integer(1)))))
      n.fail(Code::E0302, "axis " + std::to_string(d) + " of " + to_string(n.type(0)) + " is not 1");
  }
  n.output(0, n.dtype(), kept_shape(n.shape(), gone, count_named(n, 1, gone)));
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
