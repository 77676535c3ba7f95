// The pool of hash-consed nodes, their makers with exact integer folding, and their text; dims and shapes.
#include "frontend/ir/expr.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "frontend/ir/check.h"
#include "frontend/ir/diagnostic.h"
#include "frontend/ir/limits.h"

namespace cameo {
namespace {

struct NodeKey {
  const ExprNode* node;
};
size_t hash_of(const ExprNode& n) {
  size_t h = static_cast<size_t>(n.op) * 31 + static_cast<size_t>(n.type);
  h = h * 0x9E3779B97F4A7C15ull + n.bits;
  for (Expr a : n.args) h = (h ^ a.id()) * 0x9E3779B97F4A7C15ull;
  return h ^ h >> 29;
}
struct KeyHash {
  size_t operator()(const NodeKey& k) const { return hash_of(*k.node); }
};
struct KeyEqual {
  bool operator()(const NodeKey& a, const NodeKey& b) const {
    return a.node->op == b.node->op && a.node->type == b.node->type && a.node->bits == b.node->bits &&
           a.node->args == b.node->args;
  }
};

// One pool a process: a compiler run is one thread that builds expressions, and equality must hold between graphs.
struct Pool {
  std::deque<ExprNode> nodes;
  std::unordered_set<NodeKey, KeyHash, KeyEqual> index;
  struct Symbol {
    std::string name;
    Interval bounds;
    bool open;
  };
  std::vector<Symbol> symbols;
  std::map<std::tuple<std::string, Wide, Wide, bool>, uint64_t> symbol_numbers;
  uint64_t vars = 0;
};
Pool& pool() {
  static Pool p;
  return p;
}

constexpr std::string_view kFunctions[] = {
#define OP(name, arity, text) text,
#include "frontend/ir/expr_ops.def"
#undef OP
};

bool is_int_const(Expr e) { return e.is_const() && !is_float(e.type()); }

/// Wraps a 64-bit pattern to the width and sign of an integer type.
int64_t wrap(int64_t v, DType t) {
  switch (t) {
    case DType::b1: return v != 0;
    case DType::i8: return static_cast<int8_t>(v);
    case DType::u8: return static_cast<uint8_t>(v);
    case DType::i16: return static_cast<int16_t>(v);
    case DType::u16: return static_cast<uint16_t>(v);
    case DType::i32: return static_cast<int32_t>(v);
    case DType::u32: return static_cast<uint32_t>(v);
    case DType::i4: return static_cast<int8_t>(v << 4) >> 4;
    case DType::u4: return v & 15;
    case DType::i2: return static_cast<int8_t>(v << 6) >> 6;
    case DType::u2: return v & 3;
    default: return v;
  }
}

/// What a cast to an integer of less than 8 bits takes: a kernel has a byte for it, which would hold more.
Expr brought_within(Expr a, DType narrow) {
  if (is_float(a.type())) return min(max(a, cast(lowest(narrow), a.type())), cast(highest(narrow), a.type()));
  const Interval range = range_of(a);
  if (range.low >= lowest(narrow).int_value() && range.high <= highest(narrow).int_value()) return a;
  if (!is_signed(narrow)) return apply(Op::BitAnd, {cast(a, DType::u8), cast(highest(narrow), DType::u8)});
  const Expr rest = integer(8 - row(narrow).bits, DType::i8);
  return apply(Op::Shr, {apply(Op::Shl, {cast(a, DType::i8), rest}), rest});
}

int64_t floor_div_int(int64_t a, int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1)) return b == 0 ? 0 : a;
  int64_t q = a / b;
  return q - ((a % b != 0) && ((a < 0) != (b < 0)));
}
/// The remainder of a floored division, which has the sign of `b`.
int64_t mod_int(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// Folds an operation on integer constants of at most 63 significant bits; u64 is left to the interpreter.
std::optional<int64_t> fold_ints(Op op, int64_t a, int64_t b) {
  auto u = [](int64_t v) { return static_cast<uint64_t>(v); };
  switch (op) {
    case Op::Add: return static_cast<int64_t>(u(a) + u(b));
    case Op::Sub: return static_cast<int64_t>(u(a) - u(b));
    case Op::Mul: return static_cast<int64_t>(u(a) * u(b));
    case Op::Div: return b == 0 ? 0 : (b == -1 ? static_cast<int64_t>(0 - u(a)) : a / b);
    case Op::FloorDiv: return floor_div_int(a, b);
    case Op::Mod: return mod_int(a, b);
    case Op::FMod: return b == 0 || b == -1 ? 0 : a % b;
    case Op::Min: return std::min(a, b);
    case Op::Max: return std::max(a, b);
    case Op::Eq: return a == b;
    case Op::Ne: return a != b;
    case Op::Lt: return a < b;
    case Op::Le: return a <= b;
    case Op::And: return a && b;
    case Op::Or: return a || b;
    case Op::Xor: return (a != 0) != (b != 0);
    case Op::BitAnd: return a & b;
    case Op::BitOr: return a | b;
    case Op::BitXor: return a ^ b;
    default: return std::nullopt;
  }
}

bool is_comparison(Op op) { return op == Op::Eq || op == Op::Ne || op == Op::Lt || op == Op::Le; }

/// Identities of integers and booleans, whichever they are; null when none applies.
Expr simplify_pair(Op op, DType type, std::span<const Expr> a) {
  if (is_int_const(a[0]) && is_int_const(a[1]) && a[0].type() != DType::u64)
    if (auto v = fold_ints(op, a[0].int_value(), a[1].int_value())) return integer(*v, type);
  switch (op) {
    case Op::Add:
      if (a[0].is_const(0)) return a[1];
      if (a[1].is_const(0)) return a[0];
      if (a[1].is_const() && a[0].op() == Op::Add && a[0].arg(1).is_const()) return a[0].arg(0) + (a[0].arg(1) + a[1]);
      break;
    case Op::Sub:
      if (a[1].is_const(0)) return a[0];
      if (a[0] == a[1]) return integer(0, type);
      if (a[1].is_const() && type == DType::i64 && a[1].int_value() != INT64_MIN)
        return a[0] + integer(-a[1].int_value(), type);
      break;
    case Op::Mul:
      if (a[0].is_const(0) || a[1].is_const(0)) return integer(0, type);
      if (a[0].is_const(1)) return a[1];
      if (a[1].is_const(1)) return a[0];
      break;
    case Op::Div:
    case Op::FloorDiv:
      if (a[1].is_const(1)) return a[0];
      break;
    case Op::Min:
    case Op::Max:
      if (a[0] == a[1]) return a[0];
      break;
    case Op::Mod:
    case Op::FMod:
      if (a[1].is_const(1)) return integer(0, type);
      break;
    case Op::Eq:
    case Op::Le:
      if (a[0] == a[1]) return boolean(true);
      break;
    case Op::Ne:
    case Op::Lt:
      if (a[0] == a[1]) return boolean(false);
      break;
    case Op::And:
      if (a[0].is_const(0) || a[1].is_const(0)) return boolean(false);
      if (a[0].is_const(1)) return a[1];
      if (a[1].is_const(1)) return a[0];
      break;
    case Op::Or:
      if (a[0].is_const(1) || a[1].is_const(1)) return boolean(true);
      if (a[0].is_const(0)) return a[1];
      if (a[1].is_const(0)) return a[0];
      break;
    default: break;
  }
  return {};
}

/// Of a number.
Expr simplify_number(Op op, DType type, Expr number) {
  int64_t v = number.int_value();
  if (op == Op::Neg && v != INT64_MIN) return integer(-v, type);
  if (op == Op::Abs && v != INT64_MIN) return integer(v < 0 ? -v : v, type);
  if (op == Op::Sign) return integer((v > 0) - (v < 0), type);
  if (op == Op::Not) return boolean(!v);
  if (op == Op::Cast && (is_integer(type) || type == DType::b1)) return integer(v, type);
  if (is_minifloat(type)) return {};
  const int64_t exact = type == DType::f16 ? 1 << 11 : type == DType::bf16 ? 1 << 8 : 1 << 24;
  if (op == Op::Cast && is_float(type) && number.type() != DType::u64 && -exact <= v && v <= exact)
    return constant(type, static_cast<double>(v));
  return {};
}

/// Powers that are a product, a quotient or made of square roots: each rounds once to three times, where pow may be an
/// ULP off.
Expr simplify_power(Expr x, double exponent) {
  if (exponent == 1) return x;
  if (exponent == 2) return x * x;
  if (exponent == 3) return x * x * x;
  if (exponent == -1) return 1 / x;
  const double size = std::abs(exponent);
  if (size != 0.25 && size != 0.5 && size != 0.75 && size != 1.5) return {};
  const Expr root = apply(Op::Sqrt, {x});
  Expr power = root;
  if (size == 0.25) power = apply(Op::Sqrt, {root});
  if (size == 0.75) power = root * apply(Op::Sqrt, {root});
  if (size == 1.5) power = x * root;
  // The power of -0 is that of 0, and -inf's that of inf.
  power = select(eq(x, lowest(x.type())), highest(x.type()), power + 0);
  return exponent > 0 ? power : 1 / power;
}

/// Identities that are exact but for powers; null when none applies.
Expr simplify(Op op, DType type, std::span<const Expr> a) {
  Expr simple;
  if (a.size() == 2 && !is_float(a[0].type())) simple = simplify_pair(op, type, a);
  if (a.size() == 1 && is_int_const(a[0]) && (type != DType::u64 || op == Op::Cast))
    simple = simplify_number(op, type, a[0]);
  if (simple) return simple;
  if (op == Op::Cast && a[0].type() == type) return a[0];
  if (op == Op::Pow && is_float(type) && a[1].is_const()) return simplify_power(a[0], a[1].float_value());
  if (op == Op::Select) {
    if (a[0].is_const(1)) return a[1];
    if (a[0].is_const(0)) return a[2];
    if (a[1] == a[2]) return a[1];
  }
  return {};
}

/// Nothing but a function of its arguments, all of which it evaluates.
bool is_plain(Op op) { return op != Op::Var && op != Op::Acc && op != Op::Load && op != Op::Read && op != Op::Fold; }

bool commutes(Op op) { return op == Op::Add || op == Op::Mul || op == Op::Min || op == Op::Max; }

}  // namespace

