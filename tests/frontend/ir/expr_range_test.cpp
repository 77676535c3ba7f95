// What is proven of integer expressions holds: random trees over every integer operation and type, with Loads, symbols,
// variables, folds and casts, evaluated at values around the edges of their types. An evaluator of its own over 128-bit
// numbers says what the tree means; the Expr that is made of it (so every identity that applies when a node is made),
// its range, its affine form and what simplify_index makes of it have to agree.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "frontend/ir/expr.h"
#include "frontend/ir/limits.h"

namespace cameo {
namespace {

using Rng = std::mt19937_64;

template <class T>
const T& pick(Rng& rng, const std::vector<T>& from) {
  return from[rng() % from.size()];
}

const std::vector<DType> kTypes{DType::i64, DType::i64, DType::i64, DType::u64, DType::i32,
                                DType::u32, DType::i16, DType::u16, DType::i8,  DType::u8};

Wide wrapped(Wide v, DType t) {
  if (t == DType::b1) return v != 0;
  const int bits = row(t).bits;
  const Wide low =
      static_cast<Wide>(static_cast<unsigned __int128>(v) & ((static_cast<unsigned __int128>(1) << bits) - 1));
  return row(t).kind == DKind::Int && low >> (bits - 1) ? low - (Wide(1) << bits) : low;
}

/// A value at, or next to, an edge of a type, a small one, or any.
Wide extreme(Rng& rng, DType t) {
  static const std::vector<Wide> kEdges{
      0, 1, 2, 3, 5, 7, 255, Wide(1) << 31, Wide(1) << 32, Wide(1) << 62, Wide(1) << 63};
  const Wide edge = pick(rng, kEdges), near = static_cast<Wide>(rng() % 3) - 1;
  return wrapped(rng() % 16 ? (rng() % 2 ? edge : -edge) + near : Wide(rng()), t);
}

/// What a tree is evaluated at: variables and symbols by Expr, Loads by Expr too, each with a value of its own.
using Values = std::map<uint32_t, Wide>;

/// A tree as it was asked for; `made` is what the makers of Expr made of it.
struct Tree {
  Op op;
  DType type;
  std::vector<Tree> args;
  FoldKind fold = FoldKind::Sum;
  Wide value = 0;  // of a Const
  Expr made;
};

Wide floor_of(Wide a, Wide b) { return a / b - ((a % b != 0) && ((a < 0) != (b < 0))); }

Wide evaluate(Op op, DType type, DType from, FoldKind kind, const std::vector<Wide>& a);

Wide fold_of(FoldKind kind, DType type, const std::vector<Wide>& terms) {
  if (kind >= FoldKind::ArgMin) {
    const bool least = kind == FoldKind::ArgMin || kind == FoldKind::ArgMinLast;
    const bool last = kind == FoldKind::ArgMinLast || kind == FoldKind::ArgMaxLast;
    size_t at = 0;
    for (size_t i = 1; i < terms.size(); ++i)
      if (least ? terms[i] < terms[at] : terms[i] > terms[at] || (last && terms[i] == terms[at]))
        at = i;
      else if (last && terms[i] == terms[at])
        at = i;
    return static_cast<Wide>(at);
  }
  constexpr Op kCombine[] = {Op::Add, Op::Mul, Op::Min, Op::Max};
  Wide result = terms.at(0);
  for (size_t i = 1; i < terms.size(); ++i)
    result = evaluate(kCombine[static_cast<int>(kind)], type, type, kind, {result, terms[i]});
  return result;
}

Wide shifted(Op op, DType type, Wide value, Wide by) {
  if (by < 0 || by >= row(type).bits) return 0;
  return op == Op::Shl ? wrapped(value * (Wide(1) << static_cast<int>(by)), type) : value >> static_cast<int>(by);
}

Wide evaluate(Op op, DType type, DType from, FoldKind, const std::vector<Wide>& a) {
  auto whole = [&](Wide v) { return wrapped(v, type); };
  switch (op) {
    case Op::Cast: return whole(a[0]);
    case Op::Select: return a[0] ? a[1] : a[2];
    case Op::Add: return whole(a[0] + a[1]);
    case Op::Sub: return whole(a[0] - a[1]);
    case Op::Mul:
      return whole(static_cast<Wide>(static_cast<unsigned __int128>(a[0]) * static_cast<unsigned __int128>(a[1])));
    case Op::Div: return a[1] == 0 ? 0 : whole(a[0] / a[1]);
    case Op::FloorDiv: return a[1] == 0 ? 0 : whole(floor_of(a[0], a[1]));
    case Op::Mod: return a[1] == 0 ? 0 : a[0] - floor_of(a[0], a[1]) * a[1];
    case Op::FMod: return a[1] == 0 ? 0 : a[0] % a[1];
    case Op::Min: return std::min(a[0], a[1]);
    case Op::Max: return std::max(a[0], a[1]);
    case Op::Neg: return whole(-a[0]);
    case Op::Abs: return whole(a[0] < 0 ? -a[0] : a[0]);
    case Op::Sign: return (a[0] > 0) - (a[0] < 0);
    case Op::Eq: return a[0] == a[1];
    case Op::Ne: return a[0] != a[1];
    case Op::Lt: return a[0] < a[1];
    case Op::Le: return a[0] <= a[1];
    case Op::And: return a[0] && a[1];
    case Op::Or: return a[0] || a[1];
    case Op::Xor: return (a[0] != 0) != (a[1] != 0);
    case Op::Not: return !a[0];
    case Op::BitAnd: return whole(a[0] & a[1]);
    case Op::BitOr: return whole(a[0] | a[1]);
    case Op::BitXor: return whole(a[0] ^ a[1]);
    case Op::BitNot: return whole(~a[0]);
    case Op::Shl:
    case Op::Shr: return shifted(op, from, a[0], a[1]);
    default: ADD_FAILURE() << "no meaning of " << function_name(op); return 0;
  }
}

Wide evaluate(const Tree& t, Values& at) {
  if (t.op == Op::Const) return t.value;
  if (t.op == Op::Var || t.op == Op::Symbol || t.op == Op::Load) return at.at(t.made.id());
  if (t.op == Op::Fold) {
    std::vector<Wide> terms;
    Wide& counter = at[t.args[0].made.id()];
    for (counter = 0; counter < t.args[0].made.extent().int_value(); ++counter)
      terms.push_back(evaluate(t.args[1], at));
    return fold_of(t.fold, t.args[1].type, terms);
  }
  std::vector<Wide> args;
  for (const Tree& a : t.args) args.push_back(evaluate(a, at));
  return evaluate(t.op, t.type, t.args[0].type, t.fold, args);
}

/// Also checks that every node lies in its range.
Wide evaluate(Expr e, Values& at) {
  Wide value = 0;
  if (e.is_const()) {
    value = wrapped(e.int_value(), e.type());
  } else if (e.op() == Op::Var || e.op() == Op::Symbol || e.op() == Op::Load) {
    value = at.at(e.id());
  } else if (e.op() == Op::Fold) {
    std::vector<Wide> terms;
    Wide& counter = at[e.arg(0).id()];
    for (counter = 0; counter < e.arg(0).extent().int_value(); ++counter) terms.push_back(evaluate(e.arg(1), at));
    value = fold_of(e.fold_kind(), e.arg(1).type(), terms);
  } else {
    std::vector<Wide> args;
    for (Expr a : e.args()) args.push_back(evaluate(a, at));
    value = evaluate(e.op(), e.type(), e.arg(0).type(), FoldKind::Sum, args);
  }
  const Interval r = range_of(e);
  EXPECT_TRUE(r.low <= value && value <= r.high) << to_string(e) << " is " << static_cast<int64_t>(value);
  return value;
}

class Trees {
 public:
  explicit Trees(uint64_t seed) : rng_(seed) {
    for (int64_t extent : {1, 2, 3, 8, 100}) vars_.push_back(var(integer(extent)));
    for (const char* name : {"n", "m"}) vars_.push_back(symbol(name));
  }

