// What the signal operators share: the discrete Fourier transform and scalar operands. Where its length is known the
// transform is a product with a matrix, whose row is an input sample and its component, and whose column an output bin
// and its component; else each factor is computed where it is needed.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "frontend/ir/build.h"
#include "frontend/ops/operands.h"

namespace cameo::ops {

struct Transform {
  Dim length;              // N of exp(-2 pi i k n / N)
  Dim samples;             // rows: those of the input that count
  int64_t components = 1;  // of the input: real, or real and imaginary
  bool inverse = false, onesided = false;
  bool to_real() const { return inverse && onesided; }
  bool is_known() const { return length.is_static() && samples.is_static(); }
  Dim bins() const { return onesided && !inverse ? length / 2 + 1 : length; }
  int64_t out_components() const { return to_real() ? 1 : 2; }
};

/// The cosine of `part` / `whole` of a turn; exact at quarters.
inline double cosine_of_turn(int64_t part, int64_t whole) {
  constexpr double kQuarters[] = {1, 0, -1, 0};
  part %= whole;
  if (4 * part % whole == 0) return kQuarters[4 * part / whole];
  return std::cos(2 * std::numbers::pi * static_cast<double>(part) / static_cast<double>(whole));
}

/// What sample n contributes to bin k: the factors of its real and imaginary part, to the real or imaginary output.
inline double transform_factor(const Transform& t, int64_t n, int64_t component, int64_t k, int64_t out_component) {
  const int64_t length = t.length.value(), turn = n * k % length;
  double c = cosine_of_turn(turn, length), s = cosine_of_turn(4 * turn + (t.inverse ? 3 : 1) * length, 4 * length);
  double factor = component == out_component ? c : component == 0 ? s : -s;
  if (!t.inverse) return factor;
  bool mirrored = t.onesided && n != 0 && 2 * n != length;  // the other half's sample is its conjugate
  return factor * (mirrored ? 2 : 1) / static_cast<double>(length);
}
/// The same of a length that only a run knows, in f64. -sin(a) is cos(a + pi / 2).
inline Expr transform_factor(const Transform& t, Expr sample, int64_t component, Expr bin, Expr out_component) {
  const Expr length = t.length.extent(), none = zero(DType::f64);
  const Expr to_real = eq(out_component, integer(0));
  const Expr quarter = constant(DType::f64, (t.inverse ? -0.5 : 0.5) * std::numbers::pi);
  const Expr phase = component == 0 ? select(to_real, none, quarter) : select(to_real, -quarter, none);
  const Expr turn = cast(mod(sample * bin, length), DType::f64) / cast(length, DType::f64);
  const Expr factor = cos(turn * (2 * std::numbers::pi) + phase);
  if (!t.inverse) return factor;
  const Expr single = logical_or(eq(sample, integer(0)), eq(sample * integer(2), length));
  const Expr times = t.onesided ? select(single, one(DType::f64), constant(DType::f64, 2)) : one(DType::f64);
  return factor * times / cast(length, DType::f64);
}

/// The sum over the samples; `sample_at` is the sample of a number and a component.
inline Expr transformed(const Transform& t, DType type, Expr bin, Expr out_component,
                        const std::function<Expr(Expr, int64_t)>& sample_at) {
  const Expr s = var(t.samples.extent());
  Expr sum;
  for (int64_t c = 0; c < t.components; ++c) {
    const Expr term = sample_at(s, c) * cast(transform_factor(t, s, c, bin, out_component), type);
    sum = c ? sum + term : term;
  }
  return fold(FoldKind::Sum, s, sum);
}

inline Tensor transform_matrix(const Transform& t, DType type) {
  const int64_t samples = t.samples.value(), bins = t.bins().value();
  Tensor m(type, {samples * t.components, bins * t.out_components()});
  int64_t at = 0;
  for (int64_t n = 0; n < samples; ++n)
    for (int64_t c = 0; c < t.components; ++c)
      for (int64_t k = 0; k < bins; ++k)
        for (int64_t o = 0; o < t.out_components(); ++o) m.set(at++, transform_factor(t, n, c, k, o));
  return m;
}

/// [.., samples, components] to [.., bins, components]; the axes before stay as they are.
inline ValueId transformed(Build& b, ValueId x, const Transform& t) {
  std::vector<int64_t> flat(b.type(x).rank() - 2, 0);
  std::vector<int64_t> split = flat;
  flat.push_back(t.samples.value() * t.components);
  split.insert(split.end(), {t.bins().value(), t.out_components()});
  ValueId y = b.matmul(b.reshape(x, flat), b.graph().constant(transform_matrix(t, b.type(x).dtype)));
  return b.reshape(y, split);
}

constexpr int64_t kLargestTransform = int64_t{1} << 25;  // elements of its matrix

inline void check_transform(const NodeView& n, const Transform& t) {
  if (!n.fits(1, t.length)) n.fail(Code::E0304, fmt::format("a Fourier transform of length {}", to_string(t.length)));
  if (!t.is_known()) return;
  int64_t factors[] = {t.samples.value(), t.components, t.bins().value(), t.out_components()};
  if (element_count(factors).value_or(INT64_MAX) > kLargestTransform)
    n.fail(Code::E0402, fmt::format("`{}` of length {}: its matrix has more than {} elements", n.node().op->name,
                                    t.length.value(), kLargestTransform));
}

/// The one element of an integer operand that decides a shape.
inline Expr scalar_element(const NodeView& n, int input) {
  const std::vector<Expr> v = elements(n, input);
  if (v.size() != 1)
    n.fail(Code::E0302, fmt::format("`{}` is {}, it must hold one element", n.node().op->inputs[input].name,
                                    to_string(n.type(input))));
  return v[0];
}

inline int64_t static_dim(const NodeView& n, int input, int axis) {
  Dim d = n.dim(input, axis);
  if (!d.is_static())
    n.fail(Code::E0404, fmt::format("`{}` is {}: axis {} must be known when compiling", n.node().op->inputs[input].name,
                                    to_string(n.type(input)), axis));
  return d.value();
}

inline DType output_datatype(const NodeView& n) {
  int64_t t = n.attr_int("output_datatype");
  if (t < 0 || t >= kDTypeCount || !kNumbers.contains(static_cast<DType>(t)))
    n.fail(Code::E0204, fmt::format("`output_datatype` is {}", t));
  return static_cast<DType>(t);
}

}  // namespace cameo::ops
