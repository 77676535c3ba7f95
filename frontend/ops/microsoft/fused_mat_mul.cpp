// FusedMatMul: alpha * A B; of each of A and B the last two axes are swapped if asked for, or the first axis, which
// then is the rows', comes behind the batches.
#include <numeric>

#include "frontend/ops/defined.h"

namespace cameo::ops {
namespace {

ValueId turned_operand(Build& b, ValueId x, bool batch, bool matrix) {
  const int rank = b.type(x).rank();
  if (rank < 2 || !(batch || matrix)) return x;
  std::vector<int64_t> perm(static_cast<size_t>(rank));
  std::iota(perm.begin(), perm.end(), 0);
  if (batch) std::rotate(perm.begin(), perm.begin() + 1, perm.end() - 1);
  if (matrix) std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return b.transpose(x, perm);
}

Composite define_fused_mat_mul(const NodeView& n) {
  Build b(n);
  const ValueId left = turned_operand(b, b.in(0), n.attr_int("transBatchA"), n.attr_int("transA"));
  const ValueId right = turned_operand(b, b.in(1), n.attr_int("transBatchB"), n.attr_int("transB"));
  ValueId y = b.matmul(left, right);
  if (const double alpha = n.attr_float("alpha"); alpha != 1) y = b.mul(y, b.like(y, alpha));
  return b.outputs({y});
}

}  // namespace

Operator declare_microsoft_fused_mat_mul() {
  return {.name = "FusedMatMul",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"A", kFloats}, {"B", kFloats, InputSpec::Required, 0}},
          .attributes = {{"alpha", 1.f}, {"transA", 0}, {"transB", 0}, {"transBatchA", 0}, {"transBatchB", 0}},
          .infer = infer_defined<define_fused_mat_mul>,
          .meaning = defined<define_fused_mat_mul>};
}

}  // namespace cameo::ops
