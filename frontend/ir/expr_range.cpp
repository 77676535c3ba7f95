// Intervals and the index simplifier: how checks that can never fail, and divisions that undo products,
// vanish.
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <ranges>
#include <unordered_map>

#include "frontend/ir/check.h"
#include "frontend/ir/expr_algebra.h"

namespace cameo {
namespace {

constexpr bool is_whole(DType t) { return is_integer(t) || t == DType::b1; }

/// Every value of an integer type; of what is not an integer, those of i64.
Interval values_of(DType t) {
  if (t == DType::b1) return {0, 1};
  if (!is_integer(t)) return {INT64_MIN, INT64_MAX};
  const int bits = row(t).bits;
  if (row(t).kind == DKind::UInt) return {0, (Wide(1) << bits) - 1};
  return {-(Wide(1) << (bits - 1)), (Wide(1) << (bits - 1)) - 1};
}

bool within(Interval r, Interval outer) { return r.low >= outer.low && r.high <= outer.high; }

Interval hull(std::initializer_list<Wide> values) { return {std::min(values), std::max(values)}; }
Interval hull(Interval a, Interval b) { return {std::min(a.low, b.low), std::max(a.high, b.high)}; }

/// Divided by numbers above 0 alone: x / 0 is 0, and by a negative one the lowest number wraps.
std::optional<Interval> quotient(Op op, Interval a, Interval b) {
  if (b.low <= 0) return std::nullopt;
  auto divided = [&](Wide x, Wide y) { return x / y - (op == Op::FloorDiv && x % y < 0); };
  return hull({divided(a.low, b.low), divided(a.low, b.high), divided(a.high, b.low), divided(a.high, b.high)});
}

std::optional<Interval> remainder(Op op, Interval a, Interval b) {
  if (b.low <= 0) return std::nullopt;
  if (op == Op::Mod) return Interval{0, a.low >= 0 ? std::min(a.high, b.high - 1) : b.high - 1};
  return Interval{a.low >= 0 ? 0 : std::max(a.low, 1 - b.high), a.high <= 0 ? 0 : std::min(a.high, b.high - 1)};
}

/// The range of an operation before its result wraps to `type`; nothing where no more is known than the type.
std::optional<Interval> unwrapped(Op op, std::span<const Expr> args, uint64_t bits) {
  auto of = [&](size_t i) { return range_of(args[i]); };
  switch (op) {
    case Op::Symbol: return symbol_bounds(bits);
    case Op::Var: return Interval{0, std::max<Wide>(of(0).high - 1, 0)};
    case Op::Neg: return Interval{-of(0).high, -of(0).low};
    case Op::Abs:
      return of(0).low >= 0 ? of(0) : Interval{std::max<Wide>(-of(0).high, 0), std::max(-of(0).low, of(0).high)};
    case Op::Select: return hull(of(1), of(2));
    case Op::Cast: return is_whole(args[0].type()) ? std::optional(of(0)) : std::nullopt;
    case Op::Fold:  // what stands where an Arg fold found its element: 0 if there was none
      return static_cast<FoldKind>(bits) >= FoldKind::ArgMin ? std::optional(of(0)) : std::nullopt;
    case Op::Add: return Interval{of(0).low + of(1).low, of(0).high + of(1).high};
    case Op::Sub: return Interval{of(0).low - of(1).high, of(0).high - of(1).low};
    case Op::Mul: return algebra::product(of(0), of(1));
    case Op::Div:
    case Op::FloorDiv: return quotient(op, of(0), of(1));
    case Op::Mod:
    case Op::FMod: return remainder(op, of(0), of(1));
    case Op::Min: return Interval{std::min(of(0).low, of(1).low), std::min(of(0).high, of(1).high)};
    case Op::Max: return Interval{std::max(of(0).low, of(1).low), std::max(of(0).high, of(1).high)};
    default: return std::nullopt;
  }
}

/// Whether 0 <= r < d is proven of whole numbers.
bool is_remainder(const Affine& r, const Affine& d) {
  if (d.terms.empty() && std::ranges::none_of(r.terms, [](const Affine::Term& t) { return is_symbolic(t.term); })) {
    const auto range = algebra::whole_range(r);
    return range && within(*range, {0, d.constant - 1});
  }
  const auto left = algebra::multiply_add(r, algebra::number(-1), d);
  const auto beyond = left ? algebra::multiply_add(*left, algebra::number(1), algebra::number(-1)) : std::nullopt;
  return beyond && algebra::is_nonnegative(r) && algebra::is_nonnegative(*beyond);
}

/// n = d*q + rest with 0 <= rest < d proven: the pair that both n / d and n % d need. `n` never wraps, and d > 0.
std::optional<std::pair<Affine, Affine>> split(const Affine& n, const Affine& d) {
  auto parts = algebra::divide(n, d);
  if (!parts) return std::nullopt;
  auto& [quotient, rest] = *parts;
  const int64_t first = d.terms.empty() ? n.constant / d.constant - (n.constant % d.constant < 0) : 0;
  for (Wide more : {Wide(first), Wide(first) + 1, Wide(first) - 1}) {  // the constant may go to either side of a range
    const auto r = algebra::multiply_add(d, algebra::number(algebra::wrapping(-more)), rest);
    int64_t constant;
    if (!r || !is_remainder(*r, d) || __builtin_add_overflow(quotient.constant, algebra::wrapping(more), &constant))
      continue;
    quotient.constant = constant;
    return std::pair(quotient, *r);
  }
  return std::nullopt;
}

/// x = d * q + r, where r has none of the terms that d divides: then x / d is q + r / d, and x % d is r % d.
std::optional<std::pair<Affine, Affine>> take_multiples(const Affine& x, const Affine& d) {
  auto parts = algebra::divide(x, d);
  if (!parts || parts->first.terms.empty() || !never_wraps(parts->second)) return std::nullopt;
  return parts;
}

/// x = g * q + r with 0 <= r < g, and d = g * left: then x / d is q / left, and x % d is g * (q % left) + r.
struct Shortened {
  Affine g, left, q, r;
};
std::optional<Shortened> shorten_by(const Affine& g, const Affine& x, const Affine& d) {
  const auto left = algebra::exact_quotient(d, g);
  const auto parts = left ? split(x, g) : std::nullopt;
  return parts ? std::optional(Shortened{g, *left, parts->first, parts->second}) : std::nullopt;
}
/// By the largest g that d and a term have in common; else by what is left of d without its common factors. Above 0, as
/// d is.
std::optional<Shortened> shorten(const Affine& x, const Affine& d) {
  using algebra::Monomial;
  std::optional<Shortened> best;
  Monomial largest;
  Monomial of_d = algebra::content_of(d);
  std::erase_if(of_d.factors, [](Expr f) { return range_of(f).low < 0; });
  for (const Affine::Term& t : x.terms) {
    const Monomial g = algebra::common(of_d, t);
    if (!(g > largest)) continue;
    if (auto shortened = shorten_by(algebra::sum_of(g), x, d)) best = shortened, largest = g;
  }
  if (best || d.terms.empty()) return best;
  const auto rest = algebra::exact_quotient(d, algebra::sum_of(of_d));
  return rest && of_d > Monomial() && !rest->terms.empty() ? shorten_by(*rest, x, d) : std::nullopt;
}

/// A factor x % n of a term, where another term has the factor x / n; null where there is none.
Expr remainder_with_quotient(const Affine& a, Expr term) {
  if (term.op() != Op::Mod && !is_symbolic(term)) return {};
  for (Expr rest : factors_of(term)) {
    if (rest.op() != Op::Mod || !is_size(rest.arg(1)) || !algebra::is_positive_at_points(rest.arg(1), rest.arg(0)))
      continue;
    const auto is_quotient = [&](Expr f) {
      return f.op() == Op::FloorDiv && f.arg(0) == rest.arg(0) && f.arg(1) == rest.arg(1);
    };
    for (const Affine::Term& t : a.terms)
      if (std::ranges::any_of(factors_of(t.term), is_quotient)) return rest;
  }
  return {};
}

/// c*n*(x / n) + c*(x % n) is c*x: what a reshape of a reshape leaves behind. Here c is a number and may have factors.
void recombine(Affine& a) {
  for (const Affine::Term& t : a.terms) {
    const Expr rest = remainder_with_quotient(a, t.term);
    if (!rest) continue;
    const Expr x = rest.arg(0), n = rest.arg(1);
    std::vector<Expr> others = factors_of(t.term);
    others.erase(std::ranges::find(others, rest));
    const Expr c = product_of(std::move(others)) * integer(t.coefficient);
    const Affine quotient = affine(floor_div(x, n) * n * c);
    if (!std::ranges::all_of(quotient.terms,
                             [&](const Affine::Term& q) { return a.coefficient_of(q.term) == q.coefficient; }))
      continue;
    std::erase_if(a.terms, [&](const Affine::Term& o) { return o.term == t.term || quotient.coefficient_of(o.term); });
    a = affine(from_affine(a) + x * c);
    return recombine(a);
  }
}

Expr simplify_node(Expr e);

Expr simplify_sum(Expr e) {
  Affine a = affine(e);
  recombine(a);
  return from_affine(a);
}

/// (y / a + c) / d is (y + a * c) / (a * d) for numbers above 0; with a c beside 0 of sizes alone. Null where it is
/// something else.
Expr quotient_of_quotient(const Affine& x, Expr d) {
  if (x.terms.size() != 1 || x.terms[0].coefficient != 1 || !d.is_const()) return {};
  const Expr quotient = x.terms[0].term;
  if (quotient.op() != Op::FloorDiv || !quotient.arg(1).is_const() || quotient.arg(1).int_value() <= 0) return {};
  if (x.constant && !is_size(quotient)) return {};
  const int64_t a = quotient.arg(1).int_value();
  int64_t both, more;
  if (__builtin_mul_overflow(a, d.int_value(), &both) || __builtin_mul_overflow(a, x.constant, &more)) return {};
  Affine sum = affine(quotient.arg(0));
  if (__builtin_add_overflow(sum.constant, more, &sum.constant) || !never_wraps(sum)) return {};
  return floor_div(x.constant ? from_affine(sum) : quotient.arg(0), integer(both));
}

/// x / -d is -x / d; null where that may wrap.
Expr quotient_by_negative(Expr e) {
  if (e.op() != Op::FloorDiv || !e.arg(1).is_const() || e.arg(1).int_value() >= 0) return {};
  const Affine x = affine(e.arg(0));
  const auto negated = algebra::multiply_add(x, algebra::number(-1), algebra::number(0));
  if (e.arg(1).int_value() == INT64_MIN || !never_wraps(x) || !negated || !never_wraps(*negated)) return {};
  return floor_div(from_affine(*negated), integer(-e.arg(1).int_value()));
}

/// x + c = d * quotient + rest, for a number d: the constant of the rest is from 0 to d - 1, so that equal quotients
/// are written alike. Nothing where it is already.
struct WholeOfConstant {
  int64_t quotient;
  Affine rest;
};
std::optional<WholeOfConstant> whole_of_constant(const Affine& x, const Affine& d) {
  if (!d.terms.empty() || x.terms.empty()) return std::nullopt;
  const int64_t c = x.constant, by = d.constant;
  const int64_t quotient = c / by - (c % by < 0);
  WholeOfConstant whole{quotient, x};
  whole.rest.constant = c - quotient * by;
  return quotient && never_wraps(whole.rest) ? std::optional(whole) : std::nullopt;
}

/// x / d or x % d for a number or a size d, above 0 wherever there is a point. Only what holds of whole numbers is
/// used, so neither may wrap.
Expr simplify_division(Expr e) {
  if (const Expr by_positive = quotient_by_negative(e)) return simplify_index(by_positive);
  if (!is_size(e.arg(1)) || !algebra::is_positive_at_points(e.arg(1), e.arg(0))) return e;
  const bool truncates = e.op() == Op::Div || e.op() == Op::FMod,
             quotient = e.op() == Op::Div || e.op() == Op::FloorDiv;
  if (truncates && range_of(e.arg(0)).low < 0) return e;
  const Expr x = e.arg(0), d = e.arg(1);
  const Affine sum = affine(x), by = affine(d);
  if (never_wraps(sum) && never_wraps(by)) {
    if (const auto whole = whole_of_constant(sum, by)) {
      const Expr rest = from_affine(whole->rest);
      return quotient ? simplify_sum(simplify_node(floor_div(rest, d)) + integer(whole->quotient))
                      : simplify_node(mod(rest, d));
    }
    if (auto parts = split(sum, by)) return from_affine(quotient ? parts->first : parts->second);
    if (const Expr once = quotient ? quotient_of_quotient(sum, d) : Expr()) return simplify_index(once);
    if (auto whole = take_multiples(sum, by)) {
      Expr rest = from_affine(whole->second);
      return quotient ? simplify_sum(from_affine(whole->first) + simplify_node(floor_div(rest, d)))
                      : simplify_node(mod(rest, d));
    }
    if (auto s = shorten(sum, by)) {
      const Expr q = from_affine(s->q), left = from_affine(s->left);
      return quotient ? simplify_node(floor_div(q, left))
                      : simplify_sum(simplify_node(mod(q, left)) * from_affine(s->g) + from_affine(s->r));
    }
  }
  return quotient ? floor_div(x, d) : mod(x, d);
}

/// Whether a <= b, or a < b, is proven: by their ranges, or of what has symbols by their difference.
bool is_at_most(Expr a, Expr b, bool strictly = false) {
  if (range_of(a).high <= range_of(b).low - strictly) return true;
  return a.type() == DType::i64 && (is_symbolic(a) || is_symbolic(b)) && algebra::is_ordered(a, b, strictly);
}

/// n == 1 ? 0 : i where 0 <= i < n: along an axis that may be broadcast, and is not. That is i.
bool is_index_of_broadcast(Expr select) {
  const Expr condition = select.arg(0), i = select.arg(2);
  if (condition.op() != Op::Eq || !condition.arg(1).is_const(1) || !is_size(condition.arg(0))) return false;
  return i.type() == DType::i64 && select.arg(1).is_const(0) && is_at_most(integer(0), i) &&
         is_at_most(i, condition.arg(0), true);
}

/// n == c ? f(n) : n where f(c) is c: what broadcasts against a size that is cut off. That is n.
bool is_chosen_anyway(Expr select) {
  const Expr condition = select.arg(0), n = select.arg(2);
  if (condition.op() != Op::Eq || condition.arg(0) != n || !condition.arg(1).is_const() || !is_size(select.arg(1)))
    return false;
  const Expr c = condition.arg(1);
  return simplify_index(rewrite(select.arg(1), [&](Expr e) { return e == n ? c : e; })) == c;
}

Expr simplify_node(Expr e) {
  if (e.type() != DType::i64 && e.type() != DType::b1) return e;
  switch (e.op()) {
    case Op::Add:
    case Op::Sub:
    case Op::Mul: return e.type() == DType::i64 ? simplify_sum(e) : e;
    case Op::Div:
    case Op::FloorDiv:
    case Op::Mod:
    case Op::FMod: return simplify_division(e);
    case Op::Min:
    case Op::Max: {
      if (is_at_most(e.arg(0), e.arg(1))) return e.arg(e.op() == Op::Min ? 0 : 1);
      if (is_at_most(e.arg(1), e.arg(0))) return e.arg(e.op() == Op::Min ? 1 : 0);
      return e;
    }
    case Op::Select: return is_index_of_broadcast(e) || is_chosen_anyway(e) ? e.arg(2) : e;
    case Op::Lt:
    case Op::Le: {
      if (e.arg(0).type() != DType::i64) return e;
      const bool strictly = e.op() == Op::Lt;
      if (is_at_most(e.arg(0), e.arg(1), strictly)) return boolean(true);
      if (is_at_most(e.arg(1), e.arg(0), !strictly)) return boolean(false);
      return e;
    }
    case Op::Eq: {
      if (e.arg(0).type() != DType::i64) return e;
      const bool differ = is_at_most(e.arg(0), e.arg(1), true) || is_at_most(e.arg(1), e.arg(0), true);
      return differ ? boolean(false) : e;
    }
    default: return e;
  }
}

}  // namespace

bool looks_up_bytes(Expr read) {
  if (byte_size(read.type()) != 1 || !read.guard().is_const(1) || range_of(read.offset()) != Interval{0, UINT8_MAX})
    return false;
  bool is_of_data = false;
  visit(std::vector<Expr>{read.offset()}, [&](Expr e) { is_of_data |= e.op() == Op::Read || e.op() == Op::Acc; });
  return is_of_data;
}

Interval range_of(Op op, DType type, std::span<const Expr> args, uint64_t bits) {
  const Interval all = values_of(type);
  if (!is_whole(type)) return all;
  if (op == Op::Const) {
    const Wide value = all.low < 0 ? Wide(static_cast<int64_t>(bits)) : Wide(bits);
    return {value, value};
  }
  const std::optional<Interval> r = unwrapped(op, args, bits);
  return r && within(*r, all) ? *r : all;
}

/// Short forms are kept, and are their own short forms: an expression that grows a node at a time costs one node each
/// time.
Expr simplify_index(Expr root) {
  static std::unordered_map<Expr, Expr, ExprHash> known;
  for (std::vector<Expr> open{root}; !open.empty();) {
    Expr e = open.back();
    size_t arguments = open.size();
    if (!known.count(e))
      for (Expr a : std::views::reverse(e.args()))
        if (!known.count(a)) open.push_back(a);
    if (open.size() > arguments) continue;
    open.pop_back();
    if (known.count(e)) continue;
    std::vector<Expr> args;
    for (Expr a : e.args()) args.push_back(known.at(a));
    Expr made = std::ranges::equal(args, e.args()) ? e : make(e.op(), e.type(), std::move(args), e.bits());
    auto it = known.find(made);
    Expr short_form = it == known.end() ? simplify_node(made) : it->second;
    known[e] = short_form;
    known.emplace(short_form, short_form);
  }
  return known.at(root);
}

}  // namespace cameo
