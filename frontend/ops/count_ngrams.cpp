// CountNgrams, of cameo's own: how often each row of a pool [n-grams, n] stands in each row of X [rows, elements], with
// 0 to `skips` elements left out between any two.
#include "frontend/ops/window.h"

namespace cameo::ops {
namespace {

void infer_count_ngrams(Infer& n) {
  if (n.rank(0) != 2 || n.rank(1) != 2 || !n.shape(1)[1].is_static())
    n.fail(Code::E0302, "n-grams of " + to_string(n.type(1)) + " in " + to_string(n.type(0)));
  n.output(0, DType::f32, {n.shape(0)[0], n.shape(1)[0]});
}

Meaning count_ngrams(const MeaningView& n) {
  OutputExpr out{n.index(), constant(DType::f32, 0)};
  const int64_t length = n.shape(1)[1].value(), skips = length > 1 ? n.attr_int("skips") : 0;
  for (int64_t step = 1; step <= skips + 1; ++step) {
    const Expr room = n.shape(0)[1].extent() - integer((length - 1) * step);
    const Expr first = var(simplify_index(max(room, integer(0))));
    Expr equal = boolean(true);
    for (int64_t k = 0; k < length; ++k)
      equal = logical_and(
          equal, eq(n.load(0, {out.index[0], first + integer(k * step)}), n.load(1, {out.index[1], integer(k)})));
    out.value = out.value + fold(FoldKind::Sum, first, cast(equal, DType::f32));
  }
  return Compute{{out}};
}

}  // namespace

Operator declare_count_ngrams() {
  return {.name = "CountNgrams",
          .domain = "cameo",
          .since = {1},
          .inputs = {{"X", kIndices | kStrings}, {"pool", kIndices | kStrings, InputSpec::Required, 0}},
          .outputs = {{"counts"}},
          .attributes = {{"skips", 0}},
          .infer = infer_count_ngrams,
          .meaning = count_ngrams};
}

}  // namespace cameo::ops
