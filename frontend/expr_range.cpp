// Intervals, affine forms and the index simplifier: how checks that can never fail, and divisions that undo products,
// vanish.
#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <ranges>
#include <unordered_map>

#include "frontend/check.h"
#include "frontend/expr.h"
#include "frontend/limits.h"

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

/// The unwrapped product; nothing where 128 bits do not hold it.
std::optional<Interval> product(Interval a, Interval b) {
  Wide corner[4];
  if (__builtin_mul_overflow(a.low, b.low, &corner[0]) || __builtin_mul_overflow(a.low, b.high, &corner[1]) ||
      __builtin_mul_overflow(a.high, b.low, &corner[2]) || __builtin_mul_overflow(a.high, b.high, &corner[3]))
    return std::nullopt;
  return hull({corner[0], corner[1], corner[2], corner[3]});
}

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
    case Op::Symbol: return Interval{0, kMaxExtent};
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
    case Op::Mul: return product(of(0), of(1));
    case Op::Div:
    case Op::FloorDiv: return quotient(op, of(0), of(1));
    case Op::Mod:
    case Op::FMod: return remainder(op, of(0), of(1));
    case Op::Min: return Interval{std::min(of(0).low, of(1).low), std::min(of(0).high, of(1).high)};
    case Op::Max: return Interval{std::max(of(0).low, of(1).low), std::max(of(0).high, of(1).high)};
    default: return std::nullopt;
  }
}

int64_t wrapping(Wide v) { return static_cast<int64_t>(static_cast<uint64_t>(v)); }

/// The unwrapped range of a sum of products; nothing where 128 bits do not hold it.
std::optional<Interval> unwrapped(const Affine& a) {
  Interval sum{a.constant, a.constant};
  for (const Affine::Term& t : a.terms) {
    auto r = product(range_of(t.term), {t.coefficient, t.coefficient});  // below 2^127: both factors have 64 bits
    if (!r || __builtin_add_overflow(sum.low, r->low, &sum.low) || __builtin_add_overflow(sum.high, r->high, &sum.high))
      return std::nullopt;
  }
  return sum;
}

/// n = d*q + rest with 0 <= rest < d proven: the pair that both n / d and n % d need. `n` never wraps.
std::optional<std::pair<Affine, Affine>> split(const Affine& n, int64_t d) {
  Affine quotient, rest;
  for (auto& t : n.terms) (t.coefficient % d == 0 ? quotient : rest).terms.push_back(t);
  for (auto& t : quotient.terms) t.coefficient /= d;
  int64_t floor = n.constant / d - (n.constant % d < 0);
  for (Wide q :
       {Wide(floor), Wide(floor) + 1, Wide(floor) - 1}) {  // the constant may go to either side of a term's range
    const Wide constant = n.constant - q * d;
    Affine r = rest;
    r.constant = wrapping(constant);
    if (auto range = unwrapped(r); range && r.constant == constant && within(*range, {0, d - 1})) {
      quotient.constant = wrapping(q);
      return std::pair(quotient, r);
    }
  }
  return std::nullopt;
}

/// x = d * q + r, where r has none of the terms that d divides: then x / d is q + r / d, and x % d is r % d.
std::optional<std::pair<Affine, Affine>> take_multiples(const Affine& x, int64_t d) {
  Affine q, r;
  r.constant = x.constant;
  for (Affine::Term t : x.terms) {
    if (t.coefficient % d)
      r.terms.push_back(t);
    else
      q.terms.push_back({t.term, t.coefficient / d});
  }
  if (q.terms.empty() || !never_wraps(r)) return std::nullopt;
  return std::pair(q, r);
}

/// x = g * q + r with 0 <= r < g for a g > 1 that divides d: then x / d is q / (d / g), and x % d is g * (q % (d / g))
/// + r.
struct Shortened {
  int64_t g;
  Affine q, r;
};
std::optional<Shortened> shorten(const Affine& x, int64_t d) {
  std::optional<Shortened> best;
  for (const Affine::Term& t : x.terms) {
    int64_t g = t.coefficient == INT64_MIN ? 1 : std::gcd(t.coefficient, d);
    if (g <= 1 || (best && g <= best->g)) continue;
    if (auto parts = split(x, g)) best = {g, parts->first, parts->second};
  }
  return best;
}

/// c*n*(x / n) + c*(x % n) is c*x: what a reshape of a reshape leaves behind.
void recombine(Affine& a) {
  for (size_t i = 0; i < a.terms.size(); ++i) {
    Expr rest = a.terms[i].term;
    if (rest.op() != Op::Mod || !rest.arg(1).is_const()) continue;
    for (size_t j = 0; j < a.terms.size(); ++j) {
      Expr quotient = a.terms[j].term;
      if (quotient.op() != Op::FloorDiv || quotient.arg(0) != rest.arg(0) || quotient.arg(1) != rest.arg(1)) continue;
      int64_t c = a.terms[i].coefficient;
      if (a.terms[j].coefficient != wrapping(Wide(c) * rest.arg(1).int_value())) continue;
      a.terms.erase(a.terms.begin() + static_cast<long>(std::max(i, j)));
      a.terms.erase(a.terms.begin() + static_cast<long>(std::min(i, j)));
      a = affine(from_affine(a) + rest.arg(0) * integer(c));
      return recombine(a);
    }
  }
}

