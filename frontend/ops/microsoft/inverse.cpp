// Inverse: of square matrices, by elimination with the largest pivot of each column.
#include "frontend/ops/microsoft/sequences.h"

namespace cameo::ops {
namespace {

void check_square(const NodeView& n) {
  if (n.rank() < 2 || !n.agree(n.dim(0, -1), n.dim(0, -2)))
    n.fail(Code::E0302, fmt::format("X is {}: no square matrices", to_string(n.type(0))));
}

/// Step i of [batch, n, 2 n] rows: column i of the left half becomes that of a unit matrix.
Build::Step eliminate(Build& s, ValueId i, std::span<const ValueId> carried) {
  const ValueId m = carried[0], row = positions(s, extent_of(s, m, 1)), column = s.gather(m, i, 2);
  const ValueId below = s.op("Where", {s.op("Less", {row, i}), s.like(m, -1), s.op("Abs", {column})});
  const ValueId pivot = s.op("ArgMax", {below}, {{"axis", int64_t{1}}});  // [batch, 1]
  const ValueId from =
      s.op("Where", {s.op("Equal", {row, i}), pivot, s.op("Where", {s.op("Equal", {row, pivot}), i, row})});
  const ValueId swapped = s.op("GatherND", {m, s.unsqueeze(from, {2})}, {{"batch_dims", int64_t{1}}});
  const ValueId chosen = s.gather(swapped, i, 1);  // [batch, 2 n]
  const ValueId unit = s.div(chosen, s.unsqueeze(s.gather(chosen, i, 1), {1}));
  const ValueId is_chosen = s.unsqueeze(s.op("Equal", {row, i}), {1}), units = s.unsqueeze(unit, {1});
  const ValueId left = s.sub(swapped, s.mul(s.unsqueeze(s.gather(swapped, i, 2), {2}), units));
  return {{s.op("Where", {is_chosen, units, left})}, {}};
}

Composite define_inverse(const NodeView& n) {
  Build b(n);
  check_square(n);
  const ValueId x = b.cast(b.in(0), accumulator(n.dtype())), size = extent_of(b, x, n.rank() - 1);
  const ValueId rows = b.unsqueeze(size, {0}), shape = b.op("Shape", {x});
  const ValueId flat = b.op("Reshape", {x, b.concat({b.ints({-1}), rows, rows}, 0)});
  const ValueId unit = b.op("EyeLike", {b.op("ConstantOfShape", {b.concat({rows, rows}, 0)})},
                            {{"dtype", static_cast<int64_t>(b.type(x).dtype)}});
  const ValueId units = b.op("Expand", {unit, b.op("Shape", {flat})});
  const std::vector<ValueId> solved = b.loop(size, {b.concat({flat, units}, 2)}, eliminate);
  const ValueId y = b.op("Slice", {solved[0], rows, b.ints({INT64_MAX}), b.ints({2})});
  return b.outputs({b.cast(b.op("Reshape", {y, shape}), n.dtype())});
}

}  // namespace

Operator declare_microsoft_inverse() {
  return {.name = "Inverse",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"X", DTypes(DType::f16, DType::f32, DType::f64)}},
          .infer = infer_defined<define_inverse>,
          .meaning = defined<define_inverse>};
}

}  // namespace cameo::ops
