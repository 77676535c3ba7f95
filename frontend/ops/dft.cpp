// DFT: the discrete Fourier transform along an axis, forward or inverse, of real or complex samples; the last axis
// holds the components. One-sided, forward gives the bins up to the middle and inverse the real signal from them.
#include "frontend/ops/signal.h"

namespace cameo::ops {
namespace {

int axis_of(const NodeView& n) {
  int64_t a = n.version() < 20 ? n.attr_int("axis") : n.has(2) ? scalar_int(n, 2) : -2;
  int axis = NodeView::axis(a, n.rank());
  if (axis == n.rank() - 1) n.fail(Code::E0304, "the axis of `DFT` is that of the components");
  return axis;
}

Transform transform(const NodeView& n) {
  Transform t;
  t.inverse = n.attr_int("inverse");
  t.onesided = n.attr_int("onesided");
  t.components = static_dim(n, 0, -1);
  if (n.rank() < 2 || (t.components != 1 && t.components != 2))
    n.fail(Code::E0302, fmt::format("`input` is {}, its last axis must have 1 or 2 components", to_string(n.type(0))));
  int64_t given = static_dim(n, 0, axis_of(n));
  t.length = n.has(1) ? scalar_int(n, 1) : t.to_real() ? 2 * (given - 1) : given;
  t.samples = std::min(given, t.to_real() ? t.length / 2 + 1 : t.length);
  check_transform(n, t);
  return t;
}

void infer_dft(Infer& n) {
  Transform t = transform(n);
  Shape s = n.shape();
  s[axis_of(n)] = t.bins();
  s.back() = t.out_components();
  n.output(0, n.dtype(), s);
}

Meaning dft(const MeaningView& n) {
  Build b(n);
  Transform t = transform(n);
  int axis = axis_of(n), last = n.rank() - 2;
  ValueId x = b.cast(b.in(0), accumulator(n.dtype()));
  if (t.samples < static_dim(n, 0, axis)) x = b.slice(x, axis, 0, t.samples);
  std::vector<int64_t> perm(n.rank());
  for (int a = 0; a < n.rank(); ++a) perm[a] = a;
  std::swap(perm[axis], perm[last]);
  if (axis != last) x = b.transpose(x, perm);
  ValueId y = transformed(b, x, t);
  if (axis != last) y = b.transpose(y, perm);
  return b.outputs({b.cast(y, n.dtype())});
}

}  // namespace

Operator declare_dft() {
  return {.name = "DFT",
          .since = {17, 20},
          .inputs = {{"input", kFloats},
                     {"dft_length", kIndices, InputSpec::Optional},
                     {"axis", kInt64, InputSpec::Optional}},
          .outputs = {{"output"}},
          .attributes = {{"axis", 1}, {"inverse", 0}, {"onesided", 0}},
          .infer = infer_dft,
          .meaning = dft};
}

}  // namespace cameo::ops
