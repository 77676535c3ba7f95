// Quantised tensors: where the scale and zero point of an element stand, and rounding into an integer type.
#pragma once
#include <fmt/format.h>

#include "frontend/ops/operands.h"

namespace cameo::ops {

inline constexpr DTypes kQuantized{DType::i8, DType::u8};
inline constexpr DTypes kNarrow{DType::u4,         DType::i4,     DType::u2,         DType::i2,    DType::f8e4m3fn,
                                DType::f8e4m3fnuz, DType::f8e5m2, DType::f8e5m2fnuz, DType::f4e2m1};

/// The shape of a scale or zero point of a tensor `of`: one for all, one an index of `axis`, or one a block along it.
inline void check_parameter(const NodeView& n, int input) {
  const Shape& x = n.shape(0);
  const Shape& p = n.shape(input);
  bool one = p.empty() || (p.size() == 1 && p[0].is_static(1));
  if (one) return;
  int axis = NodeView::axis(n.attr_int("axis"), n.rank(0));
  auto fits = [](const Dim& a, const Dim& b) { return !a.is_static() || !b.is_static() || a == b; };
  if (p.size() == 1 && fits(p[0], x[axis])) return;
  bool blocks = p.size() == x.size();
  for (size_t a = 0; blocks && a < x.size(); ++a) blocks = static_cast<int>(a) == axis || fits(p[a], x[a]);
  if (!blocks)
    n.fail(Code::E0302, fmt::format("`{}` is {} for {} and `axis` {}", n.node().op->inputs[input].name,
                                    to_string(n.type(input)), to_string(n.type(0)), axis));
}

inline std::vector<Expr> parameter_index(const NodeView& n, int input, std::span<const Expr> at) {
  const Shape& p = n.shape(input);
  if (p.empty()) return {};
  if (p.size() == 1 && p[0].is_static(1)) return {integer(0)};
  int axis = NodeView::axis(n.attr_int("axis"), n.rank(0));
  if (p.size() == 1) return {at[axis]};
  std::vector<Expr> index(at.begin(), at.end());
  Expr block = integer(n.attr_int("block_size"));
  if (block.is_const(0)) block = floor_div(n.shape(0)[axis].extent() + p[axis].extent() - integer(1), p[axis].extent());
  index[axis] = floor_div(at[axis], block);
  return index;
}

/// A zero point as `type`; the constant itself when it is one number that is known, so that a zero vanishes.
inline Expr zero_point(const MeaningView& n, int input, DType type, std::span<const Expr> index) {
  if (!n.has(input)) return zero(type);
  if (const Tensor* c = n.constant(input); c && c->size() == 1) return integer(c->get_int(0), type);
  return cast(n.load(input, index), type);
}

/// saturate(round(x) + zero), rounding half to even.
inline Expr quantized(Expr x, Expr zero, DType to) {
  Expr r = round(x);
  bool none = zero.is_const() && (is_float(zero.type()) ? zero.float_value() == 0 : zero.int_value() == 0);
  return cast(none ? r : r + cast(zero, x.type()), to);
}

/// Types that are known but cannot be computed with.
inline void check_runs(const NodeView& n, DType t) {
  if (!runs(t)) n.fail(Code::E0403, fmt::format("`{}` with elements of {}", n.node().op->name, name(t)));
}

}  // namespace cameo::ops