  Tree tree(DType type, int depth) {
    if (type == DType::b1) return condition(depth);
    if (depth == 0 || rng_() % 8 == 0) return leaf(type);
    switch (rng_() % 16) {
      case 0: return branch(Op::Select, type, {condition(depth - 1), tree(type, depth - 1), tree(type, depth - 1)});
      case 1: return branch(Op::Cast, type, {tree(rng_() % 4 ? pick(rng_, kTypes) : DType::b1, depth - 1)});
      case 2: return branch(pick(rng_, kUnary), type, {tree(type, depth - 1)});
      case 3:
      case 4:
        return branch(pick(rng_, kDivisions), type,
                      {tree(type, depth - 1), constant_of(type, rng_() % 4 ? 1 + rng_() % 12 : extreme(rng_, type))});
      case 5:
      case 6: return branch(Op::Mul, type, {tree(type, depth - 1), constant_of(type, rng_() % 13 - 4)});
      case 7: return branch(pick(rng_, kBounds), type, {tree(type, depth - 1), leaf(type)});
      case 8:
        return rng_() % 4 ? branch(pick(rng_, kShifts), type, {tree(type, depth - 1), leaf(type)})
                          : fold_tree(type, depth);
      default: return branch(pick(rng_, kBinary), type, {tree(type, depth - 1), tree(type, depth - 1)});
    }
  }

