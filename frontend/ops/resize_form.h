// What Resize and Interpolate read in the same way: which axes, `roi`, and the attributes of all versions. And how a
// Resize becomes an Interpolate: where only a run knows the scales, it computes the extents.
#pragma once
#include "frontend/ir/build.h"
#include "frontend/ops/operands.h"
#include "frontend/ops/resize.h"

namespace cameo::ops {

inline constexpr int kRoi = 1, kScales = 2, kSizes = 3;

inline bool given(const NodeView& n, int input) {
  return n.has(input) && !(n.rank(input) == 1 && n.shape(input)[0].is_static(0));
}

inline std::vector<int> resized_axes(const NodeView& n) {
  if (n.has_attr("axes")) return NodeView::axes(n.attr_ints("axes"), n.rank());
  std::vector<int> all(n.rank());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

inline void check_count(const NodeView& n, std::string_view what, size_t count, size_t wanted) {
  if (count != wanted)
    n.fail(Code::E0302,
           fmt::format("`{}` has {} entries for {} axes of {}", what, count, wanted, to_string(n.type(0))));
}

inline void read_roi(const NodeView& n, std::vector<ResizeAxis>& axes) {
  if (!given(n, kRoi)) n.fail(Code::E0302, "`Resize` with `tf_crop_and_resize` needs `roi`");
  const int64_t count = static_cast<int64_t>(axes.size());
  if (n.rank(kRoi) != 1 || !n.agree(n.shape(kRoi)[0], 2 * count))
    n.fail(Code::E0302,
           fmt::format("`roi` is {} for {} axes of {}", to_string(n.type(kRoi)), count, to_string(n.type(0))));
  const Tensor* known = n.constant(kRoi);
  for (int64_t i = 0; i < count; ++i) {
    ResizeAxis& a = axes[i];
    if (known) {
      const float begin = static_cast<float>(known->get(i)), end = static_cast<float>(known->get(count + i));
      a.roi_begin = constant(DType::f32, begin);
      a.roi_length = constant(DType::f32, end - begin);
      a.roi_middle = constant(DType::f32, 0.5 * (begin + end));
    } else {
      const auto element = [&](int64_t at) {
        return cast(load(kRoi, n.dtype(kRoi), std::vector{integer(at)}, zero(n.dtype(kRoi))), DType::f32);
      };
      a.roi_begin = element(i);
      a.roi_length = element(count + i) - a.roi_begin;
      a.roi_middle = (a.roi_begin + element(count + i)) * 0.5;
    }
  }
}

inline ResizeForm read_attributes(const NodeView& n) {
  ResizeForm f;
  f.mode = n.attr_string("mode");
  if (n.version() == 10) {
    f.transformation = "asymmetric", f.nearest = "simple";
  } else {
    f.transformation = n.attr_string("coordinate_transformation_mode");
    f.nearest = n.attr_string("nearest_mode");
    f.cubic_a = n.attr_float("cubic_coeff_a");
    f.extrapolation = n.attr_float("extrapolation_value");
    f.exclude_outside = n.attr_int("exclude_outside");
    f.antialias = n.attr_int("antialias");
  }
  auto one_of = [&](std::string_view what, std::string_view value, std::initializer_list<std::string_view> known) {
    if (std::find(known.begin(), known.end(), value) == known.end())
      n.fail(Code::E0204, fmt::format("`{}` is `{}`", what, printable(value)));
  };
  one_of("mode", f.mode, {"nearest", "linear", "cubic"});
  if (n.version() > 10) one_of("nearest_mode", f.nearest, {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"});
  one_of("coordinate_transformation_mode", f.transformation,
         {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
          "tf_half_pixel_for_nn", "tf_crop_and_resize"});
  return f;
}

/// Scales that only a run knows: one for each of so many axes.
inline void check_scales(const NodeView& n, int input, size_t axes) {
  if (n.rank(input) != 1 || !n.agree(n.shape(input)[0], static_cast<int64_t>(axes)))
    n.fail(Code::E0302,
           fmt::format("`scales` is {} for {} axes of {}", to_string(n.type(input)), axes, to_string(n.type(0))));
}

/// X at the scales, one for each of `axes`, as an Interpolate.
inline Meaning interpolate_at(Build& b, ValueId x, ValueId roi, ValueId scales, const std::vector<int>& axes,
                              const ResizeForm& f) {
  const std::vector<int64_t> named(axes.begin(), axes.end());
  const ValueId extents = b.cast(b.gather(b.op("Shape", {x}), b.ints(named)), DType::f32);
  const ValueId sizes = b.cast(b.op("Floor", {b.mul(extents, b.cast(scales, DType::f32))}), DType::i64);
  b.graph().decide(sizes);
  return b.outputs(b.graph().add(get_operator("Interpolate", "cameo"), {x, roi, scales, sizes},
                                 {{"antialias", int64_t{f.antialias}},
                                  {"axes", named},
                                  {"coordinate_transformation_mode", f.transformation},
                                  {"cubic_coeff_a", f.cubic_a},
                                  {"exclude_outside", int64_t{f.exclude_outside}},
                                  {"extrapolation_value", f.extrapolation},
                                  {"mode", f.mode},
                                  {"nearest_mode", f.nearest}}));
}

/// Elements along an axis that one of the output is made of.
inline double taps_of(const ResizeForm& f, const ResizeAxis& a) {
  const double reach = f.mode == "cubic" ? 2 : 1;
  const double wider = static_cast<double>(a.in.estimate()) / static_cast<double>(a.out.estimate());
  return 2 * std::ceil(reach * (f.antialias ? std::max(wider, 1.) : 1));
}

/// Whether interpolating axis by axis, the last one first, reads fewer elements than all taps of an element at once:
/// t * u of them for t and u taps of two axes, against u for each row that the input has, and t.
inline bool is_separable(const ResizeForm& f, DType t) {
  if ((t != DType::f32 && t != DType::f64) || f.mode == "nearest" || f.transformation == "tf_crop_and_resize" ||
      f.axes.size() < 2)
    return false;
  const ResizeAxis &outer = f.axes[f.axes.size() - 2], &last = f.axes.back();
  const double rows = static_cast<double>(outer.in.estimate()) / static_cast<double>(outer.out.estimate());
  const double of_outer = taps_of(f, outer), of_last = taps_of(f, last);
  return of_last * rows + of_outer < of_last * of_outer;
}

/// Resizes of one axis each, the last one first. Each rounds as all at once would, where that sums one axis inside of
/// the other. `extents`: whether axes have sizes, which are known then, or scales.
inline Meaning resize_by_axes(Build& b, const ResizeForm& f, bool extents) {
  ValueId x = b.in(0);
  for (size_t i = f.axes.size(); i-- > 0;) {
    const ResizeAxis& a = f.axes[i];
    const float scale[] = {static_cast<float>(a.scale.float_value())};
    const ValueId scales = extents ? ValueId() : b.graph().constant(Tensor::of<float>(DType::f32, {1}, scale));
    const ValueId sizes = extents ? b.ints({a.out.value()}) : ValueId();
    x = b.op("Resize", {x, ValueId(), scales, sizes},
             {{"antialias", int64_t{f.antialias}},
              {"axes", std::vector<int64_t>{a.axis}},
              {"coordinate_transformation_mode", f.transformation},
              {"cubic_coeff_a", f.cubic_a},
              {"exclude_outside", int64_t{f.exclude_outside}},
              {"mode", f.mode}});
  }
  return b.outputs({x});
}

}  // namespace cameo::ops
