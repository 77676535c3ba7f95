// Tile: the input repeated along each axis.
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

/// One number an axis; in version 1 for one axis, which is an input too.
std::vector<Expr> repeats_of(const NodeView& n) {
  if (n.version() >= 6) return elements(n, 1);
  std::vector<Expr> repeats(n.rank(), integer(1));
  if (!n.has(2) || n.floats(1).size() != 1 || n.floats(2).size() != 1)
    n.fail(Code::E0203, "`Tile` takes one number of tiles and one axis");
  const auto axis = static_cast<int64_t>(n.floats(2)[0]);
  repeats[NodeView::axis(axis, n.rank())] = integer(static_cast<int64_t>(n.floats(1)[0]));
  return repeats;
}

void infer_tile(Infer& n) {
  std::vector<Expr> repeats = repeats_of(n);
  if (static_cast<int>(repeats.size()) != n.rank())
    n.fail(Code::E0302, "`repeats` has " + std::to_string(repeats.size()) + " elements for " + to_string(n.type(0)));
  Shape out;
  for (int d = 0; d < n.rank(); ++d) {
    out.push_back(n.shape()[d] * given_dim(n, repeats[d], repeats.size(), "repeats"));
  }
  n.output(0, n.dtype(), out);
}

Meaning tile_meaning(const MeaningView& n) {
  OutputExpr out{n.index(), {}};
  std::vector<Expr> at;
  for (int d = 0; d < n.rank(); ++d) {
    const Dim& whole = n.shape()[d];
    at.push_back(whole == n.out_shape()[d] ? out.index[d]
                 : whole.is_static(1)      ? integer(0)
                                           : mod(out.index[d], whole.extent()));
  }
  out.value = n.load(0, at);
  return Compute{{out}};
}

}  // namespace

Operator declare_tile() {
  return {.name = "Tile",
          .since = {1, 6, 13},
          .inputs = {{"input"}, {"repeats"}, {"axis", kTensors, InputSpec::Optional}},
          .infer = infer_tile,
          .meaning = tile_meaning};
}

}  // namespace cameo::ops