std::string_view function_name(Op op) { return kFunctions[static_cast<int>(op)]; }

bool Expr::is_const(int64_t v) const {
  return op() == Op::Const && !is_float(type()) && static_cast<int64_t>(bits()) == v;
}
int64_t Expr::int_value() const {
  CAMEO_CHECK(is_const() && !is_float(type()), "an integer constant");
  return static_cast<int64_t>(bits());
}
double Expr::float_value() const {
  CAMEO_CHECK(is_const() && is_float(type()), "a floating constant");
  return std::bit_cast<double>(bits());
}

Expr make(Op op, DType type, std::vector<Expr> args, uint64_t bits) {
  if (Expr short_form = simplify(op, type, args)) return short_form;
  // integers commute exactly: constants go right, else the older operand first, so that equal sums are equal nodes
  if (args.size() == 2 && commutes(op) && !is_float(type) && type != DType::b1 &&
      (args[0].is_const() || (!args[1].is_const() && args[1].id() < args[0].id())))
    std::swap(args[0], args[1]);
  Pool& p = pool();
  const bool is_symbol = op == Op::Symbol, is_open = is_symbol && pool().symbols[bits].open;
  ExprNode probe{op, type, 0, bits, std::move(args), {}, is_symbol, is_open, is_symbol || op == Op::Const};
  if (auto it = p.index.find({&probe}); it != p.index.end()) return Expr(it->node);
  probe.id = static_cast<uint32_t>(p.nodes.size());
  probe.range = range_of(op, type, probe.args, bits);
  for (Expr a : probe.args) probe.symbolic |= is_symbolic(a), probe.open |= cameo::is_open(a);
  probe.is_size |= is_plain(op) && std::ranges::all_of(probe.args, is_size);
  p.nodes.push_back(std::move(probe));
  p.index.insert({&p.nodes.back()});
  return Expr(&p.nodes.back());
}

