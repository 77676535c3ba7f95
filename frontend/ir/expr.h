// Expr, the one language of cameo: a typed, hash-consed DAG for scalar bodies, index maps, extents and shape
// arithmetic. Load and Fold are nodes of it, so fusion is substitution and the loop form is read off the finished
// expression. A Load has an index for each axis of a graph's value; a kernel, whose operands are memory, has Reads at
// offsets instead. Semantics are total: integers wrap, x/0 is 0, a cast saturates, and a Load out of range yields its
// `outside`. Integer constants fold and exact integer identities apply when a node is made; floating point is kept as
// written, but that x to the power of 2 is x * x.
#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/ir/check.h"
#include "frontend/ir/limits.h"
#include "frontend/ir/type.h"

namespace cameo {

enum class Op : uint8_t {
#define OP(name, arity, text) name,
#include "frontend/ir/expr_ops.def"
#undef OP
};
std::string_view function_name(Op op);

enum class FoldKind : uint8_t { Sum, Prod, Min, Max, ArgMin, ArgMax, ArgMinLast, ArgMaxLast };

struct ExprNode;

__extension__ typedef __int128 Wide;  // holds every number of every integer type, their sums and most products
struct Interval {
  Wide low = INT64_MIN, high = INT64_MAX;
  bool operator==(const Interval&) const = default;
  bool known() const { return low > INT64_MIN && high < INT64_MAX; }  // of an i64: both ends are less than its type's
};

/// A handle to an immutable node; equal DAGs are equal handles. A default-made Expr is null.
class Expr {
 public:
  Expr() = default;
  explicit Expr(const ExprNode* node) : node_(node) {}
  Op op() const;
  DType type() const;
  uint64_t bits() const;
  std::span<const Expr> args() const;
  Expr arg(int i) const { return args()[i]; }
  uint32_t id() const;  // order of making: the only order that may reach output
  const ExprNode* node() const { return node_; }
  explicit operator bool() const { return node_; }
  bool operator==(const Expr&) const = default;

  bool is_const() const { return op() == Op::Const; }
  bool is_const(int64_t v) const;
  int64_t int_value() const;             // of an integer or bool Const
  double float_value() const;            // of a floating Const
  uint32_t operand() const;              // of a Load or a Read
  bool checked() const;                  // of a Load or a Read: out of range is a status
  Expr outside() const;                  // of a Load or a Read
  std::span<const Expr> index() const;   // of a Load
  Expr offset() const;                   // of a Read: in elements
  Expr guard() const;                    // of a Read: nothing is read where it does not hold
  std::span<const Expr> blamed() const;  // of a Read: see `read_at`
  FoldKind fold_kind() const { return static_cast<FoldKind>(bits()); }  // of a Fold
  uint64_t var_number() const { return bits(); }                        // of a Var
  Expr extent() const { return arg(0); }                                // of a Var

