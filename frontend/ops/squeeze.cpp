// Squeeze: a View without the given axes of extent 1, or without all such axes: then the rank depends on which they
// are. An extent that only a run knows must be known not to be 1; one that is made of data, which nothing says before,
// is required not to be.
#include "frontend/ops/named_axes.h"

namespace cameo::ops {
namespace {

/// Whether it is made of elements of values alone, which the run reads or computes: their symbols are called NAME:PLACE
/// (Graph::decide).
bool is_of_data(Expr extent) {
  bool all = true;
  visit({&extent, 1}, [&](Expr part) {
    all = all && (part.op() != Op::Symbol || symbol_name(part).find(':') != std::string_view::npos);
  });
  return all;
}

void infer_squeeze(Infer& n) {
  const bool all = !n.has(1) && !n.has_attr("axes");
  const auto may_be_one = [](const Dim& d) { return !d.is_static() && range_of(d.extent()).low < 2; };
  std::vector<Expr> gone = named_axes(n, 1, n.rank(), false);
  for (int d = 0; d < n.rank(); ++d) {
    const Dim& dim = n.shape()[d];
    if (all) gone[d] = boolean(dim.is_static(1));
    if (all && may_be_one(dim)) {
      if (!is_of_data(dim.extent()))
        n.fail(Code::E0404,
               "data is " + to_string(n.type(0)) + ": without axes, all extents must be known when compiling",
               "or known to be 2 at least");
      n.require(logical_not(eq(dim.extent(), integer(1))));
    }
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
