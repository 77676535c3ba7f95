// See expr_algebra.h, and Affine in expr.h.
#include "frontend/ir/expr_algebra.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <optional>
#include <ranges>
#include <unordered_map>

namespace cameo {
namespace {

using Term = Affine::Term;

// Of a product that is multiplied out; a longer one stands as it is.
constexpr size_t kMaxTerms = 64, kMaxFactors = 16;

/// Sums of terms by id.
class Sum {
 public:
  void add(Expr term, int64_t coefficient) {
    int64_t& sum = terms_.try_emplace(term.id(), Term{term, 0}).first->second.coefficient;
    exact_ &= !__builtin_add_overflow(sum, coefficient, &sum);
  }
  void add(int64_t constant) { exact_ &= !__builtin_add_overflow(constant_, constant, &constant_); }
  void add(const Affine& a) {
    for (const Term& t : a.terms) add(t.term, t.coefficient);
    add(a.constant);
  }
  void add_product(const Affine& a, const Affine& b) {
    auto times = [&](int64_t x, int64_t y) {
      int64_t product;
      exact_ &= !__builtin_mul_overflow(x, y, &product);
      return product;
    };
    for (const Term& s : a.terms) {
      const std::vector<Expr> of_a = factors_of(s.term);
      for (const Term& t : b.terms) {
        std::vector<Expr> factors = factors_of(t.term);
        factors.insert(factors.end(), of_a.begin(), of_a.end());
        add(product_of(std::move(factors)), times(s.coefficient, t.coefficient));
      }
      if (b.constant) add(s.term, times(s.coefficient, b.constant));
    }
    if (a.constant)
      for (const Term& t : b.terms) add(t.term, times(t.coefficient, a.constant));
    add(times(a.constant, b.constant));
  }
  /// Whether no coefficient has wrapped.
  bool exact() const { return exact_; }
  Affine affine() const {
    Affine a;
    for (const auto& [id, t] : terms_)
      if (t.coefficient) a.terms.push_back(t);
    a.constant = constant_;
    return a;
  }

