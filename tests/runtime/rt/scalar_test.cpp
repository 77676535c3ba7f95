// The scalar language is total: every operation on every pair of interesting values against wide or plain C++
// arithmetic, and every lane of a vector (and of a vector with a scalar) equal to the scalar, bit for bit.
#include "runtime/rt/scalar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ulp.h"

namespace rt_test {
namespace {

using Wide = __int128;

template <class T>
std::vector<T> pool() {
  if constexpr (std::is_floating_point_v<T>) {
    const T big = std::numeric_limits<T>::max(), tiny = std::numeric_limits<T>::denorm_min();
    std::vector<T> values = {0,      -T(0),      1,       -1,        T(0.5), T(-0.5), T(1.5), T(-1.5),     T(2.5),
                             3,      -7,         T(0.3),  big,       -big,   tiny,    -tiny,  T(HUGE_VAL), T(-HUGE_VAL),
                             T(NAN), T(8388609), T(1e10), T(-123.75)};
    Random random;
    for (int i = 0; i < 20; ++i) values.push_back(random.around_one<T>());
    return values;
  } else {
    const T low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
    std::vector<T> values = {0,  1,   2,   3,          5,    7,           8,           15,    16,    31,    32,   63,
                             64, 100, low, T(low + 1), high, T(high - 1), T(high / 2), T(-1), T(-2), T(-3), T(-7)};
    Random random;
    for (int i = 0; i < 20; ++i) values.push_back(static_cast<T>(random.next()));
    return values;
  }
}

// One register of 32 bytes: other widths have their own test, and g++ takes long over vectors it must take apart.
template <class T>
constexpr int kWidth = 32 / sizeof(T);

template <int W, class T>
rt::vec<T, W> load_some(const std::vector<T>& values, size_t at) {
  rt::vec<T, W> v{};
  for (int i = 0; i < W; ++i) v[i] = values[(at + static_cast<size_t>(i)) % values.size()];
  return v;
}

// Not a template: assertions in each of hundreds of instantiations would cost minutes to compile.
void mismatch(const char* name, const char* form, long double a, long double b, long double got, long double want) {
  ADD_FAILURE() << name << "(" << a << ", " << b << ") " << form << " gives " << got << ", not " << want;
}

template <class T, class Op, class Ref>
void check_pairs(const char* name, Op op, Ref ref) {
  constexpr int w = kWidth<T>;
  const std::vector<T> values = pool<T>();
  for (const T b : values) {
    for (size_t at = 0; at < values.size(); at += w) {
      const auto a = load_some<w>(values, at);
      const auto both = op(a, rt::splat<rt::vec<T, w>>(b)), right = op(a, b), left = op(b, a);
      for (int i = 0; i < w; ++i) {
        const T x = a[i];
        const auto want = static_cast<decltype(op(b, b))>(ref(x, b)), turned = op(b, x), got = op(x, b);
        const bool bad[] = {!identical(got, want), !identical(rt::lane(both, i), want),
                            !identical(rt::lane(right, i), want), !identical(rt::lane(left, i), turned)};
        if (bad[0]) return mismatch(name, "on scalars", x, b, got, want);
        if (bad[1]) return mismatch(name, "on vectors", x, b, rt::lane(both, i), want);
        if (bad[2]) return mismatch(name, "on a vector and a scalar", x, b, rt::lane(right, i), want);
        if (bad[3]) return mismatch(name, "on a scalar and a vector", b, x, rt::lane(left, i), turned);
      }
    }
  }
}

template <class T, class Op, class Ref>
void check_each(const char* name, Op op, Ref ref) {
  constexpr int w = kWidth<T>;
  const std::vector<T> values = pool<T>();
  for (size_t at = 0; at < values.size(); at += w) {
    const auto a = load_some<w>(values, at);
    const auto r = op(a);
    for (int i = 0; i < w; ++i) {
      const T x = a[i];
      const auto got = op(x), want = static_cast<decltype(op(x))>(ref(x));
      if (!identical(got, want)) return mismatch(name, "on a scalar", x, 0, got, want);
      if (!identical(rt::lane(r, i), want)) return mismatch(name, "on a vector", x, 0, rt::lane(r, i), want);
    }
  }
}

template <class T>
T floor_div(T a, T b) {
  if (b == 0) return 0;
  Wide q = Wide(a) / b;
  if (Wide(a) % b != 0 && (a < 0) != (b < 0)) --q;
  return static_cast<T>(q);
}

#define RT_OP(name) #name, [](auto a, auto b) { return rt::name(a, b); }
#define RT_OP1(name) #name, [](auto a) { return rt::name(a); }

template <class T>
class Integers : public testing::Test {};
using IntegerTypes = testing::Types<int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(Integers, IntegerTypes);

TYPED_TEST(Integers, WrapAndDivide) {
  using T = TypeParam;
  check_pairs<T>(RT_OP(add), [](Wide a, Wide b) { return T(a + b); });
  check_pairs<T>(RT_OP(sub), [](Wide a, Wide b) { return T(a - b); });
  check_pairs<T>(RT_OP(mul), [](T a, T b) { return T(uint64_t(a) * uint64_t(b)); });
  check_pairs<T>(RT_OP(div), [](Wide a, Wide b) { return b == 0 ? T(0) : T(a / b); });
  check_pairs<T>(RT_OP(fmod), [](Wide a, Wide b) { return b == 0 ? T(0) : T(a % b); });
  check_pairs<T>(RT_OP(floor_div), [](T a, T b) { return floor_div<T>(a, b); });
  check_pairs<T>(RT_OP(mod), [](T a, T b) { return b == 0 ? T(0) : T(Wide(a) - Wide(floor_div<T>(a, b)) * b); });
  check_each<T>(RT_OP1(neg), [](Wide a) { return T(-a); });
  check_each<T>(RT_OP1(abs), [](Wide a) { return T(a < 0 ? -a : a); });
  check_each<T>(RT_OP1(sign), [](Wide a) { return T((a > 0) - (a < 0)); });
}

TYPED_TEST(Integers, BitsAndOrder) {
  using T = TypeParam;
  using U = std::make_unsigned_t<T>;
  constexpr unsigned width = sizeof(T) * 8;
  check_pairs<T>(RT_OP(shl), [](T a, T b) { return U(b) < width ? T(uint64_t(a) << U(b)) : T(0); });
  check_pairs<T>(RT_OP(shr), [](T a, T b) { return U(b) < width ? T(a >> U(b)) : T(0); });
  check_pairs<T>(RT_OP(bit_and), [](T a, T b) { return T(a & b); });
  check_pairs<T>(RT_OP(bit_or), [](T a, T b) { return T(a | b); });
  check_pairs<T>(RT_OP(bit_xor), [](T a, T b) { return T(a ^ b); });
  check_each<T>(RT_OP1(bit_not), [](T a) { return T(~a); });
  check_pairs<T>(RT_OP(min), [](T a, T b) { return a < b ? a : b; });
  check_pairs<T>(RT_OP(max), [](T a, T b) { return a > b ? a : b; });
  check_pairs<T>(RT_OP(eq), [](T a, T b) { return a == b; });
  check_pairs<T>(RT_OP(ne), [](T a, T b) { return a != b; });
  check_pairs<T>(RT_OP(lt), [](T a, T b) { return a < b; });
  check_pairs<T>(RT_OP(le), [](T a, T b) { return a <= b; });
  check_pairs<T>(RT_OP(gt), [](T a, T b) { return a > b; });
  check_pairs<T>(RT_OP(ge), [](T a, T b) { return a >= b; });
}

TEST(Integers, EveryPairOfBytes) {
  for (int a = -128; a < 128; ++a) {
    for (int b = -128; b < 128; ++b) {
      const auto x = static_cast<int8_t>(a), y = static_cast<int8_t>(b);
      ASSERT_EQ(rt::div(x, y), b == 0 ? 0 : static_cast<int8_t>(a / b));
      ASSERT_EQ(rt::mod(x, y), b == 0 ? 0 : static_cast<int8_t>(a - floor_div(a, b) * b));
      ASSERT_EQ(rt::mul(x, y), static_cast<int8_t>(a * b));
    }
  }
}

TEST(Integers, ConstantDivisors) {  // a path of their own in every compiler: no division instruction
  for (int64_t a : pool<int64_t>()) {
    const auto v = rt::splat<rt::vec<rt::i64, 8>>(a);
    ASSERT_EQ(rt::div(v, 7)[3], a / 7);
    ASSERT_EQ(rt::div(v, 64)[3], a / 64);
    ASSERT_EQ(rt::mod(v, 56)[3], ((a % 56) + 56) % 56);
    ASSERT_EQ(rt::div(v, 0)[3], 0);
  }
}

template <class T>
class FloatOps : public testing::Test {};
using FloatTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(FloatOps, FloatTypes);

TYPED_TEST(FloatOps, ArithmeticAndOrder) {
  using T = TypeParam;
  check_pairs<T>(RT_OP(add), [](T a, T b) { return a + b; });
  check_pairs<T>(RT_OP(sub), [](T a, T b) { return a - b; });
  check_pairs<T>(RT_OP(mul), [](T a, T b) { return a * b; });
  check_pairs<T>(RT_OP(div), [](T a, T b) { return a / b; });
  check_pairs<T>(RT_OP(floor_div), [](T a, T b) { return std::floor(a / b); });
  check_pairs<T>(RT_OP(fmod), [](T a, T b) { return std::fmod(a, b); });
  check_pairs<T>(RT_OP(mod), [](T a, T b) {  // NumPy's
    const T r = std::fmod(a, b);
    return r == 0 ? std::copysign(T(0), b) : (r < 0) != (b < 0) ? r + b : r;
  });
  const auto nan = [](T a, T b) { return std::isnan(a) || std::isnan(b); };
  check_pairs<T>(RT_OP(min), [&](T a, T b) { return nan(a, b) ? T(NAN) : b < a ? b : a; });
  check_pairs<T>(RT_OP(max), [&](T a, T b) { return nan(a, b) ? T(NAN) : b > a ? b : a; });
  check_pairs<T>(RT_OP(copysign), [](T a, T b) { return std::copysign(a, b); });
  check_pairs<T>(RT_OP(eq), [](T a, T b) { return a == b; });
  check_pairs<T>(RT_OP(ne), [](T a, T b) { return a != b; });
  check_pairs<T>(RT_OP(lt), [](T a, T b) { return a < b; });
  check_pairs<T>(RT_OP(le), [](T a, T b) { return a <= b; });
  check_pairs<T>(RT_OP(gt), [](T a, T b) { return a > b; });
  check_pairs<T>(RT_OP(ge), [](T a, T b) { return a >= b; });
  check_each<T>(RT_OP1(neg), [](T a) { return -a; });
  check_each<T>(RT_OP1(abs), [](T a) { return std::fabs(a); });
  check_each<T>(RT_OP1(sign), [](T a) { return a > 0 ? T(1) : a < 0 ? T(-1) : a == 0 ? T(0) : a; });
  check_each<T>(RT_OP1(is_nan), [](T a) { return std::isnan(a); });
  check_each<T>(RT_OP1(is_inf), [](T a) { return std::isinf(a); });
  check_each<T>(RT_OP1(floor), [](T a) { return std::floor(a); });
  check_each<T>(RT_OP1(ceil), [](T a) { return std::ceil(a); });
  check_each<T>(RT_OP1(round), [](T a) { return std::nearbyint(a); });
  check_each<T>(RT_OP1(trunc), [](T a) { return std::trunc(a); });
  check_each<T>(RT_OP1(sqrt), [](T a) { return std::sqrt(a); });
  check_each<T>(
      "clip", [](auto a) { return rt::clip(a, T(-1), T(2)); },
      [](T a) {
        return std::isnan(a) ? a : a < -1 ? T(-1) : a > 2 ? T(2) : a;
      });
}

TEST(FloatOps, FusedMultiplyAdd) {
  const float a = 1 + 0x1p-12f, b = 1 - 0x1p-12f;
  const float want = RT_HAS_FMA ? std::fma(a, b, -1.0f) : a * b - 1.0f;
  EXPECT_EQ(rt::fma(a, b, -1.0f), want);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(rt::fma(rt::splat<rt::vec<float, 16>>(a), b, -1.0f)[i], want);
  EXPECT_EQ(rt::fma(rt::splat<rt::vec<double, 2>>(3), 2.0, 1.0)[1], 7.0);
}

// What a cast should give, said with comparisons in a wider type.
template <class T, class S>
T cast_reference(S x) {
  if constexpr (std::is_same_v<T, bool>) {
    return x != 0;
  } else if constexpr (std::is_floating_point_v<S> && std::is_integral_v<T>) {
    if (std::isnan(x)) return 0;
    const long double w = x;
    if (w <= static_cast<long double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
    if (w >= static_cast<long double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
    return static_cast<T>(w);
  } else {
    return static_cast<T>(x);
  }
}

template <class T, class S>
void check_cast() {
  check_each<S>("cast", [](auto x) { return rt::cast<T>(x); }, [](S x) { return cast_reference<T, S>(x); });
}
template <class S>
void check_casts_from() {
  check_cast<bool, S>(), check_cast<float, S>(), check_cast<double, S>();
  check_cast<int8_t, S>(), check_cast<uint8_t, S>(), check_cast<int16_t, S>(), check_cast<uint16_t, S>();
  check_cast<int32_t, S>(), check_cast<uint32_t, S>(), check_cast<int64_t, S>(), check_cast<uint64_t, S>();
}

TEST(Casts, FromFloats) { check_casts_from<float>(), check_casts_from<double>(); }
TEST(Casts, FromSmallIntegers) { check_casts_from<int8_t>(), check_casts_from<uint8_t>(), check_casts_from<int16_t>(); }
TEST(Casts, FromLargeIntegers) {
  check_casts_from<int32_t>(), check_casts_from<uint32_t>(), check_casts_from<int64_t>(), check_casts_from<uint64_t>();
}

TEST(Casts, FloatsAtTheEdges) {
  EXPECT_EQ(rt::cast<int32_t>(2147483648.0f), INT32_MAX);
  EXPECT_EQ(rt::cast<int32_t>(-2147483648.0f), INT32_MIN);
  EXPECT_EQ(rt::cast<int32_t>(2147483646.5), 2147483646);
  EXPECT_EQ(rt::cast<int64_t>(9223372036854775808.0), INT64_MAX);
  EXPECT_EQ(rt::cast<uint64_t>(18446744073709551616.0), UINT64_MAX);
  EXPECT_EQ(rt::cast<uint64_t>(18446744073709549568.0), 18446744073709549568ull);
  EXPECT_EQ(rt::cast<uint8_t>(-0.5f), 0);
  EXPECT_EQ(rt::cast<uint8_t>(255.9f), 255);
  EXPECT_EQ(rt::cast<int8_t>(-128.9f), -128);
  EXPECT_EQ(rt::cast<int8_t>(NAN), 0);
}

template <class T, class V>
void check_quantized(V x, int zero) {
  const auto got = rt::quantized<T>(x, zero), want = rt::cast<T>(rt::add(rt::round(x), static_cast<float>(zero)));
  for (int i = 0; i < std::max(rt::kLanes<V>, 1); ++i)
    ASSERT_EQ(rt::lane(got, i), rt::lane(want, i)) << rt::lane(x, i) << " and " << zero << " in " << rt::kLanes<V>;
}
TEST(Casts, QuantizedIsACastOfWhatIsRounded) {
  std::vector<float> values = pool<float>();
  for (float x = -400; x < 400; x += 0.25f) values.push_back(x);
  for (const int zero : {0, 3, 122, 255, -128})
    for (size_t at = 0; at < values.size(); at += 4) {
      check_quantized<uint8_t>(values[at], zero), check_quantized<int8_t>(values[at], zero);
      check_quantized<uint8_t>(load_some<4>(values, at), zero), check_quantized<int8_t>(load_some<8>(values, at), zero);
      check_quantized<uint8_t>(load_some<16>(values, at), zero),
          check_quantized<int8_t>(load_some<16>(values, at), zero);
    }
}

// Quotients that are whole and a half, where one bit decides, and their neighbours; and what is no quotient of T.
template <class T, int W>
void check_quotients(float scale) {
  std::vector<float> values = pool<float>();
  for (float half = -400; half < 400; half += 0.5f) {
    const float x = half * scale;
    values.insert(values.end(), {std::nextafter(x, -INFINITY), x, std::nextafter(x, INFINITY)});
  }
  for (unsigned seed = 1; values.size() < 8192; seed = seed * 1664525u + 1013904223u)
    values.push_back((static_cast<float>(seed >> 8) / 0x1p24f - 0.5f) * 600 * scale);
  for (size_t at = 0; at + W <= values.size(); at += W) {
    const auto x = load_some<W>(values, at);
    const auto got = rt::quantized_quotient<T>(x, scale, 7), want = rt::quantized<T>(rt::div(x, scale), 7);
    for (int i = 0; i < W; ++i) ASSERT_EQ(rt::lane(got, i), rt::lane(want, i)) << x[i] << " by " << scale;
    ASSERT_EQ(rt::quantized_quotient<T>(values[at], scale, 7), rt::quantized<T>(values[at] / scale, 7)) << values[at];
  }
}
TEST(Casts, QuantizedQuotientIsThatOfADivision) {
  for (const float scale : {0.5f, 0.0186584f, 0.1f, 3.0f, 1.9999999f, 1.0000001f, 0.007843138f, 0x1.fffffep-60f,
                            0x1.000002p59f, 0.33333334f, 12.345f})
    check_quotients<uint8_t, 16>(scale), check_quotients<int8_t, 8>(scale);
}

TEST(Conditions, LogicAndSelect) {
  const auto a = load_some<16>(pool<float>(), 0), b = load_some<16>(pool<float>(), 7);
  const auto less = rt::lt(a, b), positive = rt::gt(a, 0.0f);
  for (int i = 0; i < 16; ++i) {
    const bool p = a[i] < b[i], q = a[i] > 0;
    EXPECT_EQ(rt::lane(rt::logical_and(less, positive), i), p && q);
    EXPECT_EQ(rt::lane(rt::logical_or(less, positive), i), p || q);
    EXPECT_EQ(rt::lane(rt::logical_xor(less, positive), i), p != q);
    EXPECT_EQ(rt::lane(rt::logical_not(less), i), !p);
    EXPECT_EQ(rt::lane(rt::logical_and(less, true), i), p);
    EXPECT_EQ(rt::lane(rt::eq(less, positive), i), p == q);
    EXPECT_EQ(rt::lane(rt::ne(less, positive), i), p != q);
    EXPECT_EQ(rt::lane(rt::select(less, positive, false), i), p && q);
    EXPECT_TRUE(identical<float>(rt::select(less, a, 3.0f)[i], p ? a[i] : 3.0f));
    EXPECT_TRUE(identical<float>(rt::select(p, a, b)[i], p ? a[i] : b[i]));
    EXPECT_EQ(rt::select(less, rt::i8(1), rt::i8(2))[i], p ? 1 : 2);
    EXPECT_EQ(rt::select(less, 1.0, 2.0)[i], p ? 1.0 : 2.0);
    EXPECT_EQ(rt::cast<float>(less)[i], p ? 1.0f : 0.0f);
    EXPECT_EQ(rt::cast<int64_t>(less)[i], p ? 1 : 0);
  }
  EXPECT_EQ(rt::cast<float>(true), 1.0f);
  EXPECT_EQ(rt::select(true, 1, 2), 1);
  EXPECT_EQ(rt::select(false, true, false), false);
  EXPECT_TRUE(rt::logical_not(false));
  EXPECT_TRUE(rt::all(rt::eq(rt::lt(a, a), false)));
  EXPECT_FALSE(rt::any(rt::lt(a, a)));
}

TEST(Types, MixedOperandsMeet) {
  static_assert(std::is_same_v<decltype(rt::add(rt::i8(1), rt::i8(2))), rt::i8>);
  static_assert(std::is_same_v<decltype(rt::add(rt::i64(1), 2)), rt::i64>);
  static_assert(std::is_same_v<decltype(rt::mul(2, 1.5f)), float>);
  static_assert(std::is_same_v<decltype(rt::add(1ll, 2l)), rt::i64>);
  static_assert(std::is_same_v<decltype(rt::lt(1, 2)), bool>);
  EXPECT_EQ(rt::add(rt::splat<rt::vec<rt::i32, 4>>(5), rt::i64(1) << 40)[2], (int64_t(1) << 40) + 5);
  EXPECT_EQ(rt::max(rt::splat<rt::vec<float, 4>>(-5), 0)[1], 0.0f);
}

template <int W>
void check_width() {
  using V = rt::vec<float, W>;
  const V v = rt::iota<V>();
  for (int i = 0; i < W; ++i) {
    const float x = static_cast<float>(i);
    EXPECT_EQ(rt::select(rt::lt(v, 3.0f), rt::mul(v, v), rt::neg(v))[i], x < 3 ? x * x : -x);
    EXPECT_EQ(rt::cast<int8_t>(v)[i], i);
    EXPECT_EQ(rt::sqrt(rt::mul(v, v))[i], x);
    EXPECT_EQ(rt::fma(v, 2.0f, 1.0f)[i], 2 * x + 1);
    EXPECT_EQ(rt::cast<rt::half>(rt::add(v, 0.0001f))[i], rt::cast<rt::half>(x + 0.0001f));
  }
  EXPECT_TRUE(rt::all(rt::ge(v, 0.0f)));
  EXPECT_EQ(rt::any(rt::gt(v, 0.0f)), W > 1);
}
TEST(Types, EveryWidth) {
  check_width<1>(), check_width<2>(), check_width<4>(), check_width<8>(), check_width<16>(), check_width<32>();
}

TEST(Types, Tuples) {
  const auto t = rt::tuple(1.5f, rt::splat<rt::vec<float, 4>>(2), true);
  EXPECT_EQ(rt::get<0>(t), 1.5f);
  EXPECT_EQ(rt::get<1>(t)[3], 2.0f);
  EXPECT_EQ(rt::get<2>(t), true);
  EXPECT_EQ(rt::size(t), 3);
}

}  // namespace
}  // namespace rt_test
