// GatherND: the last axis of `indices` holds tuples that point into the data, after `batch_dims` shared axes.
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

struct Tuples {
  int batch, length, outer;  // shared axes; indices in a tuple; axes of `indices` in front of the tuples
};
Tuples tuples(const NodeView& n) {
  int64_t batch = n.attr_int("batch_dims");
  if (n.rank(1) < 1 || n.rank(0) < 1 || batch < 0 || batch >= std::min(n.rank(0), n.rank(1)))
    n.fail(Code::E0302, "`GatherND` of " + to_string(n.type(0)) + " by " + to_string(n.type(1)) + " with " +
                            std::to_string(batch) + " batch axes");
  Dim length = n.shape(1).back();
  if (!length.is_static())
    n.fail(Code::E0404, "the last extent of `indices` is " + to_string(length) + ", not a number");
  if (length.value() < 1 || length.value() > n.rank(0) - batch)
    n.fail(Code::E0302, "tuples of " + to_string(length) + " indices into " + to_string(n.type(0)));
  return {static_cast<int>(batch), static_cast<int>(length.value()), n.rank(1) - 1};
}

void infer_gather_nd(Infer& n) {
  Tuples t = tuples(n);
  const Shape& data = n.shape(0);
  check_tuples(n, t.batch, t.length);
  Shape out(n.shape(1).begin(), n.shape(1).end() - 1);
  for (int d = 0; d < t.batch; ++d) out[d] = same_dim(n, out[d], data[d], "batch extents");
  out.insert(out.end(), data.begin() + t.batch + t.length, data.end());
  n.output(0, n.dtype(0), out);
}

Meaning gather_nd_meaning(const MeaningView& n) {
  Tuples t = tuples(n);
  OutputExpr out{n.index(), {}};
  std::vector<Expr> at(out.index.begin(), out.index.begin() + t.batch);
  std::vector<Expr> tuple(out.index.begin(), out.index.begin() + t.outer);
  tuple.push_back(integer(0));
  for (int k = 0; k < t.length; ++k) {
    tuple.back() = integer(k);
    at.push_back(wrap_index(n.load(1, tuple), n.shape(0)[t.batch + k]));
  }
  at.insert(at.end(), out.index.begin() + t.outer, out.index.end());
  out.value = n.load_checked(0, at);
  return Compute{{out}};
}

}  // namespace

Operator declare_gather_nd() {
  return {.name = "GatherND",
          .since = {11, 12, 13},
          .inputs = {{"data"}, {"indices", kInt64}},
          .attributes = {{"batch_dims", 0, 12}},
          .infer = infer_gather_nd,
          .meaning = gather_nd_meaning};
}

}  // namespace cameo::ops