Expr constant(DType type, double value) {
  if (!is_float(type)) return integer(static_cast<int64_t>(value), type);
  if (type != DType::f64) value = static_cast<float>(value);  // attributes are float; f16 and bf16 compute in f32
  return make(Op::Const, type, {}, std::bit_cast<uint64_t>(value));
}
Expr integer(int64_t value, DType type) {
  if (is_float(type)) return constant(type, static_cast<double>(value));
  return make(Op::Const, type, {}, static_cast<uint64_t>(wrap(value, type)));
}
Expr lowest(DType t) {
  if (is_float(t)) return constant(t, -std::numeric_limits<double>::infinity());
  return integer(row(t).kind == DKind::Int ? static_cast<int64_t>(~0ull << (row(t).bits - 1)) : 0, t);
}
Expr highest(DType t) {
  if (is_float(t)) return constant(t, std::numeric_limits<double>::infinity());
  if (t == DType::b1) return boolean(true);
  int bits = row(t).bits;
  return integer(static_cast<int64_t>(row(t).kind == DKind::Int ? ~0ull >> (65 - bits) : ~0ull >> (64 - bits)), t);
}
Expr var(Expr extent) { return make(Op::Var, DType::i64, {simplify_index(extent)}, pool().vars++); }
Expr symbol(std::string_view name, Interval bounds, bool open) {
  auto [it, added] =
      pool().symbol_numbers.emplace(std::tuple(name, bounds.low, bounds.high, open), pool().symbols.size());
  if (added) pool().symbols.push_back({std::string(name), bounds, open});
  return make(Op::Symbol, DType::i64, {}, it->second);
}
Expr symbol_of_count(std::string_view name, Interval bounds) {
  return symbol(name, {bounds.low, std::min<Wide>(bounds.high, kMaxExtent)}, bounds.high >= kMaxExtent);
}
std::optional<Expr> symbol_of_element(Expr element) {
  if (element.op() == Op::Cast) element = element.arg(0);
  return element.op() == Op::Symbol ? std::optional(element) : std::nullopt;
}
bool is_open(Expr e) { return e.node()->open; }
std::string_view symbol_name(Expr s) { return pool().symbols[s.bits()].name; }
Interval symbol_bounds(uint64_t bits) { return pool().symbols[bits].bounds; }

