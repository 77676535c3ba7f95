// Element by element: every operator of the table whose shape rule is that of one of these operators, and casts.
#include <algorithm>
#include <cmath>
#include <map>

#include "tests/random/makers.h"

namespace cameo::random {
namespace {

/// What becomes of floats. An operator that is not named is taken for one with poles.
enum class Numeric {
  Moves,     // gives one of its operands, or changes its sign
  Rounds,    // one IEEE operation
  Smooth,    // an error stays an error of that size
  Poles,     // an error may become any
  Discrete,  // decides
};
const std::map<std::string_view, Numeric> kNumeric = {
    {"Abs", Numeric::Moves},
    {"Neg", Numeric::Moves},
    {"Max", Numeric::Moves},
    {"Min", Numeric::Moves},
    {"Relu", Numeric::Moves},
    {"Identity", Numeric::Moves},
    {"Add", Numeric::Rounds},
    {"Sub", Numeric::Rounds},
    {"Mul", Numeric::Rounds},
    {"Div", Numeric::Rounds},
    {"Sqrt", Numeric::Rounds},
    {"Reciprocal", Numeric::Rounds},
    {"LeakyRelu", Numeric::Rounds},
    {"Sigmoid", Numeric::Smooth},
    {"Tanh", Numeric::Smooth},
    {"Softplus", Numeric::Smooth},
    {"Softsign", Numeric::Smooth},
    {"Elu", Numeric::Smooth},
    {"Selu", Numeric::Smooth},
    {"Celu", Numeric::Smooth},
    {"Erf", Numeric::Smooth},
    {"Gelu", Numeric::Smooth},
    {"Swish", Numeric::Smooth},
    {"Mish", Numeric::Smooth},
    {"HardSwish", Numeric::Smooth},
    {"HardSigmoid", Numeric::Smooth},
    {"Sin", Numeric::Smooth},
    {"Cos", Numeric::Smooth},
    {"Atan", Numeric::Smooth},
    {"Exp", Numeric::Smooth},
    {"Sum", Numeric::Smooth},
    {"Mean", Numeric::Smooth},
    {"PRelu", Numeric::Smooth},
    {"Floor", Numeric::Discrete},
    {"Ceil", Numeric::Discrete},
    {"Round", Numeric::Discrete},
    {"Sign", Numeric::Discrete},
    {"Mod", Numeric::Discrete},
    {"Equal", Numeric::Discrete},
    {"Less", Numeric::Discrete},
    {"Greater", Numeric::Discrete},
    {"LessOrEqual", Numeric::Discrete},
    {"GreaterOrEqual", Numeric::Discrete},
    {"IsNaN", Numeric::Discrete},
    {"IsInf", Numeric::Discrete},
    {"ThresholdedRelu", Numeric::Discrete},
};
Numeric numeric(std::string_view op) {
  auto it = kNumeric.find(op);
  return it == kNumeric.end() ? Numeric::Poles : it->second;
}

constexpr double kTame = 40, kLargest = 1e4;

struct Property {
  Level level;
  bool whole;
  double bound;
};

double bound_of(std::string_view op, std::span<const Local> in) {
  double a = in[0].bound, b = in.size() > 1 ? in[1].bound : 0, all = 0;
  for (const Local& v : in) all += v.bound;
  if (op == "Mul") return a * b;
  if (op == "Exp") return std::exp(std::min(a, 100.));
  if (op == "Sigmoid" || op == "Sin" || op == "Cos" || op == "Tanh" || op == "Erf") return 1;
  if (op == "Div" || op == "Reciprocal") return HUGE_VAL;
  if (op == "Sub" && is_integer(in[0].dtype) && !is_signed(in[0].dtype)) return HUGE_VAL;  // wraps below 0
  return all + 1;
}

/// The level of a floating result; null where an operand is not fit for the operator.
std::optional<Property> property(std::string_view op, std::span<const Local> in) {
  Level worst = Level::Exact;
  bool whole = true, narrow = false;
  double largest = 0;
  for (const Local& v : in) {
    largest = std::max(largest, v.bound);
    if (!is_float(v.dtype)) continue;
    worst = std::max(worst, v.level);
    whole &= v.whole;
    narrow |= byte_size(v.dtype) == 2;
  }
  double bound = bound_of(op, in);
  auto close = [&] { return bound <= kLargest ? Level::Close : Level::Final; };
  switch (numeric(op)) {
    case Numeric::Moves: return Property{worst, whole, largest};
    case Numeric::Rounds: {
      bool divides = op == "Div" || op == "Sqrt" || op == "Reciprocal" || op == "LeakyRelu";
      bool stays = whole && !divides && bound <= exact_whole(in[0].dtype);
      if (worst == Level::Exact && (stays || !narrow)) return Property{Level::Exact, stays, bound};
      if (narrow && largest > kTame) return std::nullopt;  // what overflows in a chain
      if (worst == Level::Exact) return Property{divides ? Level::Final : close(), false, bound};
      if (divides || worst == Level::Final || largest > kLargest) return std::nullopt;
      return Property{close(), false, bound};
    }
    case Numeric::Smooth:
      if (worst == Level::Final || (worst == Level::Close && largest > kTame)) return std::nullopt;
      if ((narrow && largest > kTame) || (in.size() > 1 && largest > kLargest))
        return std::nullopt;  // may overflow midway
      return Property{largest <= kTame ? close() : Level::Final, false, bound};
    case Numeric::Poles:
      if (worst != Level::Exact || (narrow && largest > kTame)) return std::nullopt;
      return Property{Level::Final, false, HUGE_VAL};
    case Numeric::Discrete:
      if (worst != Level::Exact) return std::nullopt;
      return Property{Level::Exact, op != "Mod" && op != "ThresholdedRelu", largest};
  }
  return std::nullopt;
}

std::vector<const Operator*> with_rule(bool binary) {
  std::vector<const Operator*> ops;
  auto rule_of = [](std::string_view name) { return get_operator(name).infer; };
  for (const Operator& op : all_operators()) {
    if (!op.domain.empty() || op.inputs.empty() || op.name == "Clip" || op.name == "Gemm" || op.name == "BitShift")
      continue;
    const DTypes types = op.inputs[0].types;
    if (!types.contains(DType::f32) && !types.contains(DType::i64) && !types.contains(DType::b1)) continue;  // strings
    bool one = op.infer == infer::same_as_first || op.infer == rule_of("IsNaN") || op.infer == rule_of("IsInf");
    bool two = op.infer == infer::broadcast || op.infer == infer::broadcast_bool || op.infer == rule_of("Add");
    if (binary ? two : one && op.inputs.size() == 1) ops.push_back(&op);
  }
  return ops;
}

Attrs attributes(Draft& d, const Operator& op, const Local& x) {
  Attrs attrs;
  if (op.name == "Mod" && (is_float(x.dtype) || d.random.percent(30))) attrs["fmod"] = int64_t{1};
  if (op.name == "Gelu" && d.random.percent(50)) attrs["approximate"] = std::string("tanh");
  if (op.name == "IsInf" && d.random.percent(50)) attrs["detect_negative"] = int64_t{0};
  for (const AttrSpec& a : op.attributes)
    if (a.name == "alpha" && d.random.percent(50)) attrs["alpha"] = d.random.of({0.5, 0.25, 1.5, 2.0});
  return attrs;
}

bool unary(Draft& d) {
  static const std::vector<const Operator*> ops = with_rule(false);
  const Operator& op = *d.random.of(ops);
  Local x = d.pick(op.inputs[0].types, Level::Close);
  auto p = property(op.name, std::span(&x, 1));
  return p && d.add(op.name, {x}, attributes(d, op, x), p->level, p->whole, p->bound);
}

bool binary(Draft& d) {
  static const std::vector<const Operator*> ops = with_rule(true);
  const Operator& op = *d.random.of(ops);
  std::vector<Local> in{d.pick(op.inputs[0].types, Level::Close)};
  bool variadic = op.inputs.back().presence == InputSpec::Variadic;
  int64_t count = variadic ? d.random.in(1, 4) : 2;
  while (static_cast<int64_t>(in.size()) < count)
    in.push_back(d.random.percent(12)
                     ? in[0]
                     : d.partner(in[d.random.in(0, static_cast<int64_t>(in.size()) - 1)], Level::Close));
  if (!variadic && d.random.percent(40)) std::swap(in[0], in[1]);
  auto p = property(op.name, in);
  return p && d.add(op.name, in, attributes(d, op, in[0]), p->level, p->whole, p->bound);
}

/// Arithmetic of 64-bit and other integers, where ranges and identities are proven.
bool integer_binary(Draft& d) {
  std::string_view op = d.random.of<std::string_view>({"Add", "Sub", "Mul", "Div", "Mod", "Min", "Max", "BitwiseAnd",
                                                       "BitwiseOr", "BitwiseXor", "Less", "LessOrEqual", "Greater",
                                                       "GreaterOrEqual", "Equal", "BitShift", "Pow"});
  Local a = d.pick(d.random.percent(60) ? DTypes(DType::i64, DType::u64) : kIntegers), b = d.partner(a, Level::Exact);
  if (d.random.percent(30)) {
    int64_t small = d.random.in(is_signed(a.dtype) ? -3 : 0, 9);
    b = d.constant(a.dtype, {}, std::to_string(small));
  }
  Attrs attrs;
  if (op == "Mod" && d.random.percent(40)) attrs["fmod"] = int64_t{1};
  if (op == "BitShift") attrs["direction"] = std::string(d.random.percent(50) ? "LEFT" : "RIGHT");
  if (op == "Pow") b = d.constant(a.dtype, {}, std::to_string(d.random.in(0, 4)));
  std::vector<Local> in{a, b};
  if (op != "Pow" && d.random.percent(30)) std::swap(in[0], in[1]);
  return d.add(op, in, attrs, Level::Exact, true);
}

bool integer_unary(Draft& d) {
  std::string_view op = d.random.of<std::string_view>({"Abs", "Neg", "Sign", "BitwiseNot", "Relu"});
  return d.add(op, {d.pick(d.random.percent(60) ? kInt64 : kIntegers)}, {}, Level::Exact, true);
}

bool cast(Draft& d) {
  DTypes runnable = kNumbers | kBool;
  Local x = d.pick(runnable);
  DType to = d.dtype(runnable);
  bool moves = is_float(x.dtype) && is_float(to);
  // Of a 16-bit result what follows may see the unrounded value.
  bool whole = x.whole && x.bound <= exact_whole(to);
  if (is_float(to) && byte_size(to) == 2 && !whole && x.bound > kTame) return false;
  Level level = is_float(to) && byte_size(to) == 2 && !whole ? Level::Close : Level::Exact;
  const bool wraps = is_integer(to) && !is_signed(to) && is_signed(x.dtype);
  return d.add("Cast", {x}, {{"to", static_cast<int64_t>(to)}}, level, whole || (!moves && is_float(to) && whole),
               x.dtype == DType::b1 ? 1
               : wraps              ? HUGE_VAL
                                    : x.bound);
}

bool where(Draft& d) {
  Local a = d.pick(kNumbers | kBool, Level::Final), b = d.partner(a, Level::Final);
  Local condition = d.partner({.name = "", .id = {}, .dtype = DType::b1, .dims = a.dims}, Level::Exact);
  return d.add("Where", {condition, a, b}, {}, std::max(a.level, b.level), a.whole && b.whole,
               std::max(a.bound, b.bound));
}

bool clip(Draft& d) {
  Local x = d.pick(kNumbers, Level::Close);
  if (is_float(x.dtype) && byte_size(x.dtype) == 2) return false;
  auto limit = [&] {
    Local v = d.random.percent(50) ? d.leaf(x.dtype, {}) : d.constant(x.dtype, {}, std::to_string(d.random.in(0, 3)));
    return v;
  };
  Local low = d.random.percent(70) ? limit() : Local{}, high = d.random.percent(70) ? limit() : Local{};
  return d.add("Clip", {x, low, high}, {}, x.level, false, HUGE_VAL);
}

constexpr Maker kMakers[] = {{"unary", 12, unary},
                             {"binary", 14, binary},
                             {"integers", 16, integer_binary},
                             {"integer", 5, integer_unary},
                             {"cast", 10, cast},
                             {"where", 5, where},
                             {"clip", 3, clip}};

}  // namespace

std::span<const Maker> elementwise_makers() { return kMakers; }

}  // namespace cameo::random