 private:
  std::map<uint32_t, Term> terms_;
  int64_t constant_ = 0;
  bool exact_ = true;
};

bool is_product_by_size(Expr e) {
  return e.op() == Op::Mul && is_symbolic(e) && (is_size(e.arg(0)) || is_size(e.arg(1)));
}

size_t most_factors(const Affine& a) {
  size_t most = 0;
  for (const Term& t : a.terms) most = std::max(most, factors_of(t.term).size());
  return most;
}

/// A product as a sum; null where that would have too many terms, or terms of too many factors. Kept: in a chain of
/// products each would multiply out all before it.
const std::optional<Affine>& multiplied_out(Expr product) {
  static std::unordered_map<Expr, std::optional<Affine>, ExprHash> known;
  if (const auto at = known.find(product); at != known.end()) return at->second;
  const Affine x = affine(product.arg(0)), y = affine(product.arg(1));
  std::optional<Affine> sum;
  if ((x.terms.size() + 1) * (y.terms.size() + 1) <= kMaxTerms && most_factors(x) + most_factors(y) <= kMaxFactors) {
    Sum of_products;
    of_products.add_product(x, y);
    sum = of_products.affine();
  }
  return known.emplace(product, std::move(sum)).first->second;
}

}  // namespace

std::vector<Expr> factors_of(Expr term) {
  constexpr size_t kMost = 64;  // of squares of squares there are too many to name: such a product is one factor
  std::vector<Expr> factors;
  for (std::vector<Expr> open{term}; !open.empty();) {
    if (factors.size() + open.size() > kMost) return {term};
    const Expr e = open.back();
    open.pop_back();
    if (e.op() == Op::Mul && !e.arg(1).is_const())
      open.insert(open.end(), e.args().begin(), e.args().end());
    else
      factors.push_back(e);
  }
  std::ranges::sort(factors, {}, &Expr::id);
  return factors;
}

Expr product_of(std::vector<Expr> factors) {
  std::ranges::sort(factors, {}, &Expr::id);
  Expr product = integer(1);
  for (Expr f : factors) product = product * f;
  return product;
}

int64_t Affine::coefficient_of(Expr term) const {
  for (const Term& t : terms)
    if (t.term == term) return t.coefficient;
  return 0;
}

Dim Affine::stride_of(Expr variable) const {
  int64_t number = 0;
  Expr sizes = integer(0);
  for (const Term& t : terms) {
    if (t.term == variable) {
      number = t.coefficient;
    } else if (is_symbolic(t.term)) {
      std::vector<Expr> factors = factors_of(t.term);
      const auto at = std::ranges::find(factors, variable);
      if (at == factors.end()) continue;
      factors.erase(at);
      if (std::ranges::all_of(factors, is_size))
        sizes = sizes + product_of(std::move(factors)) * integer(t.coefficient);
    }
  }
  return sizes.is_const() ? Dim(number) : Dim(simplify_index(sizes + integer(number)));
}

Affine affine(Expr root) {
  Affine a;
  std::map<uint32_t, Term> products;  // multiplied out
  // operands are older than what uses them: taken from the youngest on, every node has its whole coefficient
  std::map<uint32_t, Term, std::greater<>> open{{root.id(), {root, 1}}};
  auto add_to = [](auto& sums, Expr e, int64_t coefficient) {
    int64_t& sum = sums.try_emplace(e.id(), Term{e, 0}).first->second.coefficient;
    sum = algebra::wrapping(Wide(sum) + coefficient);
  };
  auto add = [&](Expr e, int64_t coefficient) { add_to(open, e, coefficient); };
  auto add_product = [&](Expr e, int64_t coefficient) {
    const std::optional<Affine>& product = multiplied_out(e);
    if (!product) return add_to(products, e, coefficient);
    for (const Term& t : product->terms) add_to(products, t.term, algebra::wrapping(Wide(t.coefficient) * coefficient));
    a.constant = algebra::wrapping(a.constant + Wide(product->constant) * coefficient);
  };
  while (!open.empty()) {
    const auto [e, coefficient] = open.extract(open.begin()).mapped();
    if (e.is_const()) {
      a.constant = algebra::wrapping(a.constant + Wide(coefficient) * e.int_value());
    } else if (e.op() == Op::Add || e.op() == Op::Sub) {
      add(e.arg(0), coefficient);
      add(e.arg(1), e.op() == Op::Add ? coefficient : algebra::wrapping(-Wide(coefficient)));
    } else if (e.op() == Op::Neg) {
      add(e.arg(0), algebra::wrapping(-Wide(coefficient)));
    } else if (e.op() == Op::Mul && e.arg(1).is_const()) {
      add(e.arg(0), algebra::wrapping(Wide(coefficient) * e.arg(1).int_value()));
    } else if (is_product_by_size(e)) {
      add_product(e, coefficient);
    } else if (coefficient) {
      a.terms.push_back({e, coefficient});
    }
  }
  std::ranges::reverse(a.terms);
  if (!products.empty()) {
    for (const Term& t : a.terms) add_to(products, t.term, t.coefficient);
    a.terms.clear();
    for (const auto& [id, t] : products)
      if (t.coefficient) a.terms.push_back(t);
  }
  return a;
}

Expr from_affine(const Affine& a) {
  Expr sum = integer(0);
  for (const Term& t : a.terms) sum = sum + t.term * integer(t.coefficient);
  return sum + integer(a.constant);
}

Dim size_in(const Affine& a) {
  Expr size = integer(a.constant);
  for (const Term& t : a.terms)
    if (is_size(t.term)) size = size + t.term * integer(t.coefficient);
  return size.is_const() ? Dim(size) : Dim(simplify_index(size));
}

bool never_wraps(const Affine& a) {
  auto r = algebra::whole_range(a);
  return r && r->low >= INT64_MIN && r->high <= INT64_MAX;
}

namespace algebra {

std::optional<Interval> product(Interval a, Interval b) {
  std::array<Wide, 4> corners;
  if (__builtin_mul_overflow(a.low, b.low, &corners[0]) || __builtin_mul_overflow(a.low, b.high, &corners[1]) ||
      __builtin_mul_overflow(a.high, b.low, &corners[2]) || __builtin_mul_overflow(a.high, b.high, &corners[3]))
    return std::nullopt;
  const auto [low, high] = std::ranges::minmax(corners);
  return Interval{low, high};
}

namespace {

/// As a product of whole numbers, which the term itself, wrapping, need not be.
std::optional<Interval> range_of_product(Expr term) {
  if (term.op() != Op::Mul || !is_symbolic(term)) return range_of(term);
  std::optional<Interval> range = Interval{1, 1};
  for (Expr f : factors_of(term))
    if (range) range = product(*range, range_of(f));
  return range;
}

}  // namespace

std::optional<Interval> whole_range(const Affine& a) {
  Interval sum{a.constant, a.constant};
  for (const Term& t : a.terms) {
    auto r = range_of_product(t.term);
    if (r) r = product(*r, {t.coefficient, t.coefficient});
    if (!r || __builtin_add_overflow(sum.low, r->low, &sum.low) || __builtin_add_overflow(sum.high, r->high, &sum.high))
      return std::nullopt;
  }
  return sum;
}

std::optional<Affine> multiply_add(const Affine& a, const Affine& x, const Affine& b) {
  if (a.terms.empty() && x.terms.empty()) {
    Affine sum = b;
    int64_t product;
    const bool wraps = __builtin_mul_overflow(a.constant, x.constant, &product) ||
                       __builtin_add_overflow(product, b.constant, &sum.constant);
    return wraps ? std::nullopt : std::optional(sum);
  }
  Sum sum;
  sum.add_product(a, x);
  sum.add(b);
  return sum.exact() ? std::optional(sum.affine()) : std::nullopt;
}

namespace {

/// The quotient of two terms where every factor of `by` is one of `of`, as often.
std::optional<Affine> quotient_of(const Term& of, const Term& by) {
  if (of.coefficient % by.coefficient || (by.coefficient == -1 && of.coefficient == INT64_MIN)) return std::nullopt;
  const int64_t coefficient = of.coefficient / by.coefficient;
  std::vector<Expr> factors = factors_of(of.term);
  for (Expr f : factors_of(by.term)) {
    auto it = std::ranges::find(factors, f);
    if (it == factors.end()) return std::nullopt;
    factors.erase(it);
  }
  if (factors.empty()) return number(coefficient);
  return Affine{{{product_of(std::move(factors)), coefficient}}, 0};
}

Affine negated(Affine a) {
  for (Term& t : a.terms) t.coefficient = wrapping(-Wide(t.coefficient));
  a.constant = wrapping(-Wide(a.constant));
  return a;
}

std::pair<Affine, Affine> divide_by_number(const Affine& n, int64_t d) {
  Affine q, rest;
  for (const Term& t : n.terms) (t.coefficient % d == 0 ? q : rest).terms.push_back(t);
  for (Term& t : q.terms) t.coefficient /= d;
  rest.constant = n.constant;
  return {q, rest};
}

}  // namespace

std::optional<std::pair<Affine, Affine>> divide(const Affine& n, const Affine& d) {
  if (d.terms.empty()) return divide_by_number(n, d.constant);
  const Term* lead = &d.terms.front();
  for (const Term& t : d.terms)
    if (factors_of(t.term).size() >= factors_of(lead->term).size()) lead = &t;
  Affine q, rest = n;
  for (size_t steps = 0; steps <= kMaxTerms; ++steps) {
    std::optional<Affine> part;
    for (const Term& t : rest.terms)
      if (!part) part = quotient_of(t, *lead);
    if (!part) return std::pair(q, rest);
    auto more = multiply_add(*part, number(1), q), less = multiply_add(negated(*part), d, rest);
    if (!more || !less) break;
    q = *more, rest = *less;
  }
  return std::nullopt;
}

std::optional<Affine> exact_quotient(const Affine& a, const Affine& d) {
  auto parts = divide(a, d);
  if (!parts || !parts->second.terms.empty()) return std::nullopt;
  const int64_t rest = parts->second.constant;
  if (rest == 0) return parts->first;
  if (!d.terms.empty() || rest % d.constant) return std::nullopt;
  parts->first.constant = rest / d.constant;
  return parts->first;
}

bool operator>(const Monomial& a, const Monomial& b) {
  return std::pair(a.factors.size(), a.number) > std::pair(b.factors.size(), b.number);
}

Affine sum_of(const Monomial& m) {
  return m.factors.empty() ? number(m.number) : Affine{{{product_of(m.factors), m.number}}, 0};
}

Monomial common(const Monomial& a, const Term& t) {
  Monomial both{t.coefficient == INT64_MIN ? 1 : std::gcd(a.number, t.coefficient)};
  if (!a.factors.empty())
    std::ranges::set_intersection(a.factors, factors_of(t.term), std::back_inserter(both.factors), {}, &Expr::id,
                                  &Expr::id);
  return both;
}

Monomial content_of(const Affine& a) {
  Monomial content{a.constant == INT64_MIN ? 1 : std::abs(a.constant)};
  if (!a.terms.empty() && !a.constant) content.factors = factors_of(a.terms[0].term);
  for (const Term& t : a.terms) content = common(content, t);
  return content;
}

namespace {

/// The variables of an expression that it does not bind itself; nothing where it has folds, which bind some.
std::optional<std::vector<Expr>> variables_of(Expr x) {
  std::vector<Expr> variables;
  bool folds = false;
  visit(std::array{x}, [&](Expr e) {
    folds |= e.op() == Op::Fold;
    if (e.op() == Op::Var) variables.push_back(e);
  });
  return folds ? std::nullopt : std::optional(variables);
}

}  // namespace

bool is_positive_at_points(Expr divisor, Expr x) {
  const Interval range = range_of(divisor);
  if (range.low != 0 || !is_size(divisor)) return range.low > 0;
  const std::optional<std::vector<Expr>> variables = variables_of(x);
  const Affine sum = affine(divisor);
  if (!variables || !never_wraps(sum)) return false;
  const Monomial content = content_of(sum);
  const auto rest = exact_quotient(sum, sum_of(content));
  std::vector<Affine> factors{rest ? *rest : sum};
  for (Expr f : content.factors) factors.push_back(affine(f));
  const auto is_positive = [&](const Affine& f) {
    const auto whole = whole_range(f);
    return (whole && whole->low > 0) || std::ranges::any_of(*variables, [&](Expr v) {
             return !f.terms.empty() && exact_quotient(affine(v.extent()), f).has_value();
           });
  };
  return std::ranges::all_of(factors, is_positive);
}

namespace {

/// A sum as a * x + b, where neither has the factor x; nothing where x is squared.
std::optional<std::pair<Affine, Affine>> take_factor(const Affine& sum, Expr x) {
  Affine a, b;
  b.constant = sum.constant;
  for (const Term& t : sum.terms) {
    std::vector<Expr> factors = factors_of(t.term);
    const auto times = std::ranges::count(factors, x);
    if (times > 1) return std::nullopt;
    if (!times) {
      b.terms.push_back(t);
      continue;
    }
    factors.erase(std::ranges::find(factors, x));
    if (factors.empty())
      a.constant += t.coefficient;
    else
      a.terms.push_back({product_of(std::move(factors)), t.coefficient});
  }
  std::ranges::sort(a.terms, {}, [](const Term& t) { return t.term.id(); });
  return std::pair(a, b);
}

/// What a factor lies between: any of `low` is at most it, any of `high` at least.
struct Ends {
  std::vector<Affine> low, high;
};

Ends ends_of(Expr x) {
  Ends ends;
  auto add = [](std::vector<Affine>& to, Expr e, int64_t offset) {
    Affine end = affine(e);
    if (!never_wraps(end) || __builtin_add_overflow(end.constant, offset, &end.constant)) return;
    to.push_back(end);
  };
  if (x.op() == Op::Var) add(ends.high, x.extent(), -1);
  if (x.op() == Op::Mod && is_positive_at_points(x.arg(1), x.arg(0))) add(ends.high, x.arg(1), -1);
  if (x.op() == Op::Min || x.op() == Op::Max)
    for (Expr a : x.args()) add(x.op() == Op::Min ? ends.high : ends.low, a, 0);
  const Interval r = range_of(x);
  if (r.low > INT64_MIN) ends.low.push_back(number(static_cast<int64_t>(r.low)));
  if (r.high < INT64_MAX) ends.high.push_back(number(static_cast<int64_t>(r.high)));
  return ends;
}

/// With every factor at its least and something beyond it: not below zero if no coefficient is.
bool rises_with_all(const Affine& a) {
  Sum shifted;
  shifted.add(a.constant);
  for (const Term& t : a.terms) {
    Affine product = number(t.coefficient);
    for (Expr f : factors_of(t.term)) {
      const Interval r = range_of(f);
      if (r.low < 0 || r.low > INT64_MAX) return false;
      auto next = multiply_add(product, {{{f, 1}}, static_cast<int64_t>(r.low)}, number(0));
      if (!next) return false;
      product = *next;
    }
    shifted.add(product);
  }
  const Affine sum = shifted.affine();
  return shifted.exact() && sum.constant >= 0 &&
         std::ranges::all_of(sum.terms, [](const Term& t) { return t.coefficient >= 0; });
}

Expr youngest_factor(const Affine& a) {
  Expr youngest;
  for (const Term& t : a.terms) {
    const Expr f = factors_of(t.term).back();
    if (!youngest || f.id() > youngest.id()) youngest = f;
  }
  return youngest;
}

constexpr int kMaxSteps = 200;  // of a proof

bool is_nonnegative(const Affine& a, int& steps);

/// a * x + b is not below zero wherever x is between these ends.
struct Claim {
  Affine a, b;
  Ends ends;
};

/// x = floor_div(y, d), d > 0: d * x lies between y - d + 1 and y. What d does not divide is multiplied by it: a whole
/// number p is not below zero where d * p + d - 1 is not.
std::optional<Claim> claim_of_quotient(const Affine& a, Expr x, const Affine& b) {
  const Affine y = affine(x.arg(0)), d = affine(x.arg(1));
  if (!never_wraps(y) || !never_wraps(d)) return std::nullopt;
  auto low = multiply_add(d, number(-1), y);
  if (low) low = multiply_add(number(1), number(1), *low);
  if (!low) return std::nullopt;
  const Ends ends{{*low}, {y}};
  if (auto q = exact_quotient(a, d)) return Claim{*q, b, ends};
  auto scaled = multiply_add(d, b, d);
  if (scaled) scaled = multiply_add(number(1), number(-1), *scaled);
  return scaled ? std::optional(Claim{a, *scaled, ends}) : std::nullopt;
}

/// A sum that is linear in x is not below zero if it is not at the ends of x that matter.
bool holds_at_ends(const Claim& claim, int& steps) {
  const auto range = whole_range(claim.a);
  const bool rises = range && range->low >= 0, falls = range && range->high <= 0;
  auto holds_at = [&](const std::vector<Affine>& any) {
    return std::ranges::any_of(any, [&](const Affine& end) {
      const auto at_end = multiply_add(claim.a, end, claim.b);
      return at_end && is_nonnegative(*at_end, steps);
    });
  };
  if (rises) return holds_at(claim.ends.low);
  return holds_at(claim.ends.high) && (falls || holds_at(claim.ends.low));
}

bool is_nonnegative(const Affine& a, int& steps) {
  if (--steps < 0) return false;
  if (auto range = whole_range(a); range && range->low >= 0) return true;
  if (a.terms.empty()) return false;
  if (rises_with_all(a)) return true;
  const Expr x = youngest_factor(a);
  const auto parts = take_factor(a, x);
  if (!parts) return false;
  const auto& [by, rest] = *parts;
  if (x.op() == Op::FloorDiv && is_positive_at_points(x.arg(1), x.arg(0)))
    if (auto claim = claim_of_quotient(by, x, rest); claim && holds_at_ends(*claim, steps)) return true;
  return holds_at_ends({by, rest, ends_of(x)}, steps);
}

}  // namespace

bool is_nonnegative(const Affine& a) {
  int steps = kMaxSteps;
  return is_nonnegative(a, steps);
}

bool is_ordered(Expr a, Expr b, bool strictly) {
  const Affine less = affine(a), more = affine(b);
  if (!never_wraps(less) || !never_wraps(more)) return false;
  const auto distance = multiply_add(less, number(-1), more);
  const auto beyond = distance ? multiply_add(number(1), number(-strictly), *distance) : std::nullopt;
  return beyond && is_nonnegative(*beyond);
}

}  // namespace algebra
}  // namespace cameo
