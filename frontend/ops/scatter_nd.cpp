// ScatterND: the last axis of `indices` holds tuples that say where slices of `updates` go.
#include "frontend/ops/scatter.h"

namespace cameo::ops {
namespace {

int tuple_length(const NodeView& n) {
  if (n.rank(1) < 1) n.fail(Code::E0302, "`indices` is a scalar");
  Dim length = n.shape(1).back();
  if (!length.is_static())
    n.fail(Code::E0404, "the last extent of `indices` is " + to_string(length) + ", not a number");
  if (length.value() > n.rank(0))
    n.fail(Code::E0302, "tuples of " + to_string(length) + " indices into " + to_string(n.type(0)));
  return static_cast<int>(length.value());
}

void infer_scatter_nd(Infer& n) {
  int length = tuple_length(n);
  Shape updates(n.shape(1).begin(), n.shape(1).end() - 1);
  updates.insert(updates.end(), n.shape(0).begin() + length, n.shape(0).end());
  bool fits = n.rank(2) == static_cast<int>(updates.size());
  for (int d = 0; fits && d < n.rank(2); ++d) fits = n.agree(updates[d], n.shape(2)[d]);
  if (!fits) n.fail(Code::E0302, "`updates` is " + to_string(n.type(2)) + " instead of " + to_string(updates));
  check_tuples(n, 0, length);
  scatter::combine_of(n);
  n.output(0, n.type(0));
}

Meaning scatter_nd_meaning(const MeaningView& n) {
  int length = tuple_length(n);
  Scatter s;
  s.start = scatter::unchanged(n);
  s.over = MeaningView::index_of(n.shape(2));
  std::vector<Expr> tuple(s.over.begin(), s.over.begin() + n.rank(1) - 1);
  tuple.push_back(integer(0));
  for (int k = 0; k < length; ++k) {
    tuple.back() = integer(k);
    s.to.push_back(wrap_index(n.load(1, tuple), n.shape(0)[k]));
  }
  s.to.insert(s.to.end(), s.over.begin() + n.rank(1) - 1, s.over.end());
  s.update = n.load(2, s.over);
  s.combine = scatter::combine_of(n);
  return s;
}

}  // namespace

Operator declare_scatter_nd() {
  return {.name = "ScatterND",
          .since = {11, 13, 16, 18},
          .inputs = {{"data"}, {"indices", kInt64}, {"updates", kTensors, InputSpec::Required, 0}},
          .attributes = {{"reduction", "none", 16}},
          .infer = infer_scatter_nd,
          .meaning = scatter_nd_meaning};
}

}  // namespace cameo::ops
