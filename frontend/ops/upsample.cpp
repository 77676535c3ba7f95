// Upsample: what Resize was before opset 10. Asymmetric coordinates, nearest or linear; scales are an attribute in
// version 7.
#include "frontend/ops/resize_form.h"

namespace cameo::ops {
namespace {

std::vector<double> upsample_scales(const NodeView& n) {
  if (n.version() == 1) return {1, 1, n.attr_float("height_scale"), n.attr_float("width_scale")};
  return n.has(1) ? n.floats(1) : n.attr_floats("scales");
}

ResizeForm read_mode(const NodeView& n) {
  ResizeForm f;
  f.mode = n.attr_string("mode");
  f.transformation = "asymmetric";
  f.nearest = "simple";
  if (f.mode != "nearest" && f.mode != "linear" && f.mode != "bilinear")
    n.fail(Code::E0204, fmt::format("`mode` is `{}`", printable(f.mode)));
  if (f.mode == "bilinear") f.mode = "linear";
  return f;
}

ResizeForm upsample_form(const NodeView& n) {
  ResizeForm f = read_mode(n);
  std::vector<double> scales = upsample_scales(n);
  if (static_cast<int>(scales.size()) != n.rank())
    n.fail(Code::E0302, fmt::format("`scales` has {} entries for {}", scales.size(), to_string(n.type(0))));
  for (int a = 0; a < n.rank(); ++a) {
    Expr scale = checked_scale(n, scales[a]);
    Dim in = n.shape()[a], out = scaled_extent(in, scale);
    if (!is_number(scale, 1)) f.axes.push_back({a, scale, is_quotient(in, out, scale), in, out});
  }
  check_form(n, f);
  return f;
}

bool has_unknown_scales(const NodeView& n) { return n.has(1) && !n.constant(1); }

void infer_upsample(Infer& n) {
  Shape s = n.shape();
  if (has_unknown_scales(n)) {
    check_scales(n, 1, s.size());
    for (Dim& d : s) d = n.fresh();
    return n.output(0, n.dtype(), s);
  }
  for (const ResizeAxis& a : upsample_form(n).axes) s[a.axis] = a.out;
  n.output(0, n.dtype(), s);
}

Meaning upsample(const MeaningView& n) {
  if (!has_unknown_scales(n)) {
    const ResizeForm f = upsample_form(n);
    if (!is_separable(f, n.dtype())) return Interpolation(n, f).meaning();
    Build b(n);
    return resize_by_axes(b, f, false);
  }
  Build b(n);
  std::vector<int> axes(n.rank());
  std::iota(axes.begin(), axes.end(), 0);
  return interpolate_at(b, b.in(0), {}, b.in(1), axes, read_mode(n));
}

}  // namespace

Operator declare_upsample() {
  return {.name = "Upsample",
          .since = {1, 7, 9},
          .inputs = {{"X", kNumbers | kBool | kComplex}, {"scales", DTypes(DType::f32), InputSpec::Optional}},
          .attributes = {{"height_scale", AttrKind::Float},
                         {"mode", "nearest"},
                         {"scales", AttrKind::Floats, 7},
                         {"width_scale", AttrKind::Float}},
          .infer = infer_upsample,
          .meaning = upsample};
}

}  // namespace cameo::ops