Expr simplify_node(Expr e);

Expr simplify_sum(Expr e) {
  Affine a = affine(e);
  recombine(a);
  return from_affine(a);
}

/// x / d or x % d for a constant d above 0. Only what holds of whole numbers is used, so x must not wrap.
Expr simplify_division(Expr e) {
  if (!e.arg(1).is_const() || e.arg(1).int_value() <= 0) return e;
  const bool truncates = e.op() == Op::Div || e.op() == Op::FMod,
             quotient = e.op() == Op::Div || e.op() == Op::FloorDiv;
  if (truncates && range_of(e.arg(0)).low < 0) return e;
  const Expr x = e.arg(0), d = e.arg(1);
  const Affine sum = affine(x);
  if (never_wraps(sum)) {
    if (auto parts = split(sum, d.int_value())) return from_affine(quotient ? parts->first : parts->second);
    if (int64_t both; quotient && x.op() == Op::FloorDiv && x.arg(1).is_const() && x.arg(1).int_value() > 0 &&
                      !__builtin_mul_overflow(x.arg(1).int_value(), d.int_value(), &both))
      return simplify_index(floor_div(x.arg(0), integer(both)));  // (x / a) / b == x / (a * b)
    if (auto whole = take_multiples(sum, d.int_value())) {
      Expr rest = from_affine(whole->second);
      return quotient ? simplify_sum(from_affine(whole->first) + simplify_node(floor_div(rest, d)))
                      : simplify_node(mod(rest, d));
    }
    if (auto s = shorten(sum, d.int_value())) {
      Expr q = from_affine(s->q), left = integer(d.int_value() / s->g);
      return quotient ? simplify_node(floor_div(q, left))
                      : simplify_sum(simplify_node(mod(q, left)) * integer(s->g) + from_affine(s->r));
    }
  }
  return quotient ? floor_div(x, d) : mod(x, d);
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
      Interval a = range_of(e.arg(0)), b = range_of(e.arg(1));
      if (a.high <= b.low) return e.arg(e.op() == Op::Min ? 0 : 1);
      if (b.high <= a.low) return e.arg(e.op() == Op::Min ? 1 : 0);
      return e;
    }
    case Op::Lt:
    case Op::Le: {
      if (e.arg(0).type() != DType::i64) return e;
      Interval a = range_of(e.arg(0)), b = range_of(e.arg(1));
      if (e.op() == Op::Lt && a.high < b.low) return boolean(true);
      if (e.op() == Op::Lt && a.low >= b.high) return boolean(false);
      if (e.op() == Op::Le && a.high <= b.low) return boolean(true);
      if (e.op() == Op::Le && a.low > b.high) return boolean(false);
      return e;
    }
    case Op::Eq: {
      if (e.arg(0).type() != DType::i64) return e;
      Interval a = range_of(e.arg(0)), b = range_of(e.arg(1));
      return a.high < b.low || b.high < a.low ? boolean(false) : e;
    }
    default: return e;
  }
}

}  // namespace

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

bool never_wraps(const Affine& a) {
  auto r = unwrapped(a);
  return r && within(*r, values_of(DType::i64));
}

int64_t Affine::coefficient_of(Expr term) const {
  for (const Term& t : terms)
    if (t.term == term) return t.coefficient;
  return 0;
}

Affine affine(Expr root) {
  Affine a;
  // operands are older than what uses them: taken from the youngest on, every node has its whole coefficient
  std::map<uint32_t, Affine::Term, std::greater<>> open{{root.id(), {root, 1}}};
  auto add = [&](Expr e, int64_t coefficient) {
    int64_t& sum = open.try_emplace(e.id(), Affine::Term{e, 0}).first->second.coefficient;
    sum = wrapping(Wide(sum) + coefficient);
  };
  while (!open.empty()) {
    const auto [e, coefficient] = open.extract(open.begin()).mapped();
    if (e.is_const()) {
      a.constant = wrapping(a.constant + Wide(coefficient) * e.int_value());
    } else if (e.op() == Op::Add || e.op() == Op::Sub) {
      add(e.arg(0), coefficient);
      add(e.arg(1), e.op() == Op::Add ? coefficient : wrapping(-Wide(coefficient)));
    } else if (e.op() == Op::Neg) {
      add(e.arg(0), wrapping(-Wide(coefficient)));
    } else if (e.op() == Op::Mul && e.arg(1).is_const()) {
      add(e.arg(0), wrapping(Wide(coefficient) * e.arg(1).int_value()));
    } else if (coefficient) {
      a.terms.push_back({e, coefficient});
    }
  }
  std::ranges::reverse(a.terms);
  return a;
}

Expr from_affine(const Affine& a) {
  Expr sum = integer(0);
  for (const Affine::Term& t : a.terms) sum = sum + t.term * integer(t.coefficient);
  return sum + integer(a.constant);
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
