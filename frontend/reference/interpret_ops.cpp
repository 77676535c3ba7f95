// The plain operations of the tape, one loop each over the lanes of a block. Floats are doubles, computed for the
// rounded run and again for its shadow; what jumps (floor, comparison, remainder, cast to an integer or a float of 8
// bits) is decided by the rounded run for both.
#include <algorithm>
#include <cmath>
#include <limits>

#include "frontend/ir/check.h"
#include "frontend/ir/minifloat.h"
#include "frontend/reference/interpret_tape.h"

namespace cameo::tape {
namespace {

template <class R, class T, class F>
void map(R* out, const T* a, int64_t n, F f) {
  for (int64_t i = 0; i < n; ++i) out[i] = f(a[i]);
}
template <class R, class T, class F>
void map(R* out, const T* a, bool ua, const T* b, bool ub, int64_t n, F f) {
  if (ua && !ub) {
    const T x = *a;
    for (int64_t i = 0; i < n; ++i) out[i] = f(x, b[i]);
  } else if (ub && !ua) {
    const T y = *b;
    for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], y);
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], b[i]);
  }
}

bool is_unsigned64(DType t) { return t == DType::u64; }
uint64_t u(int64_t v) { return static_cast<uint64_t>(v); }
int64_t s(uint64_t v) { return static_cast<int64_t>(v); }

