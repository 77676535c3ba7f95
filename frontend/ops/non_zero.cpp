// NonZero: the indices of the elements that are not zero, in row-major order, one column an element. Each such element
// goes to the place that the number of those before it says; all others go to one place more, which is cut off.
#include "frontend/ir/by_parts.h"

namespace cameo::ops {
namespace {

void infer_non_zero(Infer& n) { n.output(0, DType::i64, {Dim(n.rank()), n.fresh(product(n.shape()).upper())}); }

ValueId is_zero(Build& b, ValueId x) {
  const DType t = b.type(x).dtype;
  if (is_complex(t)) return b.op("And", {is_zero(b, part_of(b, x, 0)), is_zero(b, part_of(b, x, 1))});
  return b.op("Equal", {x, b.cast(b.scalar(DType::i64, 0), t)});
}

/// The row-major indices of the elements that are not zero, in order.
ValueId kept_places(Build& b, ValueId x) {
  const ValueId flat = b.reshape(x, {-1}), keeps = b.op("Not", {is_zero(b, flat)}), ones = b.cast(keeps, DType::i64);
  const ValueId before = b.op("CumSum", {ones, b.scalar(DType::i64, 0)}, {{"exclusive", int64_t{1}}});
  const ValueId count = b.reduce("ReduceSum", ones, {0});
  b.graph().decide(count, Interval{0, product(b.type(x).shape).upper()});
  const ValueId to = b.op("Where", {keeps, before, count});
  const ValueId all =
      b.op("Range", {b.scalar(DType::i64, 0), b.squeeze(b.op("Shape", {flat}), {0}), b.scalar(DType::i64, 1)});
  const ValueId room = b.op("ConstantOfShape", {b.add(count, b.ints({1}))},
                            {{"value", std::make_shared<const Tensor>(Tensor::scalar(DType::i64, 0).reshaped({1}))}});
  const ValueId scattered = b.op("ScatterElements", {room, to, all});
  return b.op("Slice", {scattered, b.ints({0}), count, b.ints({0})});
}

Meaning non_zero_meaning(const MeaningView& n) {
  Build b(n);
  ValueId left = kept_places(b, b.in(0));
  if (n.rank() == 0)
    return b.outputs({b.op("ConstantOfShape", {b.concat({b.ints({0}), b.op("Shape", {left})}, 0)},
                           {{"value", std::make_shared<const Tensor>(Tensor::scalar(DType::i64, 0).reshaped({1}))}})});
  const ValueId shape = b.op("Shape", {b.in(0)});
  std::vector<ValueId> rows(n.rank());
  for (int d = n.rank(); d-- > 0;) {
    const ValueId extent = b.slice(shape, 0, d, d + 1);
    rows[d] = b.unsqueeze(d ? b.op("Mod", {left, extent}) : left, {0});
    if (d) left = b.div(left, extent);
  }
  return b.outputs({rows.size() == 1 ? rows[0] : b.concat(rows, 0)});
}

}  // namespace

Operator declare_non_zero() {
  return {.name = "NonZero",
          .since = {9, 13},
          .inputs = {{"X", kNumbers | kBool | kComplex}},
          .infer = infer_non_zero,
          .meaning = non_zero_meaning};
}

}  // namespace cameo::ops