 private:
  Expr as_load() const {
    CAMEO_CHECK(op() == Op::Load, "a Load");
    return *this;
  }
  Expr as_read() const {
    CAMEO_CHECK(op() == Op::Read, "a Read");
    return *this;
  }
  Expr as_either() const {
    CAMEO_CHECK(op() == Op::Load || op() == Op::Read, "a Load or a Read");
    return *this;
  }
  const ExprNode* node_ = nullptr;
};

struct ExprNode {
  Op op;
  DType type;
  uint32_t id;
  uint64_t bits;
  std::vector<Expr> args;
  Interval range;  // of an integer or bool
  bool symbolic;   // a Symbol stands under it
  bool open;       // an open one
  bool is_size;    // nothing but Symbols and constants do
};
inline Op Expr::op() const { return node_->op; }
inline DType Expr::type() const { return node_->type; }
inline uint64_t Expr::bits() const { return node_->bits; }
inline std::span<const Expr> Expr::args() const { return node_->args; }
inline uint32_t Expr::id() const { return node_->id; }
inline uint32_t Expr::operand() const { return static_cast<uint32_t>(as_either().bits() >> 1); }
inline bool Expr::checked() const { return as_either().bits() & 1; }
inline Expr Expr::outside() const { return as_either().args().back(); }
inline std::span<const Expr> Expr::index() const { return as_load().args().first(args().size() - 1); }
inline Expr Expr::offset() const { return as_read().arg(0); }
inline Expr Expr::guard() const { return as_read().arg(1); }
inline std::span<const Expr> Expr::blamed() const { return as_read().args().subspan(2, args().size() - 3); }

struct ExprHash {
  size_t operator()(Expr e) const { return e.id() * 0x9E3779B97F4A7C15ull >> 16; }
};

// ---- making ---------------------------------------------------------------------------------------------------------
Expr make(Op op, DType type, std::vector<Expr> args, uint64_t bits = 0);
Expr constant(DType type, double value);  // integers: truncated; use `integer` for the full range
Expr integer(int64_t value, DType type = DType::i64);
inline Expr zero(DType t) { return constant(t, 0); }
inline Expr one(DType t) { return constant(t, 1); }
inline Expr boolean(bool v) { return integer(v, DType::b1); }
Expr lowest(DType t);   // -infinity, or the smallest integer
Expr highest(DType t);  // +infinity, or the largest integer
Expr var(Expr extent);  // a fresh variable over [0, extent)
/// A size that only a run knows, within these bounds, which whoever binds it has to keep. The bounds are part of what
/// it is: the same name with others is another symbol.
/// `open`: the upper bound is there for proofs alone, far above what any run has; memory is taken when sizes are known.
Expr symbol(std::string_view name, Interval bounds = {0, kMaxExtent}, bool open = false);
/// Of a count: open where its upper bound is none, kMaxExtent or beyond.
Expr symbol_of_count(std::string_view name, Interval bounds);
/// The symbol that an element of a tensor is, whatever its type: see Value::content.
std::optional<Expr> symbol_of_element(Expr element);
std::string_view symbol_name(Expr symbol);
Interval symbol_bounds(uint64_t bits);
bool is_open(Expr e);
/// Whether it holds a Symbol, and whether it is made of Symbols and constants alone: a size, the same for a whole run.
inline bool is_symbolic(Expr e) { return e.node()->symbolic; }
inline bool is_size(Expr e) { return e.node()->is_size; }
Expr load(uint32_t operand, DType type, std::span<const Expr> index, Expr outside, bool checked = false);
/// The element at an offset from where the operand begins, or `outside` where the guard does not hold: an error, if
/// something is blamed for it. What is blamed are three expressions an axis: its index as the data has it, the same
/// counted from 0, and its extent.
Expr read_at(uint32_t operand, DType type, Expr offset, Expr guard, Expr outside, std::span<const Expr> blamed = {});
Expr fold(FoldKind kind, Expr var, Expr body);

/// One argument list for every plain operation; the result type follows the first argument, comparisons give b1.
Expr apply(Op op, std::initializer_list<Expr> args);

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);  // integers: toward zero
Expr operator-(Expr a);
inline Expr like(Expr a, double v) { return constant(a.type(), v); }
inline Expr operator+(Expr a, double b) { return a + like(a, b); }
inline Expr operator-(Expr a, double b) { return a - like(a, b); }
inline Expr operator*(Expr a, double b) { return a * like(a, b); }
inline Expr operator/(Expr a, double b) { return a / like(a, b); }
inline Expr operator+(double a, Expr b) { return like(b, a) + b; }
inline Expr operator-(double a, Expr b) { return like(b, a) - b; }
inline Expr operator*(double a, Expr b) { return like(b, a) * b; }
inline Expr operator/(double a, Expr b) { return like(b, a) / b; }
Expr floor_div(Expr a, Expr b);
Expr mod(Expr a, Expr b);  // sign of the divisor
Expr min(Expr a, Expr b);
Expr max(Expr a, Expr b);
Expr select(Expr condition, Expr yes, Expr no);
Expr cast(Expr a, DType to);
Expr eq(Expr a, Expr b);
Expr ne(Expr a, Expr b);
Expr lt(Expr a, Expr b);
Expr le(Expr a, Expr b);
inline Expr gt(Expr a, Expr b) { return lt(b, a); }
inline Expr ge(Expr a, Expr b) { return le(b, a); }
Expr logical_and(Expr a, Expr b);
Expr logical_or(Expr a, Expr b);
Expr logical_not(Expr a);
#define CAMEO_UNARY(name, Name) \
  inline Expr name(Expr x) { return apply(Op::Name, {x}); }
CAMEO_UNARY(abs, Abs)
CAMEO_UNARY(sign, Sign)
CAMEO_UNARY(floor, Floor)
CAMEO_UNARY(ceil, Ceil)
CAMEO_UNARY(round, Round)
CAMEO_UNARY(trunc, Trunc)
CAMEO_UNARY(sqrt, Sqrt)
CAMEO_UNARY(exp, Exp)
CAMEO_UNARY(log, Log)
CAMEO_UNARY(sin, Sin)
CAMEO_UNARY(cos, Cos)
CAMEO_UNARY(tan, Tan)
CAMEO_UNARY(tanh, Tanh)
CAMEO_UNARY(erf, Erf)
CAMEO_UNARY(sigmoid, Sigmoid)
CAMEO_UNARY(softplus, Softplus)
CAMEO_UNARY(log1p, Log1p)
CAMEO_UNARY(expm1, Expm1)
CAMEO_UNARY(is_nan, IsNan)
CAMEO_UNARY(is_inf, IsInf)
#undef CAMEO_UNARY