Expr load(uint32_t operand, DType type, std::span<const Expr> index, Expr outside, bool checked) {
  std::vector<Expr> args(index.begin(), index.end());
  for (Expr i : args) CAMEO_CHECK(i.type() == DType::i64, "an i64 index");
  args.push_back(outside ? outside : zero(type));
  return make(Op::Load, type, std::move(args), static_cast<uint64_t>(operand) << 1 | checked);
}
Expr read_at(uint32_t operand, DType type, Expr offset, Expr guard, Expr outside, std::span<const Expr> blamed) {
  CAMEO_CHECK(offset.type() == DType::i64 && guard.type() == DType::b1, "an i64 offset and a condition");
  std::vector<Expr> args{offset, guard};
  args.insert(args.end(), blamed.begin(), blamed.end());
  args.push_back(outside);
  return make(Op::Read, type, std::move(args), static_cast<uint64_t>(operand) << 1 | !blamed.empty());
}
namespace {
Expr fold_of_nothing(FoldKind kind, DType type) {
  switch (kind) {
    case FoldKind::Sum: return zero(type);
    case FoldKind::Prod: return constant(type, 1);
    case FoldKind::Min: return highest(type);
    case FoldKind::Max: return lowest(type);
    default: return integer(0);
  }
}
}  // namespace
Expr fold(FoldKind kind, Expr v, Expr body) {
  if (v.extent().is_const() && v.extent().int_value() == 0) return fold_of_nothing(kind, body.type());
  bool arg = kind >= FoldKind::ArgMin;
  return make(Op::Fold, arg ? DType::i64 : body.type(), {v, body}, static_cast<uint64_t>(kind));
}

