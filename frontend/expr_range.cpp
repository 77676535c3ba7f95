// Ranges, affine forms and the index simplifier: how checks that can never fail, and divisions that undo products,
// vanish.
#include <algorithm>
#include <map>
#include <numeric>
#include <ranges>
#include <unordered_map>

#include "frontend/check.h"
#include "frontend/expr.h"

namespace cameo {
namespace {

using Ranges = std::unordered_map<Expr, Interval, ExprHash>;

bool add(int64_t a, int64_t b, int64_t& r) { return !__builtin_add_overflow(a, b, &r); }
bool mul(int64_t a, int64_t b, int64_t& r) { return !__builtin_mul_overflow(a, b, &r); }

Interval combine(Op op, Interval a, Interval b) {
  if (op == Op::Min) return {std::min(a.low, b.low), std::min(a.high, b.high)};
  if (op == Op::Max) return {std::max(a.low, b.low), std::max(a.high, b.high)};
  if (op == Op::Mod && b.low > 0)
    return a.low >= 0 ? Interval{0, std::min(a.high, b.high - 1)} : Interval{0, b.high - 1};
  if (!a.known() || !b.known()) {
    if (op == Op::Add) {  // one-sided bounds survive sums
      Interval r;
      if (a.low != INT64_MIN && b.low != INT64_MIN && !add(a.low, b.low, r.low)) r.low = INT64_MIN;
      if (a.high != INT64_MAX && b.high != INT64_MAX && !add(a.high, b.high, r.high)) r.high = INT64_MAX;
      return r;
    }
    return {};
  }
  int64_t c[4];
  bool ok = true;
  switch (op) {
    case Op::Add:
      ok = add(a.low, b.low, c[0]) && add(a.high, b.high, c[1]);
      c[2] = c[0];
      c[3] = c[1];
      break;
    case Op::Sub:
      ok = add(a.low, -b.high, c[0]) && add(a.high, -b.low, c[1]);
      c[2] = c[0];
      c[3] = c[1];
      break;
    case Op::Mul:
      ok = mul(a.low, b.low, c[0]) && mul(a.low, b.high, c[1]) && mul(a.high, b.low, c[2]) && mul(a.high, b.high, c[3]);
      break;
    case Op::Div:
    case Op::FloorDiv: {
      if (b.low <= 0) return {};
      auto div = [&](int64_t x, int64_t y) { return op == Op::Div ? x / y : x / y - (x % y < 0); };
      c[0] = div(a.low, b.low);
      c[1] = div(a.low, b.high);
      c[2] = div(a.high, b.low);
      c[3] = div(a.high, b.high);
      break;
    }
    case Op::FMod:
      if (b.low <= 0) return {};
      return {a.low >= 0 ? 0 : 1 - b.high, std::min(a.high >= 0 ? b.high - 1 : 0, std::max<int64_t>(a.high, 0))};
    default: return {};
  }
  return ok ? Interval{*std::min_element(c, c + 4), *std::max_element(c, c + 4)} : Interval{};
}

Interval storage_range(DType t) {
  switch (t) {
    case DType::b1: return {0, 1};
    case DType::u8: return {0, 255};
    case DType::i8: return {-128, 127};
    case DType::u16: return {0, 65535};
    case DType::i16: return {-32768, 32767};
    case DType::u32: return {0, UINT32_MAX};
    case DType::i32: return {INT32_MIN, INT32_MAX};
    default: return {};
  }
}

Interval range_of(Expr e, Ranges& memo) {
  if (is_float(e.type())) return {};
  if (auto it = memo.find(e); it != memo.end()) return it->second;
  Interval r = storage_range(e.type());
  auto sub = [&](int i) { return range_of(e.arg(i), memo); };
  switch (e.op()) {
    case Op::Const: r = {e.int_value(), e.int_value()}; break;
    case Op::Symbol: r = {0, INT64_MAX}; break;  // a dim
    case Op::Var: {
      int64_t high = sub(0).high;
      r = {0, high == INT64_MAX ? high : std::max<int64_t>(high - 1, 0)};
      break;
    }
    case Op::Neg: {
      Interval a = sub(0);
      if (a.known()) r = {-a.high, -a.low};
      break;
    }
    case Op::Select: {
      Interval a = sub(1), b = sub(2);
      r = {std::min(a.low, b.low), std::max(a.high, b.high)};
      break;
    }
    case Op::Cast:
      if (is_integer(e.arg(0).type()) || e.arg(0).type() == DType::b1) {
        Interval a = sub(0), to = storage_range(e.type());
        if (!to.known() || (a.low >= to.low && a.high <= to.high)) r = a;
      }
      break;
    case Op::Fold:
      if (e.fold_kind() >= FoldKind::ArgMin)
        r = range_of(e.arg(0), memo);
      else if (e.fold_kind() == FoldKind::Min || e.fold_kind() == FoldKind::Max)
        r = storage_range(e.type());
      break;
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Div:
    case Op::FloorDiv:
    case Op::Mod:
    case Op::FMod:
    case Op::Min:
    case Op::Max: {
      Interval c = combine(e.op(), sub(0), sub(1));
      if (e.type() == DType::i64 || (c.low >= r.low && c.high <= r.high)) r = c;  // narrower types may wrap
      break;
    }
    default: break;
  }
  return memo[e] = r;
}

void collect(Expr e, int64_t factor, std::map<uint32_t, Affine::Term>& terms, int64_t& constant) {
  if (e.is_const()) {
    constant += factor * e.int_value();
  } else if (e.op() == Op::Add || e.op() == Op::Sub) {
    collect(e.arg(0), factor, terms, constant);
    collect(e.arg(1), e.op() == Op::Add ? factor : -factor, terms, constant);
  } else if (e.op() == Op::Neg) {
    collect(e.arg(0), -factor, terms, constant);
  } else if (e.op() == Op::Mul && e.arg(1).is_const()) {
    collect(e.arg(0), factor * e.arg(1).int_value(), terms, constant);
  } else {
    auto& t = terms.try_emplace(e.id(), Affine::Term{e, 0}).first->second;
    t.coefficient += factor;
  }
}

bool within(Interval r, int64_t low, int64_t high) { return r.low >= low && r.high <= high; }

/// n = d*q + rest with 0 <= rest < d proven: the pair that both n / d and n % d need.
std::optional<std::pair<Affine, Affine>> split(const Affine& n, int64_t d) {
  Affine quotient, rest;
  for (auto& t : n.terms) (t.coefficient % d == 0 ? quotient : rest).terms.push_back(t);
  for (auto& t : quotient.terms) t.coefficient /= d;
  int64_t floor = n.constant / d - (n.constant % d < 0);
  for (int64_t q : {floor, floor + 1, floor - 1}) {  // the constant may belong to either side of a term's range
    Affine r = rest;
    r.constant = n.constant - q * d;
    if (within(range_of(from_affine(r)), 0, d - 1)) {
      quotient.constant = q;
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
  if (q.terms.empty()) return std::nullopt;
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
    int64_t g = std::gcd(t.coefficient, d);
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
      if (a.terms[j].coefficient != c * rest.arg(1).int_value()) continue;
      a.terms.erase(a.terms.begin() + static_cast<long>(std::max(i, j)));
      a.terms.erase(a.terms.begin() + static_cast<long>(std::min(i, j)));
      a = affine(from_affine(a) + rest.arg(0) * integer(c));
      return recombine(a);
    }
  }
}

Expr simplify_sum(Expr e) {
  Affine a = affine(e);
  recombine(a);
  return from_affine(a);
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
    case Op::FMod: {
      if (!e.arg(1).is_const() || e.arg(1).int_value() <= 0) return e;
      Interval r = range_of(e.arg(0));
      bool truncating = e.op() == Op::Div || e.op() == Op::FMod;
      if (truncating && r.low < 0) return e;
      auto parts = split(affine(e.arg(0)), e.arg(1).int_value());
      bool quotient = e.op() == Op::Div || e.op() == Op::FloorDiv;
      if (parts) return from_affine(quotient ? parts->first : parts->second);
      if (quotient && e.arg(0).op() == Op::FloorDiv && e.arg(0).arg(1).is_const())  // (x / a) / b == x / (a * b)
        return simplify_index(floor_div(e.arg(0).arg(0), e.arg(0).arg(1) * e.arg(1)));
      if (auto whole = take_multiples(affine(e.arg(0)), e.arg(1).int_value())) {
        Expr rest = from_affine(whole->second);
        return quotient ? simplify_sum(from_affine(whole->first) + simplify_node(floor_div(rest, e.arg(1))))
                        : simplify_node(mod(rest, e.arg(1)));
      }
      if (auto s = shorten(affine(e.arg(0)), e.arg(1).int_value())) {
        Expr x = from_affine(s->q), d = integer(e.arg(1).int_value() / s->g);
        return quotient ? simplify_node(floor_div(x, d))
                        : simplify_sum(simplify_node(mod(x, d)) * integer(s->g) + from_affine(s->r));
      }
      return quotient ? floor_div(e.arg(0), e.arg(1)) : mod(e.arg(0), e.arg(1));
    }
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

Interval range_of(Expr e) {
  static Ranges memo;  // of every node asked for: nodes live as long as the process, and their ranges never change
  return range_of(e, memo);
}

int64_t Affine::coefficient_of(Expr term) const {
  for (const Term& t : terms)
    if (t.term == term) return t.coefficient;
  return 0;
}

Affine affine(Expr e) {
  std::map<uint32_t, Affine::Term> terms;
  Affine a;
  collect(e, 1, terms, a.constant);
  for (auto& [id, t] : terms)
    if (t.coefficient) a.terms.push_back(t);
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