// ---- walking --------------------------------------------------------------------------------------------------------
/// Rebuilds `root` bottom-up, giving every rebuilt node to `f`; memoised, so a shared node is visited once.
Expr rewrite(Expr root, const std::function<Expr(Expr)>& f);
/// Replaces variables (by number). Pairs whose variable does not occur cost nothing.
Expr substitute(Expr root, std::span<const Expr> vars, std::span<const Expr> values);
/// Calls `f` once for each distinct node under the roots, arguments before users.
void visit(std::span<const Expr> roots, const std::function<void(Expr)>& f);
/// The variables of nested folds of one kind, outermost first, and what they fold; of anything else none, and that.
struct FoldNest {
  std::vector<Expr> variables;
  Expr body;
};
FoldNest unfold(Expr fold);
std::string to_string(Expr e);  // nested text, for dumps and tests of small expressions

/// The closed interval that an integer or bool expression lies in, as its type reads it; sums that may wrap have the
/// range of their type.
inline Interval range_of(Expr integer_expr) { return integer_expr.node()->range; }
/// Whether a Read is one of a table of 256 elements of 8 bits, by an index that data give and that is any byte.
bool looks_up_bytes(Expr read);
/// That of a node with these parts, from the ranges of its arguments.
Interval range_of(Op op, DType type, std::span<const Expr> args, uint64_t bits);

class Dim;

/// A sum of `coefficient * term` plus a constant, equal modulo 2^64. Products by sizes are multiplied out, so that a
/// term is a product of factors none of which is a sum, and equal polynomials in sizes are equal sums; other terms
/// stand as they are.
struct Affine {
  struct Term {
    Expr term;
    int64_t coefficient;
  };
  std::vector<Term> terms;  // by id of term, coefficients not zero
  int64_t constant = 0;
  int64_t coefficient_of(Expr term) const;
  /// How far one step of a variable goes where it stands by itself or times sizes: not where it is divided.
  Dim stride_of(Expr variable) const;
};
Affine affine(Expr integer_expr);
/// What of a sum is a number or a size.
Dim size_in(const Affine& a);
/// No value of the terms makes the sum wrap: what holds of it as a whole number, holds.
bool never_wraps(const Affine& a);
Expr from_affine(const Affine& a);
/// What a term is the product of, by id; one that stands twice is squared.
std::vector<Expr> factors_of(Expr term);
Expr product_of(std::vector<Expr> factors);
/// Uses ranges and affine forms to shorten integer expressions: (12*i + j) / 12 is i and (12*i + j) % 12 is j for 0 <=
/// j < 12.
Expr simplify_index(Expr integer_expr);
bool depends_on(Expr e, Expr var);

// ---- dims -----------------------------------------------------------------------------------------------------------
inline constexpr int64_t kOpen = INT64_MAX;

/// An extent: a number (static), or an integer Expr that is bounded, or open: with an open symbol, or without an upper
/// bound below kMaxExtent.
class Dim {
 public:
  Dim() : Dim(0) {}
  Dim(int64_t n) : extent_(integer(n)) {}  // NOLINT: a number is a Dim
  explicit Dim(Expr extent) : extent_(extent) {}
  bool is_static() const { return extent_.is_const(); }
  bool is_static(int64_t n) const { return extent_.is_const(n); }
  int64_t value() const { return extent_.int_value(); }  // static dims only
  int64_t upper() const;
  int64_t estimate() const;  // for rules of cost alone: what memory needs, `upper` says
  Expr extent() const { return extent_; }
  bool operator==(const Dim& o) const { return extent_ == o.extent_; }

 private:
  Expr extent_;
};
Dim operator+(Dim a, Dim b);
Dim operator-(Dim a, Dim b);
Dim operator*(Dim a, Dim b);
Dim operator/(Dim a, Dim b);  // toward minus infinity
std::string to_string(Dim d);
/// As users are told of it: `batch`, `past + 1`; empty where its expression is too long to be read, and of a number.
std::string title_of(Dim d);
/// `1..32`, or `1..` where the end is open.
std::string range_text(Interval sizes);

using Shape = std::vector<Dim>;
bool is_static(const Shape& shape);
bool has_no_elements(const Shape& shape);          // for certain: an extent is 0
std::vector<int64_t> extents(const Shape& shape);  // static shapes only
Dim product(const Shape& shape, size_t begin = 0, size_t end = SIZE_MAX);
Shape shape_of(std::span<const int64_t> dims);
std::string to_string(const Shape& shape);

}  // namespace cameo
