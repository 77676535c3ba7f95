// Arithmetic of Affine sums as polynomials in sizes, and the proofs of their order. Of the simplifier alone.
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "frontend/ir/expr.h"

namespace cameo::algebra {

inline int64_t wrapping(Wide v) { return static_cast<int64_t>(static_cast<uint64_t>(v)); }

/// The unwrapped product; nothing where 128 bits do not hold it.
std::optional<Interval> product(Interval a, Interval b);
/// The range of a sum as a whole number; nothing where 128 bits do not hold it.
std::optional<Interval> whole_range(const Affine& a);

/// a * x + b; nothing where a coefficient needs more than 64 bits.
std::optional<Affine> multiply_add(const Affine& a, const Affine& x, const Affine& b);
inline Affine number(int64_t v) { return {{}, v}; }

/// n = d*q + rest by long division with the term of `d` that has most factors; of a number, the terms that it divides
/// are taken, and the constant is rest. Nothing where that does not end soon.
std::optional<std::pair<Affine, Affine>> divide(const Affine& n, const Affine& d);

/// a / d where that leaves nothing.
std::optional<Affine> exact_quotient(const Affine& a, const Affine& d);

/// A number above 0 times factors, by id.
struct Monomial {
  int64_t number = 1;
  std::vector<Expr> factors = {};
};
bool operator>(const Monomial& a, const Monomial& b);  // by factors, then by number
Affine sum_of(const Monomial& m);
/// What all of a sum has in common, and what a term has in common with that.
Monomial content_of(const Affine& a);
Monomial common(const Monomial& a, const Affine::Term& t);

/// Whether a divisor is above 0 wherever x / divisor has a point: a size that may be 0, but then a variable of x has no
/// values.
bool is_positive_at_points(Expr divisor, Expr x);

/// Whether a sum, as a whole number, is never below zero. Each step puts the youngest factor to an end of its range,
/// which may be a sum of older ones: a variable to 0 or its extent - 1, d * floor_div(x, d) to x - d + 1 or x.
bool is_nonnegative(const Affine& a);
/// Whether a <= b, or a < b where they are strictly so; what may wrap is not known to be either.
bool is_ordered(Expr a, Expr b, bool strictly);

}  // namespace cameo::algebra
