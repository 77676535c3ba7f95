// OneHot: `on` where the new axis stands at the index, `off` elsewhere and everywhere for an index out of range.
#include "frontend/ir/build.h"
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

/// Whether `depth` is a float that only a run knows: it counts once it has been computed as an integer.
bool is_computed(const NodeView& n) { return is_float(n.dtype(1)) && !n.constant(1); }

Dim depth(Infer& n) {
  if (!n.agree(product(n.shape(1)), 1))
    n.fail(Code::E0302, "`depth` is " + to_string(n.type(1)) + " instead of a scalar");
  if (is_computed(n)) return n.fresh();
  if (is_float(n.dtype(1))) {
    double d = n.floats(1)[0];
    if (!(d >= 0 && d <= static_cast<double>(kMaxExtent))) n.fail(Code::E0304, "`depth` is " + std::to_string(d));
    return Dim(static_cast<int64_t>(d));
  }
  return given_dim(n, elements(n, 1)[0], 1, "depth");
}

void infer_one_hot(Infer& n) {
  if (n.rank(2) != 1 || !n.agree(n.shape(2)[0], 2))
    n.fail(Code::E0302, "`values` is " + to_string(n.type(2)) + " instead of the pair off, on");
  Shape out = n.shape(0);
  out.insert(out.begin() + NodeView::axis(n.attr_int("axis"), n.rank(0) + 1), depth(n));
  n.output(0, n.dtype(2), out);
}

Meaning one_hot_meaning(const MeaningView& n) {
  if (is_computed(n)) {
    Build b(n);
    const ValueId depth = b.cast(b.reshape(b.in(1), {1}), DType::i64);
    b.graph().decide(depth);
    return b.outputs({b.op("OneHot", {b.in(0), depth, b.in(2)}, {{"axis", n.attr_int("axis")}})});
  }
  int axis = NodeView::axis(n.attr_int("axis"), n.rank(0) + 1);
  OutputExpr out{n.index(), {}};
  std::vector<Expr> at = out.index;
  at.erase(at.begin() + axis);
  Expr hot = wrap_index(n.load(0, at), n.out_shape()[axis]);
  out.value = select(eq(hot, out.index[axis]), n.load(2, {integer(1)}), n.load(2, {integer(0)}));
  return Compute{{out}};
}

}  // namespace

Operator declare_one_hot() {
  return {.name = "OneHot",
          .since = {9, 11, 28},
          .inputs = {{"indices", kNumbers}, {"depth", kNumbers}, {"values"}},
          .attributes = {{"axis", -1}},
          .infer = infer_one_hot,
          .meaning = one_hot_meaning};
}

}  // namespace cameo::ops
