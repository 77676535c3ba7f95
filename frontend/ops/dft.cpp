// DFT: the discrete Fourier transform along an axis, forward or inverse, of real or complex samples; the last axis
// holds the components. One-sided, forward gives the bins up to the middle and inverse the real signal from them.
#include "frontend/ops/named_axes.h"
#include "frontend/ops/signal.h"

namespace cameo::ops {
namespace {

struct AxisTransform : Transform {
  std::vector<Expr> along;  // for each axis, whether it is the one
  Dim given;                // its extent
};

std::vector<Expr> axis_of(const NodeView& n) {
  std::vector<Expr> along(n.rank(), boolean(false));
  if (n.version() >= 20 && n.has(2)) {
    scalar_element(n, 2);
    along = named_axes(n, 2, n.rank(), false);
  } else {
    along[NodeView::axis(n.version() < 20 ? n.attr_int("axis") : -2, n.rank())] = boolean(true);
  }
  if (!n.may_hold(logical_not(along.back()))) n.fail(Code::E0304, "the axis of `DFT` is that of the components");
  return along;
}

AxisTransform transform(const NodeView& n) {
  AxisTransform t;
  t.inverse = n.attr_int("inverse");
  t.onesided = n.attr_int("onesided");
  t.components = static_dim(n, 0, -1);
  if (n.rank() < 2 || (t.components != 1 && t.components != 2))
    n.fail(Code::E0302, fmt::format("`input` is {}, its last axis must have 1 or 2 components", to_string(n.type(0))));
  t.along = axis_of(n);
  Expr given = n.shape()[0].extent();
  for (int d = 1; d < n.rank() - 1; ++d) given = select(t.along[d], n.shape()[d].extent(), given);
  t.given = dim_of(given);
  t.length = t.to_real() ? Dim(2) * (t.given - 1) : t.given;
  if (n.has(1)) {
    const Expr length = scalar_element(n, 1);
    const auto candidates = static_cast<size_t>(std::ranges::count_if(t.along, [](Expr e) { return !e.is_const(0); }));
    t.length = length.is_const() ? Dim(length) : given_dim(n, length, candidates, "dft_length");
  }
  const Dim most = t.to_real() ? t.length / 2 + 1 : t.length;
  t.samples = dim_of(min(given, most.extent()));
  check_transform(n, t);
  return t;
}

void infer_dft(Infer& n) {
  const AxisTransform t = transform(n);
  Shape s = n.shape();
  for (int d = 0; d < n.rank() - 1; ++d) s[d] = dim_of(select(t.along[d], t.bins().extent(), s[d].extent()));
  s.back() = t.out_components();
  n.output(0, n.dtype(), s);
}

/// Of an axis or a length that only a run knows.
Meaning dft_of_run(const MeaningView& n, const AxisTransform& t) {
  const std::vector<Expr> out = n.index();
  const DType type = accumulator(n.dtype());
  Expr bin = integer(0);
  for (int d = 0; d < n.rank() - 1; ++d) bin = select(t.along[d], out[d], bin);
  const auto sample_at = [&](Expr sample, int64_t component) {
    std::vector<Expr> at = out;
    for (int d = 0; d < n.rank() - 1; ++d) at[d] = select(t.along[d], sample, out[d]);
    at.back() = integer(component);
    return cast(n.load(0, at), type);
  };
  return Compute{{{out, cast(transformed(t, type, bin, out.back(), sample_at), n.dtype())}}};
}

Meaning dft(const MeaningView& n) {
  const AxisTransform t = transform(n);
  if (!t.is_known() || !are_known(t.along)) return dft_of_run(n, t);
  Build b(n);
  const auto found = std::ranges::find_if(t.along, [](Expr e) { return e.is_const(1); });
  const auto axis = static_cast<int>(found - t.along.begin());
  const int last = n.rank() - 2;
  ValueId x = b.cast(b.in(0), accumulator(n.dtype()));
  if (t.samples != t.given) x = b.slice(x, axis, 0, t.samples.value());
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
