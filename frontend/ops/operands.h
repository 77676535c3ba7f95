// What many operators ask of their operands: elements known when compiling (symbols included), axes that moved from an
// attribute to an input, scalars, wrapped indices, and the type that narrow floats accumulate in.
#pragma once
#include <algorithm>

#include "frontend/ir/limits.h"
#include "frontend/ir/operator.h"

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

inline bool are_known(const std::vector<Expr>& elements) {
  return std::ranges::all_of(elements, [](Expr e) { return e.is_const(); });
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

/// A dim of a computed extent.
inline Dim dim_of(Expr extent) { return Dim(simplify_index(extent)); }

/// A dim that an element of an operand gives, one of `count` such; E0304 when it is negative.
inline Dim given_dim(const NodeView& n, Expr element, size_t count, std::string_view what) {
  element = simplify_index(element);
  if (element.is_const() && element.int_value() < 0)
    n.fail(Code::E0304, "a dim of " + to_string(element) + " in `" + std::string(what) + "`");
  return n.bounded(Dim(element), count);
}

/// A dim that two sources describe: the static one if there is one; E0302 when both are and they differ.
inline Dim same_dim(const NodeView& n, Dim a, Dim b, std::string_view what) {
  if (!n.agree(a, b)) n.fail(Code::E0302, std::string(what) + " are " + to_string(a) + " and " + to_string(b));
  return a.is_static() ? a : b;
}

/// The least and the greatest of every `step`-th element from `first` on; empty where there is none, or none is known.
inline std::vector<int64_t> ends_of(const Tensor* known, int64_t first = 0, int64_t step = 1) {
  std::vector<int64_t> ends;
  for (int64_t i = first; known && i < known->size(); i += step) {
    const int64_t v = known->get_int(i);
    if (ends.empty()) ends = {v, v};
    ends = {std::min(ends[0], v), std::max(ends[1], v)};
  }
  return ends;
}

/// Indices that are known must lie in [-extent, extent) of the axis that they point into.
inline void check_index(const NodeView& n, int input, Dim extent, int64_t index) {
  if (!n.may_hold(lt(integer(index < 0 ? -(index + 1) : index), extent.extent())))
    n.fail(Code::E0304, "`" + std::string(n.node().op->inputs[input].name) + "` holds the index " +
                            std::to_string(index) + ", which is outside of an axis of " + to_string(extent));
}
inline void check_indices(const NodeView& n, int input, Dim extent) {
  const Expr none = eq(product(n.shape(input)).extent(), integer(0));
  if (!n.may_hold(logical_or(lt(integer(0), extent.extent()), none)))
    n.fail(Code::E0304, "`" + std::string(n.node().op->inputs[input].name) + "` is " + to_string(n.type(input)) +
                            ": indices into an axis without elements");
  for (int64_t index : ends_of(n.constant(input))) check_index(n, input, extent, index);
}

/// Indices of the data's rank, which point along one axis and stand for themselves along the others.
inline void check_elements(const NodeView& n, int axis) {
  check_indices(n, 1, n.shape(0)[axis]);
  for (int d = 0; d < n.rank(0); ++d)
    if (d != axis && !n.fits(n.shape(1)[d], n.shape(0)[d]))
      n.fail(Code::E0302, "`indices` is " + to_string(n.type(1)) + ", larger than `data`, " + to_string(n.type(0)) +
                              ", on axis " + std::to_string(d));
}
/// Tuples of indices, the last axis of input 1, into the data's axes from `first` on.
inline void check_tuples(const NodeView& n, int first, int length) {
  const Expr none = eq(product(n.shape(1)).extent(), integer(0));
  for (int k = 0; k < length; ++k)
    if (!n.may_hold(logical_or(lt(integer(0), n.shape(0)[first + k].extent()), none)))
      n.fail(Code::E0304, "`indices` is " + to_string(n.type(1)) + ": tuples into " + to_string(n.type(0)) +
                              ", which has an axis without elements");
  for (int k = 0; k < length; ++k)
    for (int64_t index : ends_of(n.constant(1), k, length)) check_index(n, 1, n.shape(0)[first + k], index);
}

/// A bias and its like, if it is there: `dims`, by name of what they stand for.
inline void check_shape(const NodeView& n, int input, const Shape& dims, std::string_view meaning) {
  if (!n.has(input)) return;
  bool fits = n.shape(input).size() == dims.size();
  for (size_t d = 0; fits && d < dims.size(); ++d) fits = n.agree(dims[d], n.shape(input)[d]);
  if (!fits)
    n.fail(Code::E0302, "`" + std::string(n.node().op->inputs[input].name) + "` is " + to_string(n.type(input)) +
                            ", it must be " + to_string(Type(n.dtype(input), dims)) + ": " + std::string(meaning));
}

/// An operand that stands for one number holds one.
inline void check_scalar(const NodeView& n, int input) {
  if (n.has(input) && !n.agree(product(n.shape(input)), 1))
    n.fail(Code::E0302, "`" + std::string(n.node().op->inputs[input].name) + "` is " + to_string(n.type(input)) +
                            ", it must hold one element");
}

/// Known lengths of sequences must lie in [0, steps].
inline void check_lengths(const NodeView& n, int input, Dim steps) {
  for (int64_t v : ends_of(n.constant(input)))
    if (v < 0 || !n.fits(v, steps))
      n.fail(Code::E0304, "`" + std::string(n.node().op->inputs[input].name) + "` holds " + std::to_string(v) +
                              " for sequences of " + to_string(steps));
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
