// Det: determinants of square matrices: the product of the pivots of an elimination that takes, column by column, the
// largest element that is left.
#include <fmt/format.h>

#include "frontend/ir/build.h"
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

void infer_det(Infer& n) {
  if (n.rank() < 2 || !n.agree(n.dim(0, -1), n.dim(0, -2)))
    n.fail(Code::E0302, fmt::format("X is {}, which are no square matrices", to_string(n.type(0))));
  n.output(0, n.dtype(), Shape(n.shape().begin(), n.shape().end() - 2));
}

/// One column of [batch, size, size]: the pivot's row and the column's own change places, and what stands in the column
/// below goes away. `determinants`, [batch, 1, 1], are the products of the pivots so far.
Build::Step eliminate(Build& b, ValueId column, ValueId matrices, ValueId determinants, ValueId places) {
  const ValueId none = b.like(matrices, 0);
  const ValueId below = b.op("LessOrEqual", {column, places});  // [size, 1], the column's row included
  const ValueId size =
      b.op("Where", {below, b.op("Abs", {b.gather(matrices, b.unsqueeze(column, {0}), 2)}), b.like(matrices, -1)});
  const ValueId pivot = b.op("ArgMax", {size}, {{"axis", int64_t{1}}});  // [batch, 1, 1]
  const ValueId is_pivot = b.op("Equal", {places, pivot}), is_column = b.op("Equal", {places, column});
  const ValueId from_pivot = b.reduce("ReduceSum", b.op("Where", {is_pivot, matrices, none}), {1});
  const ValueId own = b.gather(matrices, b.unsqueeze(column, {0}), 1);  // [batch, 1, size]
  const ValueId swapped = b.op("Where", {is_column, from_pivot, b.op("Where", {is_pivot, own, matrices})});
  const ValueId divisor = b.gather(from_pivot, b.unsqueeze(column, {0}), 2);  // [batch, 1, 1]
  const ValueId safe = b.op("Where", {b.op("Equal", {divisor, none}), b.like(matrices, 1), divisor});
  const ValueId factors = b.op(
      "Where", {b.op("Less", {column, places}), b.div(b.gather(swapped, b.unsqueeze(column, {0}), 2), safe), none});
  const ValueId moved = b.op("Where", {b.op("Equal", {pivot, column}), b.like(matrices, 1), b.like(matrices, -1)});
  return {{b.sub(swapped, b.mul(factors, from_pivot)), b.mul(determinants, b.mul(divisor, moved))}, {}};
}

Meaning det_meaning(const MeaningView& n) {
  if (n.dim(0, -1).is_static(0)) return Compute{{{n.index(), one(n.dtype())}}};
  Build b(n);
  const DType t = accumulator(n.dtype());
  const ValueId shape = b.op("Shape", {b.in(0)});
  const ValueId outer = b.slice(shape, 0, 0, n.rank() - 2), size = b.squeeze(b.slice(shape, 0, -1, INT64_MAX), {0});
  const ValueId batch = b.reduce("ReduceProd", outer, {0}), both = b.slice(shape, 0, n.rank() - 2, INT64_MAX);
  const Attrs zero_is_zero{{"allowzero", int64_t{1}}};
  const ValueId matrices = b.op("Reshape", {b.cast(b.in(0), t), b.concat({batch, both}, 0)}, zero_is_zero);
  const ValueId ones = b.op("Expand", {b.scalar(t, 1), b.concat({batch, b.ints({1, 1})}, 0)});
  const ValueId places = b.unsqueeze(b.op("Range", {b.scalar(DType::i64, 0), size, b.scalar(DType::i64, 1)}), {1});
  const ValueId product =
      b.loop(size, {matrices, ones}, [&](Build& body, ValueId column, std::span<const ValueId> state) {
        return eliminate(body, column, state[0], state[1], body.capture(places));
      })[1];
  return b.outputs({b.cast(b.op("Reshape", {product, outer}, zero_is_zero), n.dtype())});
}

}  // namespace

Operator declare_det() {
  return {.name = "Det", .since = {11, 22}, .inputs = {{"X", kFloats}}, .infer = infer_det, .meaning = det_meaning};
}

}  // namespace cameo::ops
