// Quantised tensors: where the scale and zero point of an element stand, and rounding into an integer type.
#pragma once
#include <fmt/format.h>

#include <cmath>

#include "frontend/ops/conversion.h"
#include "frontend/ops/operands.h"

namespace cameo::ops {

inline constexpr DTypes kQuantized{DType::i8, DType::u8};
inline constexpr DTypes kNarrow{DType::u4,         DType::i4,     DType::u2,         DType::i2,    DType::f8e4m3fn,
                                DType::f8e4m3fnuz, DType::f8e5m2, DType::f8e5m2fnuz, DType::f4e2m1};

/// Whether a scale or zero point is one for each block along the axis; of a tensor of one axis `block_size` says it.
inline bool has_blocks(const NodeView& n, int input) {
  return n.rank(input) == n.rank(0) && (n.rank(0) > 1 || n.attr_int("block_size") > 0);
}
/// The shape of a scale or zero point of a tensor `of`: one for all, one an index of `axis`, or one a block along it.
inline void check_parameter(const NodeView& n, int input) {
  const Shape& x = n.shape(0);
  const Shape& p = n.shape(input);
  bool one = p.empty() || (p.size() == 1 && p[0].is_static(1));
  if (one) return;
  int axis = NodeView::axis(n.attr_int("axis"), n.rank(0));
  int64_t block = n.attr_int("block_size");
  if (block < 0) n.fail(Code::E0204, fmt::format("`block_size` is {}", block));
  auto fits = [&](const Dim& a, const Dim& b) { return n.agree(a, b); };
  bool blocks = has_blocks(n, input);
  if (!blocks && p.size() == 1 && fits(p[0], x[axis])) return;
  for (size_t a = 0; blocks && a < x.size(); ++a) blocks = static_cast<int>(a) == axis || fits(p[a], x[a]);
  const Dim length = std::clamp<int64_t>(block, 1, kMaxExtent);
  if (blocks && block > 0) blocks = n.agree(p[axis], (x[axis] + length - Dim(1)) / length);
  if (!blocks)
    n.fail(Code::E0302,
           fmt::format("`{}` is {} for {} with `axis` {}{}", n.node().op->inputs[input].name, to_string(n.type(input)),
                       to_string(n.type(0)), axis, block ? fmt::format(" and `block_size` {}", block) : ""));
}
/// A zero point, input 2, stands for the elements that its scale does.
inline void check_zero_point(const NodeView& n) {
  if (!n.has(2)) return;
  check_parameter(n, 2);
  auto one = [&](int input) { return is_static(n.shape(input)) && product(n.shape(input)) == Dim(1); };
  bool alike = n.rank(1) == n.rank(2) || (one(1) && one(2));
  for (int d = 0; alike && d < n.rank(1) && d < n.rank(2); ++d) alike = n.agree(n.shape(1)[d], n.shape(2)[d]);
  if (!alike)
    n.fail(Code::E0302, fmt::format("`{}` is {}, but `{}` is {}", n.node().op->inputs[1].name, to_string(n.type(1)),
                                    n.node().op->inputs[2].name, to_string(n.type(2))));
}
/// A parameter of a whole tensor, or one for each of `count`.
inline void check_parameter(const NodeView& n, int input, const Dim& count, std::string_view meaning) {
  if (n.has(input) && n.rank(input) > 0 && !(n.rank(input) == 1 && n.shape(input)[0].is_static(1)))
    check_shape(n, input, {count}, meaning);
}

/// By which an input is known; those of a list have one name.
inline std::string_view name_of(const NodeView& n, int input) {
  const auto& inputs = n.node().op->inputs;
  return inputs[std::min(static_cast<size_t>(input), inputs.size() - 1)].name;
}

/// A known scale must be a positive number.
inline void check_scale(const NodeView& n, int input) {
  const Tensor* scale = n.constant(input);
  for (int64_t i = 0; scale && is_float(scale->dtype()) && i < scale->size(); ++i)
    if (double v = scale->get(i); !(v > 0) || std::isinf(v))
      n.fail(Code::E0304, fmt::format("`{}` holds {}: a scale is a positive number", name_of(n, input), v));
}

inline std::vector<Expr> parameter_index(const NodeView& n, int input, std::span<const Expr> at) {
  const Shape& p = n.shape(input);
  if (p.empty()) return {};
  if (p.size() == 1 && p[0].is_static(1)) return {integer(0)};
  int axis = NodeView::axis(n.attr_int("axis"), n.rank(0));
  if (!has_blocks(n, input)) return {at[axis]};
  std::vector<Expr> index(at.begin(), at.end());
  Expr block = integer(n.attr_int("block_size"));
  if (block.is_const(0)) block = floor_div(n.shape(0)[axis].extent() + p[axis].extent() - integer(1), p[axis].extent());
  index[axis] = floor_div(at[axis], block);
  return index;
}

/// A zero point as `type`; the constant itself when it is one number that is known, so that a zero vanishes.
inline Expr zero_point(const MeaningView& n, int input, DType type, std::span<const Expr> index) {
  if (!n.has(input)) return zero(type);
  if (const Tensor* c = n.constant(input); c && c->size() == 1) return constant(type, c->get(0));
  return cast(n.load(input, index), type);
}

/// saturate(round(x) + zero), rounding half to even. NaN, of which ONNX says nothing, gives the least value of every
/// type (a cast alone would give 0), so that i8 is u8 less 128 for all x, as in ONNX Runtime on x86.
inline Expr quantized(Expr x, Expr zero, DType to) {
  Expr r = round(x);
  bool none = zero.is_const() && (is_float(zero.type()) ? zero.float_value() == 0 : zero.int_value() == 0);
  if (!none) r = r + cast(zero, x.type());
  const Expr least = cast(lowest(to), x.type());
  return cast(is_signed(to) ? select(gt(r, least), r, least) : r, to);
}

/// round(x + zero) to a float of 8 bits; the zero point is there for its type alone, and holds zeros.
inline Expr quantized_to_float(Expr x, Expr zero, DType to, bool saturate) {
  const bool none = zero.is_const() && zero.float_value() == 0;
  return convert(none ? x : x + zero, to, saturate);
}

}  // namespace cameo::ops
