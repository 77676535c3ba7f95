// Unsqueeze: a View with axes of extent 1 put in at the given places of the output.
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

void infer_unsqueeze(Infer& n) {
  std::vector<int64_t> axes = n.has(1) ? n.ints(1) : n.attr_ints("axes");
  if (axes.size() > kMaxRank)
    n.fail(Code::E0405,
           "`axes` has " + std::to_string(axes.size()) + " entries, the most is " + std::to_string(kMaxRank));
  int rank = n.rank() + static_cast<int>(axes.size());
  std::vector<bool> inserted(rank);
  for (int a : NodeView::axes(axes, rank)) inserted[a] = true;
  Shape out;
  size_t next = 0;
  for (int d = 0; d < rank; ++d) out.push_back(inserted[d] ? Dim(1) : n.shape()[next++]);
  n.output(0, n.dtype(), out);
}

}  // namespace

Operator declare_unsqueeze() {
  return {.name = "Unsqueeze",
          .since = {1, 11, 13, 21, 23, 24, 25},
          .inputs = {{"data"}, {"axes", kInt64, InputSpec::Optional}},
          .outputs = {{"expanded"}},
          .attributes = {{"axes", AttrKind::Ints}},
          .infer = infer_unsqueeze,
          .meaning = [](const MeaningView&) -> Meaning { return View{0}; }};
}

}  // namespace cameo::ops
