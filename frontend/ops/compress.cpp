// Compress: the slices along an axis, or the elements of the flattened input, whose condition holds: a Gather by
// NonZero.
#include "frontend/ir/build.h"

namespace cameo::ops {
namespace {

Dim candidates(const NodeView& n) {
  return n.has_attr("axis") ? n.dim(0, static_cast<int>(n.attr_int("axis"))) : product(n.shape());
}

void infer_compress(Infer& n) {
  if (n.rank(1) != 1) n.fail(Code::E0302, "`condition` is " + to_string(n.type(1)) + ", not a vector");
  Dim from = candidates(n), asked = n.shape(1)[0];
  if (!n.fits(asked, from))
    n.fail(Code::E0302, "a condition of " + to_string(asked) + " elements for " + to_string(from));
  Dim kept = n.fresh(std::min(from.upper(), asked.upper()));
  Shape out{kept};
  if (n.has_attr("axis")) {
    out = n.shape();
    out[NodeView::axis(n.attr_int("axis"), n.rank())] = kept;
  }
  n.output(0, n.dtype(), out);
}

Meaning compress_meaning(const MeaningView& n) {
  Build b(n);
  ValueId kept = b.squeeze(b.op("NonZero", {b.in(1)}), {0});
  if (n.has_attr("axis")) return b.outputs({b.gather(b.in(0), kept, NodeView::axis(n.attr_int("axis"), n.rank()))});
  return b.outputs({b.gather(b.reshape(b.in(0), {-1}), kept)});
}

}  // namespace

Operator declare_compress() {
  return {.name = "Compress",
          .since = {9, 11, 28},
          .inputs = {{"input"}, {"condition", kBool}},
          .attributes = {{"axis", AttrKind::Int}},
          .infer = infer_compress,
          .meaning = compress_meaning};
}

}  // namespace cameo::ops