  /// Values for every leaf there is: variables below their extents, everything else at the edges.
  Values values() {
    Values at;
    for (Expr v : vars_)
      at[v.id()] = v.op() == Op::Symbol ? (rng_() % 2 ? static_cast<Wide>(rng_() % 5) : Wide(kMaxExtent) - rng_() % 3)
                                        : static_cast<Wide>(rng_() % static_cast<uint64_t>(v.extent().int_value()));
    for (Expr l : loads_) at[l.id()] = extreme(rng_, l.type());
    return at;
  }

 private:
  Tree leaf(DType type) {
    const uint64_t kind = rng_() % 8;
    if (type == DType::i64 && kind < 4) {
      const Expr v = pick(rng_, vars_);
      return {v.op(), type, {}, {}, 0, v};
    }
    if (kind % 2) return constant_of(type, extreme(rng_, type));
    const auto operand = static_cast<uint32_t>(rng_() % 3);
    const std::vector<Expr> index{integer(static_cast<int64_t>(rng_() % 2))};
    const Expr l = load(operand + 4 * static_cast<uint32_t>(type), type, index, zero(type));
    loads_.push_back(l);
    return {Op::Load, type, {}, {}, 0, l};
  }
  Tree constant_of(DType type, Wide value) {
    const Wide v = wrapped(value, type);
    return {Op::Const, type, {}, {}, v, integer(static_cast<int64_t>(static_cast<uint64_t>(v)), type)};
  }
  Tree condition(int depth) {
    if (depth > 0 && rng_() % 3 == 0)
      return branch(pick(rng_, kLogic), DType::b1, {condition(depth - 1), condition(depth - 1)});
    if (depth > 0 && rng_() % 8 == 0) return branch(Op::Not, DType::b1, {condition(depth - 1)});
    const DType of = pick(rng_, kTypes);
    return branch(pick(rng_, kComparisons), DType::b1,
                  {tree(of, std::max(0, depth - 1)), tree(of, std::max(0, depth - 1))});
  }
  Tree fold_tree(DType type, int depth) {
    const Expr counter = var(integer(1 + static_cast<int64_t>(rng_() % 3)));
    vars_.push_back(counter);
    const bool arg = type == DType::i64 && rng_() % 2;
    const auto kind = static_cast<FoldKind>(arg ? 4 + rng_() % 4 : rng_() % 4);
    Tree body = tree(arg ? pick(rng_, kTypes) : type, depth - 1);
    vars_.pop_back();
    Tree t{Op::Fold, type, {{Op::Var, DType::i64, {}, {}, 0, counter}, body}, kind, 0, fold(kind, counter, body.made)};
    return t;
  }
  Tree branch(Op op, DType type, std::vector<Tree> args) {
    std::vector<Expr> made;
    for (const Tree& a : args) made.push_back(a.made);
    return {op, type, std::move(args), {}, 0, make(op, type, made)};
  }

