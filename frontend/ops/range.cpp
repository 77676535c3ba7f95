// Range: start + i * delta up to, and without, limit. Integers say how many as elements that sizes are made of do;
// floats that only a run knows by a count that it computes.
#include <cmath>

#include "frontend/ir/build.h"
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

bool is_known(const NodeView& n) { return !is_float(n.dtype()) || (n.constant(0) && n.constant(1) && n.constant(2)); }

Dim float_count(Infer& n) {
  if (!is_known(n)) return n.fresh();
  auto scalar = [&](int i) {
    std::vector<double> v = n.floats(i);
    if (v.size() != 1) n.fail(Code::E0302, "`Range` takes scalars, not " + to_string(n.type(i)));
    return v[0];
  };
  double start = scalar(0), limit = scalar(1), delta = scalar(2), count = std::ceil((limit - start) / delta);
  if (!(std::abs(count) < 0x1p53)) n.fail(Code::E0304, "`Range` without an end");
  return Dim(std::max<int64_t>(static_cast<int64_t>(count), 0));
}

Dim integer_count(const NodeView& n) {
  auto scalar = [&](int i) {
    std::vector<Expr> v = elements(n, i);
    if (v.size() != 1) n.fail(Code::E0302, "`Range` takes scalars, not " + to_string(n.type(i)));
    return v[0];
  };
  Expr start = scalar(0), limit = scalar(1), delta = scalar(2);
  if (delta.is_const(0)) n.fail(Code::E0304, "`Range` with a delta of 0");
  if (start.is_const() && limit.is_const() && delta.is_const()) {
    __int128 way = __int128{limit.int_value()} - start.int_value(), step = delta.int_value();
    __int128 count = way / step + (way % step != 0 && (way < 0) == (step < 0));  // rounds up
    if (count > kMaxExtent)
      n.fail(Code::E0405, "`Range` from " + to_string(start) + " to " + to_string(limit) + " by " + to_string(delta) +
                              ", more than fits into any memory");
    return Dim(std::max<int64_t>(static_cast<int64_t>(count), 0));
  }
  n.require(ne(delta, integer(0)));
  Expr count = -floor_div(start - limit, delta);  // rounds up
  return given_dim(n, max(delta.is_const(1) ? limit - start : count, integer(0)), 1, "limit");
}

/// The count is computed in f64, as the one that is known is.
Meaning counted_range(const MeaningView& n) {
  Build b(n);
  const auto in = [&](int i, DType t) { return b.cast(b.reshape(b.in(i), {}), t); };
  const ValueId way = b.sub(in(1, DType::f64), in(0, DType::f64));
  const ValueId steps = b.op("Ceil", {b.div(way, in(2, DType::f64))});
  const ValueId count = b.cast(b.op("Max", {steps, b.scalar(DType::f64, 0)}), DType::i64);
  b.graph().decide(count);
  const ValueId all = b.op("Range", {b.scalar(DType::i64, 0), count, b.scalar(DType::i64, 1)});
  const DType t = accumulator(n.dtype());
  return b.outputs({b.cast(b.add(in(0, t), b.mul(b.cast(all, t), in(2, t))), n.dtype())});
}

Meaning range_meaning(const MeaningView& n) {
  if (!is_known(n)) return counted_range(n);
  OutputExpr out{n.index(), {}};
  DType t = accumulator(n.dtype());
  Expr start = cast(scalar_operand(n, 0), t), delta = cast(scalar_operand(n, 2), t);
  out.value = cast(start + cast(out.index[0], t) * delta, n.dtype());
  return Compute{{out}};
}

}  // namespace

Operator declare_range() {
  return {.name = "Range",
          .since = {11, 27},
          .inputs = {{"start", kNumbers},
                     {"limit", kNumbers, InputSpec::Required, 0},
                     {"delta", kNumbers, InputSpec::Required, 0}},
          .attributes = {{"stash_type", 1, 27}},
          .infer = [](Infer& n) { n.output(0, n.dtype(), {is_float(n.dtype()) ? float_count(n) : integer_count(n)}); },
          .meaning = range_meaning};
}

}  // namespace cameo::ops
