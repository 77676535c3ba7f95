// Interpolation, for Resize and Upsample. Each resized axis maps an output position to a coordinate of the input and
// reads a few taps around it, one axis inside of the other. Where the scale is the quotient of the two extents the
// coordinate is a fraction of integers, (slope * o + offset) / over, so that floors are exact and stay index
// arithmetic; else it is an f32.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <tuple>

#include "frontend/ops/window.h"

namespace cameo::ops {

/// Numbers are f32: constants where they are known, else of sizes or of data.
struct ResizeAxis {
  int axis = 0;
  Expr scale = one(DType::f32);
  Expr exact = boolean(false);  // whether the scale is out / in
  Dim in, out;
  Expr roi_begin = zero(DType::f32), roi_length = one(DType::f32), roi_middle = constant(DType::f32, 0.5);
};

struct ResizeForm {
  std::vector<ResizeAxis> axes;  // only those that are resized
  std::string mode = "nearest", transformation = "half_pixel", nearest = "round_prefer_floor";
  // `nearest` may be `simple`, what the first versions mean: floor, but ceil along an axis that shrinks
  double cubic_a = -0.75, extrapolation = 0;
  bool exclude_outside = false, antialias = false;
};

inline bool is_number(Expr e, double v) { return e.is_const() && e.float_value() == v; }

inline Expr checked_scale(const NodeView& n, double scale) {
  if (!(scale > 0 && scale <= kMaxStep))
    n.fail(Code::E0304, fmt::format("`scales` holds {}, not a number above 0 and up to {}", scale, kMaxStep));
  return constant(DType::f32, scale);
}

/// A rounded extent as an integer; what is too large stays so, and is refused where its tensor is made.
inline int64_t whole_extent(float extent) { return static_cast<int64_t>(std::min(extent, 2.f * kMaxExtent)); }

/// The output's extent for a scale, as onnx's own shape rule computes it: in f32.
inline Dim scaled_extent(const Dim& in, Expr factor) {
  const float scale = static_cast<float>(factor.float_value());
  if (in.is_static()) return whole_extent(std::floor(static_cast<float>(in.value()) * scale));
  if (scale == std::floor(scale)) return in * Dim(static_cast<int64_t>(scale));
  const int64_t upper =
      in.upper() == kOpen ? kMaxExtent : whole_extent(std::ceil(static_cast<float>(in.upper()) * scale));
  Expr scaled = cast(floor(cast(in.extent(), DType::f32) * scale), DType::i64);
  return Dim(min(max(scaled, integer(0)), integer(upper)));  // says what no range says of floating numbers
}

/// out / in, and 1 of an axis without elements.
inline Expr quotient(const Dim& in, const Dim& out) {
  if (in == out) return one(DType::f32);
  if (!in.is_static() || !out.is_static()) {
    const Expr f32_in = cast(in.extent(), DType::f32), f32_out = cast(out.extent(), DType::f32);
    return select(simplify_index(lt(integer(0), in.extent())), f32_out / f32_in, one(DType::f32));
  }
  const float over = static_cast<float>(in.value());
  return over > 0 ? constant(DType::f32, static_cast<float>(out.value()) / over) : one(DType::f32);
}

inline Expr is_quotient(const Dim& in, const Dim& out, Expr scale) {
  const Expr has_elements = lt(integer(0), in.extent());
  if (!scale.is_const()) return logical_and(has_elements, eq(quotient(in, out), scale));
  const double number = scale.float_value();
  if (in == out && number == 1) return boolean(true);
  if (in.is_static() && out.is_static())
    return logical_and(has_elements, boolean(quotient(in, out).float_value() == number));
  return boolean(number == std::floor(number) && in * Dim(static_cast<int64_t>(number)) == out);
}

/// What an interpolation writes out, and the positions along an axis, counted in quarters of an element, have limits.
inline void check_form(const NodeView& n, const ResizeForm& form) {
  if (form.mode != "nearest") check_neighbours(n, form.mode == "cubic" ? 4 : 2, form.axes.size());
  for (const ResizeAxis& a : form.axes) std::ignore = Dim(4) * a.in * a.out;  // throws beyond 64 bits
}

/// Where an output position reads: the element at or before it, the fraction beyond it, and whether it lies outside.
struct Coordinate {
  Expr floor, fraction;
  Expr nearest;
  Expr outside;  // null: never
};

class Transformation {
 public:
  Transformation(const ResizeForm& form, const ResizeAxis& axis, Expr o, DType t)
      : form_(form), a_(axis), o_(o), type_(t) {
    nearest_ = form.nearest;
    if (nearest_ == "simple" && axis.scale.is_const()) nearest_ = axis.scale.float_value() < 1 ? "ceil" : "floor";
  }

  Coordinate coordinate() const {
    if (a_.exact.is_const(0) || form_.transformation == "tf_crop_and_resize") return floating();
    if (a_.exact.is_const(1)) return fraction();
    const Coordinate f = fraction(), x = floating();
    const auto either = [&](Expr yes, Expr no) { return select(a_.exact, yes, no); };
    return {either(f.floor, x.floor), either(f.fraction, x.fraction), either(f.nearest, x.nearest), {}};
  }

