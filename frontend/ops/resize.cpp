// Resize: reads scales, sizes, roi, axes and policy of all its versions into a ResizeForm, which resize.h gives a
// meaning.
#include "frontend/ops/resize.h"

namespace cameo::ops {
namespace {

constexpr int kRoi = 1, kScales = 2, kSizes = 3;

bool given(const NodeView& n, int input) {
  return n.has(input) && !(n.rank(input) == 1 && n.shape(input)[0].is_static(0));
}

std::vector<int> resized_axes(const NodeView& n) {
  if (n.has_attr("axes")) return NodeView::axes(n.attr_ints("axes"), n.rank());
  std::vector<int> all(n.rank());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void check_count(const NodeView& n, std::string_view what, size_t count, size_t wanted) {
  if (count != wanted)
    n.fail(Code::E0302,
           fmt::format("`{}` has {} entries for {} axes of {}", what, count, wanted, to_string(n.type(0))));
}

void read_scales(const NodeView& n, int input, std::vector<ResizeAxis>& axes) {
  std::vector<double> scales = n.floats(input);
  check_count(n, "scales", scales.size(), axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    axes[i].scale = checked_scale(n, scales[i]);
    axes[i].out = scaled_extent(axes[i].in, axes[i].scale);
    axes[i].exact = is_quotient(axes[i].in, axes[i].out, axes[i].scale);
  }
}

/// The extent that is nearest to `scale` times the axis'. `most_scale` is not less than any run's scale.
Dim rounded_extent(const NodeView& n, const ResizeAxis& a, Expr scale, double most_scale, bool larger, size_t count) {
  if (scale.is_const() && a.in.is_static())
    return whole_extent(std::floor(static_cast<float>(scale.float_value()) * static_cast<float>(a.in.value()) + 0.5f));
  const Expr rounded = cast(floor(scale * cast(a.in.extent(), DType::f32) + 0.5), DType::i64);
  if (!larger) return Dim(min(max(rounded, integer(0)), a.out.extent()));
  if (is_open(rounded)) return n.bounded(Dim(rounded), count);
  const double most = std::ceil(most_scale * static_cast<double>(a.in.upper()) + 1);
  return Dim(min(max(rounded, integer(0)), integer(whole_extent(static_cast<float>(most)))));
}

/// One scale for all axes, so that no extent is larger (or smaller) than asked for.
void keep_aspect_ratio(const NodeView& n, std::vector<ResizeAxis>& axes, bool larger) {
  Expr scale = axes[0].scale;
  double most_scale = 1;
  for (const ResizeAxis& a : axes) {
    const auto least = static_cast<double>(std::max<Wide>(range_of(a.in.extent()).low, 1));
    most_scale = std::max(most_scale, static_cast<double>(a.out.upper()) / least);
    if (!scale.is_const() || !a.scale.is_const())
      scale = larger ? max(scale, a.scale) : min(scale, a.scale);
    else if (larger ? scale.float_value() < a.scale.float_value() : scale.float_value() > a.scale.float_value())
      scale = a.scale;
  }
  for (ResizeAxis& a : axes) {
    a.scale = scale;
    a.out = rounded_extent(n, a, scale, most_scale, larger, axes.size());
    a.exact = is_quotient(a.in, a.out, scale);
  }
}

void read_sizes(const NodeView& n, std::vector<ResizeAxis>& axes) {
  auto sizes = n.content(kSizes);
  if (!sizes) n.ints(kSizes);  // says that it must be known
  check_count(n, "sizes", sizes->size(), axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& a = axes[i];
    Expr size = (*sizes)[i];
    if (size.is_const() && (size.int_value() < 0 || size.int_value() > kMaxExtent))
      n.fail(Code::E0304, fmt::format("`sizes` holds {}, not 0 to {}", size.int_value(), kMaxExtent));
    a.out = size == a.in.extent() ? a.in : given_dim(n, size, sizes->size(), "sizes");
    a.exact = boolean(true);
    a.scale = quotient(a.in, a.out);
  }
  std::string policy = n.attr_string("keep_aspect_ratio_policy");
  if (policy == "stretch" || axes.empty()) return;
  if (policy != "not_larger" && policy != "not_smaller")
    n.fail(Code::E0204, fmt::format("`keep_aspect_ratio_policy` is `{}`", printable(policy)));
  keep_aspect_ratio(n, axes, policy == "not_smaller");
}

void read_roi(const NodeView& n, std::vector<ResizeAxis>& axes) {
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

ResizeForm read_attributes(const NodeView& n) {
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

ResizeForm form_of(const NodeView& n) {
  ResizeForm f = read_attributes(n);
  for (int a : resized_axes(n)) f.axes.push_back({.axis = a, .in = n.shape()[a], .out = n.shape()[a]});
  int scales = n.version() == 10 ? 1 : kScales;
  if (n.version() > 10 && given(n, scales) && given(n, kSizes))
    n.fail(Code::E0203, "`Resize` has both `scales` and `sizes`", "with --lenient `sizes` counts");
  if (given(n, scales))
    read_scales(n, scales, f.axes);
  else if (n.version() > 10 && given(n, kSizes))
    read_sizes(n, f.axes);
  else
    n.fail(Code::E0203, "`Resize` has neither `scales` nor `sizes`");
  bool crop = f.transformation == "tf_crop_and_resize";
  if (crop) read_roi(n, f.axes);
  std::erase_if(f.axes, [](const ResizeAxis& a) {
    return a.exact.is_const(1) && a.in == a.out && is_number(a.roi_begin, 0) && is_number(a.roi_length, 1);
  });
  check_form(n, f);
  return f;
}

void infer_resize(Infer& n) {
  Shape s = n.shape();
  for (const ResizeAxis& a : form_of(n).axes) {
    s[a.axis] = a.out;
    if (!n.may_hold(logical_or(lt(integer(0), a.in.extent()), eq(a.out.extent(), integer(0)))))
      n.fail(Code::E0302,
             fmt::format("X is {}: axis {} has no elements for {}", to_string(n.type(0)), a.axis, to_string(a.out)));
  }
  n.output(0, n.dtype(), s);
}

Meaning resize(const MeaningView& n) { return Interpolation(n, form_of(n)).meaning(); }

}  // namespace

Operator declare_resize() {
  return {.name = "Resize",
          .since = {10, 11, 13, 18, 19},
          .inputs = {{"X", kNumbers | kBool},
                     {"roi", kFloats, InputSpec::Optional},
                     {"scales", DTypes(DType::f32), InputSpec::Optional},
                     {"sizes", kInt64, InputSpec::Optional}},
          .attributes = {{"antialias", 0, 18},
                         {"axes", AttrKind::Ints, 18},
                         {"coordinate_transformation_mode", "half_pixel", 11},
                         {"cubic_coeff_a", -0.75f, 11},
                         {"exclude_outside", 0, 11},
                         {"extrapolation_value", 0.f, 11},
                         {"keep_aspect_ratio_policy", "stretch", 18},
                         {"mode", "nearest"},
                         {"nearest_mode", "round_prefer_floor", 11}},
          .infer = infer_resize,
          .meaning = resize};
}

}  // namespace cameo::ops
