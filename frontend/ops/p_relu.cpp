// PRelu: x, or slope * x below zero; the slope broadcasts to x, or (up to opset 6) is one a channel.
#include "frontend/ir/operator.h"

namespace cameo::ops {
namespace {

bool by_channel(const NodeView& n) {
  return n.version() < 7 && n.rank(0) > 1 && n.rank(1) == 1 && !n.shape(1)[0].is_static(1);
}

void infer_p_relu(Infer& n) {
  bool fits = n.rank(1) <= n.rank(0);
  if (by_channel(n))
    fits = n.agree(n.shape(0)[1], n.shape(1)[0]);
  else
    for (int d = 0; fits && d < n.rank(1); ++d) {
      const Expr own = n.dim(1, -1 - d).extent(), whole = n.dim(0, -1 - d).extent();
      fits = n.may_hold(logical_or(eq(own, integer(1)), eq(own, whole)));
    }
  if (!fits)
    n.fail(Code::E0302,
           "a slope of shape " + to_string(n.shape(1)) + " does not broadcast to " + to_string(n.shape(0)));
  n.output(0, n.type(0));
}

Meaning p_relu_meaning(const MeaningView& n) {
  OutputExpr out{n.index(), {}};
  Expr x = n.load(0, out.index);
  Expr slope = by_channel(n) ? n.load(1, {out.index[1]}) : n.load_broadcast(1, out.index);
  out.value = select(lt(x, zero(x.type())), slope * x, x);
  return Compute{{out}};
}

}  // namespace

Operator declare_p_relu() {
  return {.name = "PRelu",
          .since = {1, 6, 7, 9, 16},
          .inputs = {{"X", kNumbers}, {"slope", kNumbers, InputSpec::Required, 0}},
          .infer = infer_p_relu,
          .meaning = p_relu_meaning};
}

}  // namespace cameo::ops