 private:
  /// x = (slope * o + offset) / over in integers.
  Coordinate fraction() const {
    Expr in = a_.in.extent(), out = a_.out.extent(), two = integer(2), none = integer(0);
    Expr slope = in, offset = none, over = out;
    if (form_.transformation == "align_corners") {
      slope = in - integer(1);
      over = max(out - integer(1), integer(1));
    } else if (form_.transformation == "tf_half_pixel_for_nn") {
      // an axis that keeps its size is not resized
      slope = two * in, offset = select(eq(in, out), none, in), over = two * out;
    } else if (form_.transformation != "asymmetric") {  // half_pixel, and its variants for an exact scale
      slope = two * in, offset = in - out, over = two * out;
      if (form_.transformation == "pytorch_half_pixel") {  // a single element is the first one
        const Expr single = le(out, integer(1));
        slope = select(single, none, slope), offset = select(single, none, offset);
      }
    }
    reduce(slope, offset, over);
    Expr x = slope * o_ + offset;
    Expr f = cast(mod(x, over), type_) / cast(over, type_);
    return {divide(slope, offset, over), f, nearest(slope, offset, over), {}};
  }
  static void reduce(Expr& slope, Expr& offset, Expr& over) {
    if (!slope.is_const() || !offset.is_const() || !over.is_const()) return;
    int64_t g = std::gcd(std::gcd(slope.int_value(), offset.int_value()), over.int_value());
    for (Expr* e : {&slope, &offset, &over}) *e = integer(e->int_value() / std::max<int64_t>(g, 1));
  }
  /// floor((slope * o + offset) / over), with what slope and over share taken out first.
  Expr divide(Expr slope, Expr offset, Expr over) const {
    if (slope.is_const() && over.is_const() && slope.int_value() > 0) {
      Expr g = integer(std::gcd(slope.int_value(), over.int_value()));
      slope = floor_div(slope, g), offset = floor_div(offset, g), over = floor_div(over, g);
    }
    return floor_div(slope * o_ + offset, over);
  }
  Expr nearest(Expr slope, Expr offset, Expr over) const {
    Expr two = integer(2), less = over - integer(1);
    if (nearest_ == "simple") return select(shrinks(), divide(slope, offset + less, over), divide(slope, offset, over));
    if (nearest_ == "floor") return divide(slope, offset, over);
    if (nearest_ == "ceil") return divide(slope, offset + less, over);
    if (nearest_ == "round_prefer_ceil") return divide(two * slope, two * offset + over, two * over);
    return divide(two * slope, two * offset + less, two * over);
  }

  Coordinate floating() const {
    Expr x = original(cast(o_, DType::f32));
    Expr below = floor(x);
    Coordinate c{cast(below, DType::i64), cast(x - below, type_), cast(rounded(x), DType::i64), {}};
    if (form_.transformation == "tf_crop_and_resize")
      c.outside = logical_or(lt(x, zero(DType::f32)), lt(cast(a_.in.extent() - integer(1), DType::f32), x));
    return c;
  }
  Expr shrinks() const { return lt(a_.scale, one(DType::f32)); }
  Expr rounded(Expr x) const {
    if (nearest_ == "simple") return select(shrinks(), ceil(x), floor(x));
    if (nearest_ == "floor") return floor(x);
    if (nearest_ == "ceil") return ceil(x);
    if (nearest_ == "round_prefer_ceil") return floor(x + 0.5);
    return ceil(x - 0.5);
  }
  Expr original(Expr o) const {
    const std::string& t = form_.transformation;
    Expr in = cast(a_.in.extent(), DType::f32), out = cast(a_.out.extent(), DType::f32);
    Expr length = select(a_.exact, out, in * a_.scale);  // not a whole number where the scale is not out / in
    Expr single = le(a_.out.extent(), integer(1));
    if (t == "align_corners") return select(single, like(o, 0), o * (in - 1.) / (length - 1.));
    if (t == "asymmetric") return o / a_.scale;
    if (t == "tf_half_pixel_for_nn") return (o + 0.5) / a_.scale;
    if (t == "tf_crop_and_resize") {
      Expr first = (in - 1.) * a_.roi_begin;
      Expr step = (in - 1.) * a_.roi_length / (length - 1.);
      return select(single, (in - 1.) * a_.roi_middle, first + o * step);
    }
    Expr half_pixel = (o + 0.5) / a_.scale - 0.5;
    if (t == "half_pixel_symmetric") return in * 0.5 * (1. - out / length) + half_pixel;
    if (t == "pytorch_half_pixel") return select(single, like(o, 0), half_pixel);
    return half_pixel;
  }