// ---- floats ---------------------------------------------------------------------------------------------------------
double min_of(double a, double b) { return a != a ? a : b != b ? b : b < a ? b : a; }
double max_of(double a, double b) { return a != a ? a : b != b ? b : a < b ? b : a; }
double floor_mod(double a, double b) {
  double r = std::fmod(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
double sigmoid(double x) {
  double e = std::exp(-std::fabs(x));
  return (x < 0 ? e : 1.) / (1 + e);
}
double softplus(double x) { return std::fmax(x, 0.) + std::log1p(std::exp(-std::fabs(x))) + (x != x ? x : 0); }
double sign(double x) { return x != x ? x : (x > 0) - (x < 0); }

struct Floats {
  const double* p;
  bool uniform;
};

bool float_unary(Op op, double* out, const double* a, int64_t n) {
  switch (op) {
    case Op::Neg: map(out, a, n, [](double x) { return -x; }); return true;
    case Op::Abs: map(out, a, n, [](double x) { return std::fabs(x); }); return true;
    case Op::Sqrt: map(out, a, n, [](double x) { return std::sqrt(x); }); return true;
    case Op::ExpFlush:
    case Op::Exp: map(out, a, n, [](double x) { return std::exp(x); }); return true;
    case Op::Expm1: map(out, a, n, [](double x) { return std::expm1(x); }); return true;
    case Op::Log: map(out, a, n, [](double x) { return std::log(x); }); return true;
    case Op::Log1p: map(out, a, n, [](double x) { return std::log1p(x); }); return true;
    case Op::Sin: map(out, a, n, [](double x) { return std::sin(x); }); return true;
    case Op::Cos: map(out, a, n, [](double x) { return std::cos(x); }); return true;
    case Op::Tan: map(out, a, n, [](double x) { return std::tan(x); }); return true;
    case Op::Asin: map(out, a, n, [](double x) { return std::asin(x); }); return true;
    case Op::Acos: map(out, a, n, [](double x) { return std::acos(x); }); return true;
    case Op::Atan: map(out, a, n, [](double x) { return std::atan(x); }); return true;
    case Op::Sinh: map(out, a, n, [](double x) { return std::sinh(x); }); return true;
    case Op::Cosh: map(out, a, n, [](double x) { return std::cosh(x); }); return true;
    case Op::Tanh: map(out, a, n, [](double x) { return std::tanh(x); }); return true;
    case Op::TanhPlusOne: map(out, a, n, [](double x) { return 2 * sigmoid(2 * x); }); return true;
    case Op::Asinh: map(out, a, n, [](double x) { return std::asinh(x); }); return true;
    case Op::Acosh: map(out, a, n, [](double x) { return std::acosh(x); }); return true;
    case Op::Atanh: map(out, a, n, [](double x) { return std::atanh(x); }); return true;
    case Op::Erf: map(out, a, n, [](double x) { return std::erf(x); }); return true;
    case Op::ErfPlusOne: map(out, a, n, [](double x) { return std::erfc(-x); }); return true;
    case Op::Sigmoid: map(out, a, n, sigmoid); return true;
    case Op::Softplus: map(out, a, n, softplus); return true;
    default: return false;
  }
}

bool float_binary(Op op, double* out, Floats a, Floats b, int64_t n) {
  auto go = [&](auto f) {
    map(out, a.p, a.uniform, b.p, b.uniform, n, f);
    return true;
  };
  switch (op) {
    case Op::Add: return go([](double x, double y) { return x + y; });
    case Op::Sub: return go([](double x, double y) { return x - y; });
    case Op::Mul: return go([](double x, double y) { return x * y; });
    case Op::Div: return go([](double x, double y) { return x / y; });
    case Op::Min: return go(min_of);
    case Op::Max: return go(max_of);
    case Op::SigmoidProduct: return go([](double x, double y) { return x * sigmoid(y); });
    case Op::Pow: return go([](double x, double y) { return std::pow(x, y); });
    default: return false;
  }
}

/// Functions with jumps: the shadow takes the rounded run's value.
bool float_step(const Instr& i, double* out, const double* a, int64_t n) {
  auto go = [&](auto f) {
    map(out, a, n, [f, t = i.from](double x) { return f(decided(t, x)); });
    return true;
  };
  switch (i.op) {
    case Op::Floor: return go([](double x) { return std::floor(x); });
    case Op::Ceil: return go([](double x) { return std::ceil(x); });
    case Op::Round: return go([](double x) { return std::nearbyint(x); });
    case Op::Trunc: return go([](double x) { return std::trunc(x); });
    case Op::Sign: return go(sign);
    default: return false;
  }
}

/// Remainders and floored quotients: the rounded run chooses the quotient, the shadow subtracts that many divisors.
bool float_quotient(const Instr& i, const Lanes& out, const Lanes& a, const Lanes& b, int64_t n) {
  const Op op = i.op;
  if (op != Op::Mod && op != Op::FMod && op != Op::FloorDiv) return false;
  for (int64_t k = 0; k < n; ++k) {
    int64_t ka = a.uniform ? 0 : k, kb = b.uniform ? 0 : k;
    double x = decided(i.from, a.rounded[ka]), y = decided(i.from, b.rounded[kb]);
    if (op == Op::FloorDiv) {
      out.rounded[k] = std::floor(decided(i.from, x / y));
      if (out.unrounded) out.unrounded[k] = out.rounded[k];
      continue;
    }
    double r = out.rounded[k] = op == Op::Mod ? floor_mod(x, y) : std::fmod(x, y);
    if (!out.unrounded) continue;
    double quotient = std::round((x - r) / y);
    double shadow = a.unrounded[ka] - quotient * b.unrounded[kb];
    out.unrounded[k] = std::isfinite(shadow) ? shadow : r;
  }
  return true;
}

// ---- integers -------------------------------------------------------------------------------------------------------
int64_t divide(int64_t a, int64_t b) { return b == 0 ? 0 : b == -1 ? s(0 - u(a)) : a / b; }
int64_t remainder(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
int64_t floor_divide(int64_t a, int64_t b) {
  int64_t q = divide(a, b);
  return b != 0 && remainder(a, b) != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
int64_t floor_mod(int64_t a, int64_t b) {
  int64_t r = remainder(a, b);
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
int64_t power(int64_t a, int64_t b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
  uint64_t r = 1, x = u(a);
  for (; b; b >>= 1, x *= x)
    if (b & 1) r *= x;
  return s(r);
}
uint64_t unsigned_power(uint64_t a, uint64_t b) {
  uint64_t r = 1;
  for (; b; b >>= 1, a *= a)
    if (b & 1) r *= a;
  return r;
}

struct Ints {
  const int64_t* p;
  bool uniform;
};

bool unsigned_binary(Op op, int64_t* out, Ints a, Ints b, int64_t n) {
  auto go = [&](auto f) {
    map(out, a.p, a.uniform, b.p, b.uniform, n, [f](int64_t x, int64_t y) { return s(f(u(x), u(y))); });
    return true;
  };
  switch (op) {
    case Op::Div:
    case Op::FloorDiv: return go([](uint64_t x, uint64_t y) { return y ? x / y : 0; });
    case Op::Mod:
    case Op::FMod: return go([](uint64_t x, uint64_t y) { return y ? x % y : 0; });
    case Op::Min: return go([](uint64_t x, uint64_t y) { return y < x ? y : x; });
    case Op::Max: return go([](uint64_t x, uint64_t y) { return x < y ? y : x; });
    case Op::Lt: return go([](uint64_t x, uint64_t y) { return uint64_t{x < y}; });
    case Op::Le: return go([](uint64_t x, uint64_t y) { return uint64_t{x <= y}; });
    case Op::Shr: return go([](uint64_t x, uint64_t y) { return y < 64 ? x >> y : 0; });
    case Op::Pow: return go(unsigned_power);
    default: return false;
  }
}

bool int_binary(Op op, DType t, int64_t* out, Ints a, Ints b, int64_t n) {
  if (is_unsigned64(t) && unsigned_binary(op, out, a, b, n)) return true;
  auto go = [&](auto f) {
    map(out, a.p, a.uniform, b.p, b.uniform, n, f);
    return true;
  };
  using I = int64_t;
  const uint64_t width = row(t).bits;
  switch (op) {
    case Op::Add: return go([](I x, I y) { return s(u(x) + u(y)); });
    case Op::Sub: return go([](I x, I y) { return s(u(x) - u(y)); });
    case Op::Mul: return go([](I x, I y) { return s(u(x) * u(y)); });
    case Op::Div: return go(divide);
    case Op::FloorDiv: return go(floor_divide);
    case Op::Mod: return go([](I x, I y) { return floor_mod(x, y); });
    case Op::FMod: return go(remainder);
    case Op::Min: return go([](I x, I y) { return y < x ? y : x; });
    case Op::Max: return go([](I x, I y) { return x < y ? y : x; });
    case Op::Eq: return go([](I x, I y) { return I{x == y}; });
    case Op::Ne: return go([](I x, I y) { return I{x != y}; });
    case Op::Lt: return go([](I x, I y) { return I{x < y}; });
    case Op::Le: return go([](I x, I y) { return I{x <= y}; });
    case Op::And: return go([](I x, I y) { return I{x && y}; });
    case Op::Or: return go([](I x, I y) { return I{x || y}; });
    case Op::Xor: return go([](I x, I y) { return I{(x != 0) != (y != 0)}; });
    case Op::BitAnd: return go([](I x, I y) { return x & y; });
    case Op::BitOr: return go([](I x, I y) { return x | y; });
    case Op::BitXor: return go([](I x, I y) { return x ^ y; });
    case Op::Shl: return go([width](I x, I y) { return u(y) < width ? s(u(x) << y) : 0; });
    case Op::Shr: return go([width](I x, I y) { return u(y) < width ? x >> y : 0; });
    case Op::Pow: return go(power);
    default: return false;
  }
}

bool int_unary(Op op, int64_t* out, const int64_t* a, int64_t n, bool is_signed) {
  switch (op) {
    case Op::Neg: map(out, a, n, [](int64_t x) { return s(0 - u(x)); }); return true;
    case Op::Abs: map(out, a, n, [=](int64_t x) { return is_signed && x < 0 ? s(0 - u(x)) : x; }); return true;
    case Op::Sign:
      map(out, a, n, [=](int64_t x) { return int64_t{x != 0} - (is_signed && x < 0 ? 2 : 0); });
      return true;
    case Op::Not: map(out, a, n, [](int64_t x) { return int64_t{!x}; }); return true;
    case Op::BitNot: map(out, a, n, [](int64_t x) { return ~x; }); return true;
    case Op::Floor:
    case Op::Ceil:
    case Op::Round:
    case Op::Trunc: map(out, a, n, [](int64_t x) { return x; }); return true;
    case Op::IsNan:
    case Op::IsInf: map(out, a, n, [](int64_t) { return int64_t{0}; }); return true;
    default: return false;
  }
}

void wrap(DType t, int64_t* p, int64_t n) {
  switch (t) {
    case DType::i64:
    case DType::u64: return;
    case DType::i32: map(p, p, n, [](int64_t v) { return int64_t{static_cast<int32_t>(v)}; }); return;
    default: map(p, p, n, [t](int64_t v) { return wrap_to(t, v); });
  }
}

// ---- between floats and integers ------------------------------------------------------------------------------------
bool float_test(const Instr& i, int64_t* out, Floats a, Floats b, int64_t n) {
  auto go = [&](auto f) {
    map(out, a.p, a.uniform, b.p, b.uniform, n,
        [f, t = i.from](double x, double y) { return int64_t{f(decided(t, x), decided(t, y))}; });
    return true;
  };
  switch (i.op) {
    case Op::Eq: return go([](double x, double y) { return x == y; });
    case Op::Ne: return go([](double x, double y) { return x != y; });
    case Op::Lt: return go([](double x, double y) { return x < y; });
    case Op::Le: return go([](double x, double y) { return x <= y; });
    case Op::IsNan: map(out, a.p, n, [](double x) { return int64_t{x != x}; }); return true;
    case Op::IsInf:
      map(out, a.p, n, [t = i.from](double x) { return int64_t{std::isinf(decided(t, x))}; });
      return true;
    default: return false;
  }
}

int64_t saturate(DType t, double v) {
  if (t == DType::b1) return !(v == 0);
  if (v != v) return 0;
  int bits = row(t).bits;
  bool is_unsigned = row(t).kind == DKind::UInt;
  double limit = std::ldexp(1., is_unsigned ? bits : bits - 1);  // one past the largest
  v = std::trunc(v);
  if (is_unsigned) {
    if (v <= 0) return 0;
    if (v >= limit) return bits == 64 ? -1 : s((1ull << bits) - 1);
    return s(static_cast<uint64_t>(v));
  }
  if (v < -limit) return std::numeric_limits<int64_t>::min() >> (64 - bits);
  if (v >= limit) return std::numeric_limits<int64_t>::max() >> (64 - bits);
  return static_cast<int64_t>(v);
}

void cast(const Instr& i, const Lanes& out, const Lanes& a, int64_t n) {
  if (is_minifloat(i.type)) {
    if (is_float(i.from))
      map(out.rounded, a.rounded, n, [t = i.type, from = i.from](double x) { return round_to(t, decided(from, x)); });
    else
      map(out.rounded, a.ints, n, [t = i.type](int64_t x) { return round_to(t, static_cast<double>(x)); });
    if (out.unrounded) std::copy_n(out.rounded, n, out.unrounded);
  } else if (is_float(i.from) && is_float(i.type)) {
    map(out.rounded, a.rounded, n, [&](double x) { return round_to(i.type, x); });
    if (out.unrounded) map(out.unrounded, a.unrounded, n, [](double x) { return x; });
  } else if (is_float(i.from)) {
    map(out.ints, a.rounded, n, [t = i.type, from = i.from](double x) { return saturate(t, decided(from, x)); });
  } else if (is_float(i.type)) {
    bool big = is_unsigned64(i.from);
    auto exact = [big](int64_t x) { return big ? static_cast<double>(u(x)) : static_cast<double>(x); };
    auto single = [big](int64_t x) -> double { return big ? static_cast<float>(u(x)) : static_cast<float>(x); };
    if (i.type == DType::f32)  // an integer of more than 53 bits rounds once
      map(out.rounded, a.ints, n, single);
    else
      map(out.rounded, a.ints, n, [&](int64_t x) { return round_to(i.type, exact(x)); });
    if (out.unrounded) map(out.unrounded, a.ints, n, exact);
  } else {
    map(out.ints, a.ints, n, [t = i.type](int64_t x) { return wrap_to(t, x); });
  }
}

template <class T>
void select(T* out, const Lanes& c, const T* yes, bool uy, const T* no, bool un, int64_t n) {
  for (int64_t i = 0; i < n; ++i) out[i] = c.ints[c.uniform ? 0 : i] ? yes[uy ? 0 : i] : no[un ? 0 : i];
}

/// Operations on floats with a floating result that treat the rounded run and the shadow alike.
bool run_smooth(const Instr& i, double* out, Floats a, Floats b, int64_t n) {
  return float_unary(i.op, out, a.p, n) || float_binary(i.op, out, a, b, n);
}

bool run_floats(const Instr& i, const Lanes& out, const Lanes& a, const Lanes& b, int64_t n) {
  if (!is_float(i.type)) return float_test(i, out.ints, {a.rounded, a.uniform}, {b.rounded, b.uniform}, n);
  if (float_quotient(i, out, a, b, n)) return true;
  if (float_step(i, out.rounded, a.rounded, n)) {
    if (out.unrounded) map(out.unrounded, out.rounded, n, [](double x) { return x; });
    return true;
  }
  if (!run_smooth(i, out.rounded, {a.rounded, a.uniform}, {b.rounded, b.uniform}, n)) return false;
  if (!out.unrounded) return true;
  return run_smooth(i, out.unrounded, {a.unrounded, a.uniform}, {b.unrounded, b.uniform}, n);
}

bool run_ints(const Instr& i, const Lanes& out, const Lanes& a, const Lanes& b, int64_t n) {
  const bool done = int_unary(i.op, out.ints, a.ints, n, is_signed(i.from)) ||
                    int_binary(i.op, i.from, out.ints, {a.ints, a.uniform}, {b.ints, b.uniform}, n);
  if (done) wrap(i.type, out.ints, n);
  return done;
}

}  // namespace

double round_to(DType t, double v) {
  switch (t) {
    case DType::f32: return static_cast<float>(v);
    case DType::f16: return half_to_float(float_to_half(static_cast<float>(v)));
    case DType::bf16: return bfloat_to_float(float_to_bfloat(static_cast<float>(v)));
    default: return is_minifloat(t) ? minifloat_value(t, minifloat_code(t, v)) : v;
  }
}
int64_t wrap_to(DType t, int64_t v) {
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

void run_plain(const Instr& i, std::span<const Lanes> registers, int64_t n) {
  const Lanes &out = registers[i.out], &a = registers[i.args[0]], &b = registers[i.args[1]], &c = registers[i.args[2]];
  bool done = true;
  if (i.op == Op::Cast)
    cast(i, out, a, n);
  else if (i.op == Op::Select && !is_float(i.type))
    select(out.ints, a, b.ints, b.uniform, c.ints, c.uniform, n);
  else if (i.op == Op::Select) {
    select(out.rounded, a, b.rounded, b.uniform, c.rounded, c.uniform, n);
    if (out.unrounded) select(out.unrounded, a, b.unrounded, b.uniform, c.unrounded, c.uniform, n);
  } else if (is_float(i.from))
    done = run_floats(i, out, a, b, n);
  else
    done = run_ints(i, out, a, b, n);
  CAMEO_CHECK(done, "an operation that is defined for its element type");
}

}  // namespace cameo::tape