Expr apply(Op op, std::initializer_list<Expr> args) {
  const Expr* a = args.begin();
  DType type = is_comparison(op) || op == Op::IsNan || op == Op::IsInf ? DType::b1 : a[0].type();
  if (args.size() >= 2 && op != Op::Shl && op != Op::Shr)
    for (size_t i = 1; i < args.size(); ++i) CAMEO_CHECK(a[i].type() == a[0].type(), "operands of one type");
  return make(op, type, args);
}

Expr operator+(Expr a, Expr b) { return apply(Op::Add, {a, b}); }
Expr operator-(Expr a, Expr b) { return apply(Op::Sub, {a, b}); }
Expr operator*(Expr a, Expr b) { return apply(Op::Mul, {a, b}); }
Expr operator/(Expr a, Expr b) { return apply(Op::Div, {a, b}); }
Expr operator-(Expr a) { return apply(Op::Neg, {a}); }
Expr floor_div(Expr a, Expr b) { return apply(Op::FloorDiv, {a, b}); }
Expr mod(Expr a, Expr b) { return apply(Op::Mod, {a, b}); }
Expr min(Expr a, Expr b) { return apply(Op::Min, {a, b}); }
Expr max(Expr a, Expr b) { return apply(Op::Max, {a, b}); }
Expr select(Expr c, Expr yes, Expr no) {
  CAMEO_CHECK(c.type() == DType::b1 && yes.type() == no.type(), "a condition and two values of one type");
  return make(Op::Select, yes.type(), {c, yes, no});
}
Expr cast(Expr a, DType to) {
  const bool narrow = is_packed(to) && is_integer(to) && a.type() != to;
  return make(Op::Cast, to, {narrow ? brought_within(a, to) : a});
}
Expr eq(Expr a, Expr b) { return apply(Op::Eq, {a, b}); }
Expr ne(Expr a, Expr b) { return apply(Op::Ne, {a, b}); }
Expr lt(Expr a, Expr b) { return apply(Op::Lt, {a, b}); }
Expr le(Expr a, Expr b) { return apply(Op::Le, {a, b}); }
Expr logical_and(Expr a, Expr b) { return apply(Op::And, {a, b}); }
Expr logical_or(Expr a, Expr b) { return apply(Op::Or, {a, b}); }
Expr logical_not(Expr a) { return apply(Op::Not, {a}); }

// ---- text -----------------------------------------------------------------------------------------------------------

namespace {
/// `left` bounds the text: a DAG written as a tree may be exponentially long.
std::string text_of(Expr e, int& left) {
  if (--left < 0) return "..";
  auto list = [&](std::span<const Expr> args) {
    std::string s;
    for (Expr a : args) s += (s.empty() ? "" : ", ") + text_of(a, left);
    return s;
  };
  switch (e.op()) {
    case Op::Const: return is_float(e.type()) ? fmt::format("{}", e.float_value()) : fmt::format("{}", e.int_value());
    case Op::Var: return fmt::format("i{}", e.var_number());
    case Op::Symbol: return printable(symbol_name(e));
    case Op::Add: return fmt::format("({} + {})", text_of(e.arg(0), left), text_of(e.arg(1), left));
    case Op::Sub: return fmt::format("({} - {})", text_of(e.arg(0), left), text_of(e.arg(1), left));
    case Op::Mul: return fmt::format("({} * {})", text_of(e.arg(0), left), text_of(e.arg(1), left));
    case Op::Load:
    case Op::Read: return fmt::format("x{}[{}]", e.operand(), list(e.args().first(e.args().size() - 1)));
    case Op::Fold: {
      constexpr std::string_view kinds[] = {"sum",    "prod",   "min",         "max",
                                            "argmin", "argmax", "argmin_last", "argmax_last"};
      return fmt::format("{}({} < {}: {})", kinds[e.bits()], text_of(e.arg(0), left), text_of(e.arg(0).extent(), left),
                         text_of(e.arg(1), left));
    }
    case Op::Cast: return fmt::format("{}({})", name(e.type()), text_of(e.arg(0), left));
    default: return fmt::format("{}({})", function_name(e.op()), list(e.args()));
  }
}
}  // namespace
std::string to_string(Expr e) {
  int left = 2000;
  return text_of(e, left);
}

