// Unsqueeze: a View with axes of extent 1 put in at the given places of the output.
#include "frontend/ops/named_axes.h"

namespace cameo::ops {
namespace {

void infer_unsqueeze(Infer& n) {
  const bool counts = n.has(1) && is_static(n.shape(1));
  const int64_t count = counts ? product(n.shape(1)).value() : static_cast<int64_t>(ints_or_attr(n, 1, "axes").size());
  if (count > kMaxRank)
    n.fail(Code::E0405, "`axes` has " + std::to_string(count) + " entries, the most is " + std::to_string(kMaxRank));
  const int rank = n.rank() + static_cast<int>(count);
  const std::vector<Expr> inserted = named_axes(n, 1, rank, false), places = places_of_kept(inserted);
  Shape out;
  for (int d = 0; d < rank; ++d) {
    Expr extent = integer(1);
    for (int own = n.rank(); own-- > 0;)
      extent =
          select(logical_and(logical_not(inserted[d]), eq(places[d], integer(own))), n.shape()[own].extent(), extent);
    out.push_back(dim_of(extent));
  }
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
