// What the signal operators share: the discrete Fourier transform as a product with a matrix, and scalar operands.
// A row of the matrix is an input sample and its component, a column an output bin and its component.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "frontend/ir/build.h"
#include "frontend/ops/operands.h"

namespace cameo::ops {

struct Transform {
  int64_t length = 0;      // N of exp(-2 pi i k n / N)
  int64_t samples = 0;     // rows: those of the input that count
  int64_t components = 1;  // of the input: real, or real and imaginary
  bool inverse = false, onesided = false;
  bool to_real() const { return inverse && onesided; }
  int64_t bins() const { return onesided && !inverse ? length / 2 + 1 : length; }
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
  int64_t turn = n * k % t.length;
  double c = cosine_of_turn(turn, t.length),
         s = cosine_of_turn(4 * turn + (t.inverse ? 3 : 1) * t.length, 4 * t.length);
  double factor = component == out_component ? c : component == 0 ? s : -s;
  if (!t.inverse) return factor;
  bool mirrored = t.onesided && n != 0 && 2 * n != t.length;  // the other half's sample is its conjugate
  return factor * (mirrored ? 2 : 1) / static_cast<double>(t.length);
}

inline Tensor transform_matrix(const Transform& t, DType type) {
  Tensor m(type, {t.samples * t.components, t.bins() * t.out_components()});
  int64_t at = 0;
  for (int64_t n = 0; n < t.samples; ++n)
    for (int64_t c = 0; c < t.components; ++c)
      for (int64_t k = 0; k < t.bins(); ++k)
        for (int64_t o = 0; o < t.out_components(); ++o) m.set(at++, transform_factor(t, n, c, k, o));
  return m;
}

/// [.., samples, components] to [.., bins, components]; the axes before stay as they are.
inline ValueId transformed(Build& b, ValueId x, const Transform& t) {
  std::vector<int64_t> flat(b.type(x).rank() - 2, 0);
  std::vector<int64_t> split = flat;
  flat.push_back(t.samples * t.components);
  split.insert(split.end(), {t.bins(), t.out_components()});
  ValueId y = b.matmul(b.reshape(x, flat), b.graph().constant(transform_matrix(t, b.type(x).dtype)));
  return b.reshape(y, split);
}

constexpr int64_t kLargestTransform = int64_t{1} << 25;  // elements of its matrix

inline void check_transform(const NodeView& n, const Transform& t) {
  if (t.length < 1) n.fail(Code::E0304, fmt::format("a Fourier transform of length {}", t.length));
  int64_t factors[] = {t.samples, t.components, t.bins(), t.out_components()};
  if (element_count(factors).value_or(INT64_MAX) > kLargestTransform)
    n.fail(Code::E0402, fmt::format("`{}` of length {}: its matrix has more than {} elements", n.node().op->name,
                                    t.length, kLargestTransform));
}

/// The one element of an integer operand.
inline int64_t scalar_int(const NodeView& n, int input) {
  auto v = n.ints(input);
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
