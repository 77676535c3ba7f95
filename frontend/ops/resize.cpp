// Resize: reads scales, sizes, roi, axes and policy of all its versions into a ResizeForm, which resize.h gives a
// meaning. Scales that only a run knows are an Interpolate's.
#include "frontend/ops/resize_form.h"

namespace cameo::ops {
namespace {

int scales_of(const NodeView& n) { return n.version() == 10 ? 1 : kScales; }

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

ResizeForm form_of(const NodeView& n) {
  ResizeForm f = read_attributes(n);
  for (int a : resized_axes(n)) f.axes.push_back({.axis = a, .in = n.shape()[a], .out = n.shape()[a]});
  const int scales = scales_of(n);
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

bool has_unknown_scales(const NodeView& n) {
  return given(n, scales_of(n)) && !n.constant(scales_of(n)) && !(n.version() > 10 && given(n, kSizes));
}

void infer_resize(Infer& n) {
  Shape s = n.shape();
  if (has_unknown_scales(n)) {
    const std::vector<int> axes = resized_axes(n);
    check_scales(n, scales_of(n), axes.size());
    for (int a : axes) s[a] = n.fresh();
    return n.output(0, n.dtype(), s);
  }
  for (const ResizeAxis& a : form_of(n).axes) {
    s[a.axis] = a.out;
    if (!n.may_hold(logical_or(lt(integer(0), a.in.extent()), eq(a.out.extent(), integer(0)))))
      n.fail(Code::E0302,
             fmt::format("X is {}: axis {} has no elements for {}", to_string(n.type(0)), a.axis, to_string(a.out)));
  }
  n.output(0, n.dtype(), s);
}

/// Whether a Resize of one of the form's axes can be told what becomes of it: a scale, or a size that is known.
bool tells_axes(const NodeView& n, const ResizeForm& f) {
  if (given(n, scales_of(n))) return true;
  const bool known =
      std::ranges::all_of(f.axes, [](const ResizeAxis& a) { return a.in.is_static() && a.out.is_static(); });
  return known && n.attr_string("keep_aspect_ratio_policy") == "stretch";
}

Meaning resize(const MeaningView& n) {
  if (!has_unknown_scales(n)) {
    const ResizeForm f = form_of(n);
    if (!is_separable(f, n.dtype()) || !tells_axes(n, f)) return Interpolation(n, f).meaning();
    Build b(n);
    return resize_by_axes(b, f, !given(n, scales_of(n)));
  }
  Build b(n);
  const ValueId roi = n.version() > 10 ? b.in(kRoi) : ValueId();
  return interpolate_at(b, b.in(0), roi, b.in(scales_of(n)), resized_axes(n), read_attributes(n));
}

}  // namespace

Operator declare_resize() {
  return {.name = "Resize",
          .since = {10, 11, 13, 18, 19},
          .inputs = {{"X", kNumbers | kBool | kComplex},
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
