// What many operators ask of their operands: elements known when compiling (symbols included), axes that moved from an
// attribute to an input, scalars, wrapped indices, and the type that narrow floats accumulate in.
#pragma once
#include <algorithm>

#include "frontend/limits.h"
#include "frontend/operator.h"

namespace cameo::ops {

/// The elements of an integer operand as i64; E0404 when they are not known. An operand that decides a shape has at
/// most two an axis.
inline std::vector<Expr> elements(const NodeView& n, int input, int64_t most = 2 * kMaxRank) {
  std::vector<Expr> v;
  Dim count = product(n.shape(input));
  if (count.is_static() && count.value() > most)
    n.fail(Code::E0302, "`" + std::string(n.node().op->inputs[input].name) + "` has " + to_string(count) +
                            " elements, the most is " + std::to_string(most));
  if (auto known = n.content(input)) {
    for (Expr e : *known) v.push_back(cast(e, DType::i64));
  } else {
    for (int64_t e : n.ints(input)) v.push_back(integer(e));
  }
  return v;
}

/// An attribute that counts what stands along an axis: extents, steps, heads.
inline int64_t count_attr(const NodeView& n, std::string_view attr, int64_t least = 1) {
  int64_t count = n.attr_int(attr);
  if (count < least || count > kMaxStep)
    n.fail(Code::E0204, "`" + std::string(attr) + "` is " + std::to_string(count) + ", not " + std::to_string(least) +
                            " to " + std::to_string(kMaxStep));
  return count;
}

/// Integers of an input, or of the attribute that older versions have in its place; empty when neither is there.
inline std::vector<int64_t> ints_or_attr(const NodeView& n, int input, std::string_view attr) {
  if (n.has(input)) return n.ints(input);
  return n.has_attr(attr) ? n.attr_ints(attr) : std::vector<int64_t>{};
}

/// The bound of a computed extent; open where only what limits every dim limits it.
inline int64_t upper_of(Expr extent) {
  const Wide high = range_of(extent).high;
  return high < kLargestDim ? static_cast<int64_t>(high) : kOpen;
}

/// A dim of a computed extent; it keeps the bound of a dim in `known` that has the same extent.
inline Dim dim_of(Expr extent, const Shape& known = {}) {
  extent = simplify_index(extent);
  auto same = std::ranges::find(known, Dim(extent));
  return same == known.end() ? Dim(extent, upper_of(extent)) : *same;
}

/// A dim that two sources describe: the static one if there is one; E0302 when both are and they differ.
inline Dim same_dim(const NodeView& n, Dim a, Dim b, std::string_view what) {
  if (a.is_static() && b.is_static() && a != b)
    n.fail(Code::E0302, std::string(what) + " are " + to_string(a) + " and " + to_string(b));
  return a.is_static() ? a : b;
}

/// The one element of an operand: a constant where it is known, else a Load. `fallback` stands for an absent operand.
inline Expr scalar_operand(const MeaningView& n, int input, Expr fallback = {}) {
  if (!n.has(input)) return fallback;
  DType t = n.dtype(input);
  if (const Tensor* c = n.constant(input); c && c->size() == 1)
    return is_float(t) ? constant(t, c->get(0)) : integer(c->get_int(0), t);
  return n.load(input, std::vector<Expr>(n.rank(input), integer(0)));
}

/// An index of any integer type, counted from the end of `extent` when negative.
inline Expr wrap_index(Expr index, Dim extent) {
  Expr i = cast(index, DType::i64);
  return select(lt(i, integer(0)), i + extent.extent(), i);
}

/// Sums and products of 16-bit floats accumulate in f32.
inline DType accumulator(DType t) { return is_float(t) && row(t).bits == 16 ? DType::f32 : t; }

/// x * factor, in f64 for integers; x itself when the factor is 1.
inline Expr scaled(Expr x, double factor) {
  if (factor == 1) return x;
  return is_float(x.type()) ? x * factor : cast(cast(x, DType::f64) * factor, x.type());
}

}  // namespace cameo::ops