  const std::vector<Op> kUnary{Op::Neg, Op::Abs, Op::Sign, Op::BitNot},
      kDivisions{Op::Div, Op::FloorDiv, Op::Mod, Op::FMod}, kBounds{Op::Min, Op::Max}, kShifts{Op::Shl, Op::Shr},
      kLogic{Op::And, Op::Or, Op::Xor}, kComparisons{Op::Eq, Op::Ne, Op::Lt, Op::Le},
      kBinary{Op::Add,  Op::Add, Op::Sub, Op::Mul,    Op::Div,   Op::FloorDiv, Op::Mod,
              Op::FMod, Op::Min, Op::Max, Op::BitAnd, Op::BitOr, Op::BitXor};
  Rng rng_;
  std::vector<Expr> vars_, loads_;
};

Wide evaluate(const Affine& a, Values& at) {
  Wide sum = a.constant;
  for (const Affine::Term& t : a.terms) sum = wrapped(sum + t.coefficient * evaluate(t.term, at), DType::i64);
  return sum;
}

void check_trees(uint64_t seed, DType type, int depth) {
  Trees trees(seed);
  const Tree t = trees.tree(type, depth);
  const Expr simplified = simplify_index(t.made);
  for (int i = 0; i < 12; ++i) {
    Values at = trees.values();
    const Wide want = evaluate(t, at);
    EXPECT_TRUE(evaluate(t.made, at) == want) << "as made: " << to_string(t.made);
    EXPECT_TRUE(evaluate(simplified, at) == want) << to_string(t.made) << "\nsimplified: " << to_string(simplified);
    if (type == DType::i64) { EXPECT_TRUE(evaluate(affine(t.made), at) == want) << "as a sum: " << to_string(t.made); }
    if (testing::Test::HasFailure()) {
      std::string values;
      for (auto& [id, v] : at) values += " " + std::to_string(static_cast<int64_t>(v));
      FAIL() << "seed " << seed << ", at" << values;
    }
  }
}

TEST(ExprRange, HoldsForRandomIntegerExpressions) {
  for (uint64_t seed = 0; seed < 30'000 && !HasFailure(); ++seed) check_trees(seed, DType::i64, 2 + seed % 4);
}
TEST(ExprRange, HoldsForRandomConditions) {
  for (uint64_t seed = 0; seed < 10'000 && !HasFailure(); ++seed) check_trees(seed, DType::b1, 2 + seed % 3);
}
TEST(ExprRange, HoldsForNarrowAndUnsignedTypes) {
  for (uint64_t seed = 0; seed < 10'000 && !HasFailure(); ++seed) check_trees(seed, kTypes[3 + seed % 7], 2 + seed % 3);
}

// ---- what has to be proven: without these, checks stay that can never fail ----
TEST(ExprRange, IndicesOfVariablesAreProven) {
  const Expr i = var(integer(10)), j = var(integer(12));
  EXPECT_EQ(range_of(i * integer(12) + j), (Interval{0, 119}));
  EXPECT_EQ(simplify_index(floor_div(i * integer(12) + j, integer(12))), i);
  EXPECT_EQ(simplify_index(mod(i * integer(12) + j, integer(12))), j);
  EXPECT_EQ(simplify_index(lt(i, integer(10))), boolean(true));
  EXPECT_EQ(simplify_index(floor_div(floor_div(i, integer(2)), integer(3))), floor_div(i, integer(6)));
  const Expr n = symbol("batch");
  EXPECT_EQ(simplify_index((n * integer(4)) / integer(4)), n);
}

// ---- sums of numbers that come from data wrap ----
TEST(ExprRange, ATableOfBytesIsLookedUpByWhatDataSay) {
  const Expr i = var(integer(256));
  const auto read = [](Expr offset) { return read_at(0, DType::u8, offset, boolean(true), zero(DType::u8)); };
  EXPECT_FALSE(looks_up_bytes(read(i)));
  EXPECT_TRUE(looks_up_bytes(read(cast(read(i), DType::i64))));
  EXPECT_FALSE(looks_up_bytes(read(cast(read(i), DType::i64) + integer(1))));
}

TEST(ExprRange, OneSidedBoundsEndWithSums) {
  const std::vector<Expr> at{integer(0)};
  const Expr a = max(load(0, DType::i64, at, {}), integer(0)), b = max(load(1, DType::i64, at, {}), integer(0));
  EXPECT_EQ(range_of(a).low, 0);
  EXPECT_EQ(range_of(a + b), Interval{});
  EXPECT_EQ(range_of(abs(load(0, DType::i64, at, {}))), Interval{});
  const Expr u = load(2, DType::u64, at, {});
  EXPECT_EQ(range_of(max(u, integer(255, DType::u64))).high, (Wide(1) << 64) - 1);
  EXPECT_EQ(range_of(cast(max(u, integer(255, DType::u64)), DType::i64)), Interval{});
}

// ---- time: expressions are graphs, not trees ----
TEST(ExprRange, TakesLinearTimeOfSharedAndDeepExpressions) {
  const std::vector<Expr> at{integer(0)};
  Expr doubled = load(0, DType::i64, at, {}), deep = doubled;
  for (int i = 0; i < 200; ++i) doubled = doubled + doubled;
  EXPECT_TRUE(simplify_index(doubled).is_const(0));  // times 2^200
  EXPECT_TRUE(affine(doubled).terms.empty());
  for (int i = 0; i < 100'000; ++i) deep = max(deep, load(static_cast<uint32_t>(i), DType::i64, at, {}));
  EXPECT_EQ(range_of(simplify_index(deep)), Interval{});
}

}  // namespace
}  // namespace cameo
