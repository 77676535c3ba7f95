// Interpolate, of cameo's own: a Resize to `sizes` whose coordinates are those of `scales`, which a run computes both.
// Images are interpolated along their last axes alone: of three and more, the first two keep their extents.
#include "frontend/ops/resize_form.h"

namespace cameo::ops {
namespace {

ResizeForm form_of(const NodeView& n) {
  ResizeForm f = read_attributes(n);
  const std::vector<Expr> sizes = elements(n, kSizes);
  const std::vector<int> axes = resized_axes(n);
  check_count(n, "sizes", sizes.size(), axes.size());
  check_scales(n, kScales, axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis a;
    a.axis = axes[i], a.in = n.shape()[axes[i]];
    a.out = given_dim(n, sizes[i], sizes.size(), "sizes");
    a.scale = load(kScales, n.dtype(kScales), std::vector{integer(static_cast<int64_t>(i))}, zero(n.dtype(kScales)));
    a.exact = is_quotient(a.in, a.out, a.scale);
    f.axes.push_back(a);
  }
  if (f.transformation == "tf_crop_and_resize") read_roi(n, f.axes);
  if (f.mode != "nearest" && n.rank() > 3) {
    for (const ResizeAxis& a : f.axes)
      if (a.axis < 2 && !n.agree(a.out, a.in))
        n.fail(Code::E0302, fmt::format("`sizes` makes axis {} of {} {}: it is not resized", a.axis,
                                        to_string(n.type(0)), to_string(a.out)));
    std::erase_if(f.axes, [](const ResizeAxis& a) { return a.axis < 2; });
  }
  check_form(n, f);
  return f;
}

void infer_interpolate(Infer& n) {
  Shape s = n.shape();
  for (const ResizeAxis& a : form_of(n).axes) {
    s[a.axis] = a.out;
    if (!n.may_hold(logical_or(lt(integer(0), a.in.extent()), eq(a.out.extent(), integer(0)))))
      n.fail(Code::E0302,
             fmt::format("X is {}: axis {} has no elements for {}", to_string(n.type(0)), a.axis, to_string(a.out)));
  }
  n.output(0, n.dtype(), s);
}

}  // namespace

Operator declare_interpolate() {
  return {.name = "Interpolate",
          .domain = "cameo",
          .since = {1},
          .inputs = {{"X", kNumbers | kBool},
                     {"roi", kFloats, InputSpec::Optional},
                     {"scales", DTypes(DType::f32)},
                     {"sizes", kInt64}},
          .attributes = {{"antialias", 0},
                         {"axes", AttrKind::Ints},
                         {"coordinate_transformation_mode", "half_pixel"},
                         {"cubic_coeff_a", -0.75f},
                         {"exclude_outside", 0},
                         {"extrapolation_value", 0.f},
                         {"mode", "nearest"},
                         {"nearest_mode", "round_prefer_floor"}},
          .infer = infer_interpolate,
          .meaning = [](const MeaningView& n) { return Interpolation(n, form_of(n)).meaning(); }};
}

}  // namespace cameo::ops