// ---- dims -----------------------------------------------------------------------------------------------------------

int64_t Dim::upper() const {
  if (is_static()) return value();
  const Wide high = range_of(extent_).high;
  return !is_open(extent_) && high < kMaxExtent ? static_cast<int64_t>(high) : kOpen;
}

int64_t Dim::estimate() const {
  constexpr int64_t kLikely = 1024;  // of a size without a bound
  if (upper() != kOpen) return upper();
  return is_size(extent_) ? kLikely : 1;  // or it comes out of data
}

namespace {
using Overflows = bool (*)(int64_t a, int64_t b, int64_t* result);
bool add_overflows(int64_t a, int64_t b, int64_t* r) { return __builtin_add_overflow(a, b, r); }
bool sub_overflows(int64_t a, int64_t b, int64_t* r) { return __builtin_sub_overflow(a, b, r); }
bool mul_overflows(int64_t a, int64_t b, int64_t* r) { return __builtin_mul_overflow(a, b, r); }

/// No tensor has an extent that needs more than 64 bits.
void check_fits(Dim a, Dim b, std::string_view sign, Overflows overflows) {
  int64_t r;
  if (!a.is_static() || !b.is_static() || !overflows(a.value(), b.value(), &r)) return;
  throw CompileError(Code::E0405,
                     fmt::format("an extent of {} {} {}, more than fits into any memory", a.value(), sign, b.value()));
}
}  // namespace
Dim operator+(Dim a, Dim b) {
  check_fits(a, b, "+", add_overflows);
  return Dim(simplify_index(a.extent() + b.extent()));
}
Dim operator-(Dim a, Dim b) {
  check_fits(a, b, "-", sub_overflows);
  return Dim(simplify_index(a.extent() - b.extent()));
}
Dim operator*(Dim a, Dim b) {
  check_fits(a, b, "*", mul_overflows);
  return Dim(simplify_index(a.extent() * b.extent()));
}
Dim operator/(Dim a, Dim b) { return Dim(simplify_index(floor_div(a.extent(), b.extent()))); }
std::string to_string(Dim d) { return to_string(d.extent()); }
std::string title_of(Dim d) {
  constexpr size_t kMost = 24;
  const Expr e = d.extent();
  if (e.is_const()) return {};
  if (e.op() == Op::Symbol) return std::string(symbol_name(e));
  std::string text = to_string(e);
  size_t end = 0;  // of what the first parenthesis opens
  for (int depth = 0; end < text.size(); ++end) {
    depth += (text[end] == '(') - (text[end] == ')');
    if (depth == 0) break;
  }
  if (text.size() > 2 && end + 1 == text.size()) text = text.substr(1, text.size() - 2);
  return text.size() > kMost ? "" : text;
}
std::string range_text(Interval sizes) {
  const auto low = static_cast<int64_t>(sizes.low);
  return sizes.high >= kMaxExtent ? fmt::format("{}..", low)
                                  : fmt::format("{}..{}", low, static_cast<int64_t>(sizes.high));
}

bool is_static(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](const Dim& d) { return d.is_static(); });
}
bool has_no_elements(const Shape& shape) {
  return std::any_of(shape.begin(), shape.end(), [](const Dim& d) { return d.is_static(0); });
}
std::vector<int64_t> extents(const Shape& shape) {
  std::vector<int64_t> v;
  for (const Dim& d : shape) v.push_back(d.value());
  return v;
}
Dim product(const Shape& shape, size_t begin, size_t end) {
  Dim p = 1;
  for (size_t i = begin; i < std::min(end, shape.size()); ++i) p = p * shape[i];
  return p;
}
Shape shape_of(std::span<const int64_t> dims) { return Shape(dims.begin(), dims.end()); }
std::string to_string(const Shape& shape) {
  std::string s;
  for (const Dim& d : shape) s += (s.empty() ? "" : "x") + to_string(d);
  return shape.empty() ? "scalar" : s;
}

}  // namespace cameo
