// Unique of com.microsoft: the elements of a row in the order of their first occurrences, which of them each element
// is, and how often each occurs.
#include "frontend/ops/defined.h"

namespace cameo::ops {
namespace {

void infer_microsoft_unique(Infer& n) {
  check_rank(n, 0, {1}, "a row");
  const Dim all = n.shape()[0], kept = n.fresh(all.upper());
  n.output(0, n.dtype(), {kept});
  n.output(1, DType::i64, {all});
  n.output(2, DType::i64, {kept});
}

Composite define_unique(const NodeView& n) {
  Build b(n);
  const std::vector<ValueId> y = b.ops("Unique", {b.in(0)}, {{"sorted", int64_t{0}}}, 4);
  return b.outputs({y[0], y[2], y[3]});
}

}  // namespace

Operator declare_microsoft_unique() {
  return {.name = "Unique",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"x", kNumbers}},
          .outputs = {{"y"}, {"idx"}, {"counts"}},
          .infer = infer_microsoft_unique,
          .meaning = defined<define_unique>};
}

}  // namespace cameo::ops