  const ResizeForm& form_;
  const ResizeAxis& a_;
  Expr o_;
  DType type_;
  std::string nearest_;
};

class Interpolation {
 public:
  Interpolation(const MeaningView& n, ResizeForm form)
      : n_(n), form_(std::move(form)), type_(n.dtype() == DType::f64 ? DType::f64 : DType::f32) {}

  Meaning meaning() {
    out_ = n_.index();
    at_ = out_;
    Expr y = value(0);
    DType t = n_.dtype();
    if (is_integer(t) && y.type() != t) y = round(y);
    return Compute{{{out_, cast(y, t)}}};
  }

 private:
  /// The input at `at_` interpolated along the axes from number `k` on.
  Expr value(size_t k) {
    if (k == form_.axes.size()) return form_.mode == "nearest" ? n_.load(0, at_) : cast(n_.load(0, at_), type_);
    const ResizeAxis& a = form_.axes[k];
    Coordinate c = Transformation(form_, a, out_[a.axis], type_).coordinate();
    Expr y;
    if (form_.mode == "nearest")
      y = tap(k, c.nearest);
    else if (form_.antialias && !(a.scale.is_const() && a.scale.float_value() >= 1))
      y = stretched(k, c);
    else
      y = few_taps(k, c, weights(c.fraction));
    if (!c.outside) return y;
    return select(c.outside, constant(y.type(), form_.extrapolation), y);
  }
  Expr tap(size_t k, Expr index) {
    const ResizeAxis& a = form_.axes[k];
    at_[a.axis] = simplify_index(min(max(index, integer(0)), a.in.extent() - integer(1)));
    return value(k + 1);
  }
  std::vector<Expr> weights(Expr f) const {
    if (form_.mode == "linear") return {1. - f, f};
    return {cubic_far(f + 1.), cubic_near(f), cubic_near(1. - f), cubic_far(2. - f)};
  }
  Expr cubic_near(Expr d) const { return (d * (form_.cubic_a + 2) - (form_.cubic_a + 3)) * d * d + 1.; }
  Expr cubic_far(Expr d) const {
    double a = form_.cubic_a;
    return ((d * a - 5 * a) * d + 8 * a) * d - 4 * a;
  }
  Expr few_taps(size_t k, const Coordinate& c, std::vector<Expr> w) {
    int first = w.size() == 2 ? 0 : -1;
    Expr sum, total;
    for (size_t i = 0; i < w.size(); ++i) {
      Expr index = c.floor + integer(first + static_cast<int>(i));
      if (form_.exclude_outside) {
        w[i] = select(inside(index, form_.axes[k].in), w[i], zero(type_));
        total = i ? total + w[i] : w[i];
      }
      Expr term = tap(k, index) * w[i];
      sum = i ? sum + term : term;
    }
    return form_.exclude_outside ? sum / total : sum;
  }
  /// Where a filter begins that is as much wider as the image gets smaller: of `reach` elements to each side at
  /// scale 1. A size: for a scale that is data, that of the extents, which is not larger.
  static Expr start_of(const ResizeAxis& a, Expr shrunk, int reach) {
    if (!shrunk.is_const()) {
      const Expr least = simplify_index(integer(-reach) * max(a.in.extent(), integer(1)));
      return max(cast(floor(constant(DType::f32, -reach) / shrunk), DType::i64), least) + integer(1);
    }
    const float least = std::max(-reach / static_cast<float>(shrunk.float_value()), -4.f * kMaxExtent);
    return integer(static_cast<int64_t>(std::floor(least)) + 1);
  }
  /// Shrinking with antialias: the filter is as much wider as the image gets smaller, its weights made to add up to 1.
  Expr stretched(size_t k, const Coordinate& c) {
    const ResizeAxis& a = form_.axes[k];
    const Expr shrunk = a.scale.is_const() ? a.scale : min(a.scale, one(DType::f32));
    const Expr of_sizes = is_size(a.scale) || a.scale.is_const() ? shrunk : min(quotient(a.in, a.out), one(DType::f32));
    const Expr start = start_of(a, of_sizes, form_.mode == "linear" ? 1 : 2);
    const Expr factor = shrunk.is_const() ? constant(type_, shrunk.float_value()) : cast(shrunk, type_);
    auto weight = [&](Expr r) {
      Expr d = abs((cast(r + start, type_) - c.fraction) * factor);
      Expr w = form_.mode == "linear"
                   ? max(1. - d, zero(type_))
                   : select(le(d, one(type_)), cubic_near(d), select(lt(d, like(d, 2)), cubic_far(d), zero(type_)));
      return form_.exclude_outside ? select(inside(c.floor + r + start, a.in), w, zero(type_)) : w;
    };
    const Expr count = simplify_index(integer(2) - integer(2) * start), r = var(count), s = var(count);
    return fold(FoldKind::Sum, r, tap(k, c.floor + r + start) * weight(r)) / fold(FoldKind::Sum, s, weight(s));
  }

  const MeaningView& n_;
  ResizeForm form_;
  DType type_;
  std::vector<Expr> out_, at_;
};

}  // namespace cameo::ops
