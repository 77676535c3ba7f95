// gpu_primitives: what each primitive of runtime/rt does on the GPU that is here, or on fibers behind the mock driver,
// against plain computations that share no code with either. One line a fixture; the exit code is 1 if one is wrong,
// 8 where there is no GPU.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <stdexcept>

#include "tests/gpu/primitives/card.h"

namespace cameo::test {
namespace {

constexpr int kThreads = 128, kWarp = 32;

void expect(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}
template <class T>
void expect_equal(const std::vector<T>& got, const std::vector<T>& want) {
  for (size_t i = 0; i < want.size(); ++i)
    expect(got.at(i) == want[i],
           "element " + std::to_string(i) + " is " + std::to_string(got[i]) + " and not " + std::to_string(want[i]));
}

/// Numbers without a pattern, the same on every machine.
class Numbers {
 public:
  uint64_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 33;
  }
  template <class T>
  std::vector<T> integers(size_t count) {
    std::vector<T> v(count);
    for (T& x : v) x = static_cast<T>(next() << 20 ^ next());
    return v;
  }
  std::vector<float> floats(size_t count, float scale) {
    std::vector<float> v(count);
    for (float& x : v) x = (static_cast<float>(next() % 20001) / 10000 - 1) * scale;
    return v;
  }

 private:
  uint64_t state_ = 1;
};

// ---- 16-bit floats, by their definition -----------------------------------------------------------------------------
struct Format {
  int exponent_bits, fraction_bits;
};
constexpr Format kHalf{5, 10}, kBfloat{8, 7};

double value_of(uint16_t bits, Format f) {
  const int exponent = bits >> f.fraction_bits & ((1 << f.exponent_bits) - 1),
            fraction = bits & ((1 << f.fraction_bits) - 1);
  const int bias = (1 << (f.exponent_bits - 1)) - 1;
  const double sign = bits >> 15 ? -1 : 1;
  if (exponent == (1 << f.exponent_bits) - 1) return fraction ? NAN : sign * INFINITY;
  const double significand = fraction + (exponent ? 1 << f.fraction_bits : 0);
  return sign * std::ldexp(significand, std::max(exponent, 1) - bias - f.fraction_bits);
}
/// The nearest one, of two equally near the even one: by trying the neighbours of the truncated value.
uint16_t bits_of(double x, Format f) {
  if (std::isnan(x)) return 0x7fff;
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0,
                 infinity = static_cast<uint16_t>(((1 << f.exponent_bits) - 1) << f.fraction_bits);
  uint16_t low = 0, high = infinity;
  while (high - low > 1) {
    const uint16_t middle = static_cast<uint16_t>((low + high) / 2);
    (value_of(middle, f) <= std::abs(x) ? low : high) = middle;
  }
  // beyond the largest number there is, in effect, one more
  const double above =
      high == infinity ? 2 * value_of(low, f) - value_of(static_cast<uint16_t>(low - 1), f) : value_of(high, f);
  const double down = std::abs(x) - value_of(low, f), up = above - std::abs(x);
  const bool rounds_up = up < down || (up == down && low % 2 == 1);
  return sign | (std::isinf(x) || rounds_up ? high : low);
}
std::vector<uint16_t> narrowed(const std::vector<float>& v, Format f) {
  std::vector<uint16_t> bits;
  for (float x : v) bits.push_back(bits_of(x, f));
  return bits;
}

// ---- threads --------------------------------------------------------------------------------------------------------
void numbers(Card& card) {
  std::vector<int32_t> want;
  for (int b = 0; b < 5; ++b)
    for (int t = 0; t < kThreads; ++t) want.insert(want.end(), {t, b, 5});
  expect_equal(card.run<int32_t>("numbers", 5, std::vector<int32_t>{0}, want.size()), want);
}
void barriers(Card& card) {
  const std::vector<int32_t> from = Numbers().integers<int32_t>(3 * kThreads);
  std::vector<int32_t> want(from.size());
  for (size_t i = 0; i < from.size(); ++i) {
    const size_t block = i / kThreads * kThreads;
    want[i] = static_cast<int32_t>(static_cast<uint32_t>(from[block + (i - block + 9 * 33) % kThreads]) + 36u);
  }
  expect_equal(card.run<int32_t>("barriers", 3, from, from.size()), want);
}
template <class T>
void shuffles(Card& card, const char* kernel) {
  std::vector<T> from = Numbers().integers<T>(kThreads), want;
  for (int mask = 0; mask < kWarp; ++mask)
    for (int t = 0; t < kThreads; ++t) want.push_back(from[static_cast<size_t>(t ^ mask)]);
  expect_equal(card.run<T>(kernel, 1, from, want.size()), want);
}
void folds(Card& card, const char* kernel) {
  for (const size_t n : {1, 31, 128, 129, 5000}) {
    std::vector<float> from = Numbers().floats(n + 1, 8);
    from[0] = static_cast<float>(n);
    from[n] = from[1];  // the last of equals is another one than the first
    const auto begin = from.begin() + 1;
    double sum = 0, size = 0;
    for (auto x = begin; x != from.end(); ++x) sum += *x, size += std::abs(*x);
    const float largest = *std::max_element(begin, from.end());
    const auto least = static_cast<float>(std::min_element(begin, from.end()) - begin);
    const auto last = static_cast<float>(std::find(from.rbegin(), from.rend() - 1, largest).base() - 1 - begin);
    const std::vector<float> got = card.run<float>(kernel, 2, from, 2 * kThreads * 4);
    for (size_t t = 0; t < got.size(); t += 4) {
      expect(got[t] == got[0], "threads have different sums");
      expect(std::abs(got[t] - sum) <= 1e-6 * size, "a sum of " + std::to_string(n) + " numbers");
      expect(got[t + 1] == largest && got[t + 2] == least && got[t + 3] == last, "an extremum or where it is");
    }
  }
}

// ---- copies ---------------------------------------------------------------------------------------------------------
void copies(Card& card, const char* kernel, size_t bytes) {
  const std::vector<uint8_t> from = Numbers().integers<uint8_t>(2 * kThreads * bytes);
  std::vector<uint8_t> want = from;
  for (size_t i = 0; i < want.size(); ++i)
    if (i % bytes >= i / bytes % kWarp % (bytes + 1)) want[i] = 0;
  expect_equal(card.run<uint8_t>(kernel, 2, from, want.size()), want);
}
void groups_of_copies(Card& card) {
  constexpr size_t kStages = 7, kOfStage = 4 * kThreads;
  const std::vector<int32_t> from = Numbers().integers<int32_t>(kStages * kOfStage);
  std::vector<int32_t> want;
  for (size_t t = 0; t < kThreads; ++t) {
    uint32_t sum = 0;
    for (size_t s = 0; s < kStages; ++s)
      for (size_t i = 0; i < 4; ++i)
        sum = sum * 3 + static_cast<uint32_t>(from[s * kOfStage + (t * 4 + i + 77) % kOfStage]);
    want.push_back(static_cast<int32_t>(sum));
  }
  expect_equal(card.run<int32_t>("groups_of_copies", 1, from, want.size()), want);
}

// ---- matrices -------------------------------------------------------------------------------------------------------
void matrices(Card& card, const std::string& kernel, size_t count, bool transposed) {
  const std::vector<uint16_t> from = Numbers().integers<uint16_t>(kThreads * 8);
  std::vector<uint32_t> want;
  for (size_t t = 0; t < kThreads; ++t)
    for (size_t m = 0; m < count; ++m) {
      const auto element = [&](size_t row, size_t column) {
        if (transposed) std::swap(row, column);
        return uint32_t{from[((t / kWarp * 4 + m) * 8 + row) * 8 + column]};
      };
      const size_t row = t % kWarp / 4, column = t % 4 * 2;
      want.push_back(element(row, column) | element(row, column + 1) << 16);
    }
  expect_equal(card.run<uint32_t>(kernel.c_str(), 1, from, want.size()), want);
}
void products(Card& card, const char* kernel, Format f) {
  std::vector<uint16_t> from = narrowed(Numbers().floats(4 * 384, 4), f);
  for (size_t i = 0; f.fraction_bits == 10 && i < 384; ++i) from[i] &= 0x83ff;  // one warp has subnormal ones
  const std::vector<float> got = card.run<float>(kernel, 1, from, 4 * 128);
  for (size_t w = 0; w < 4; ++w)
    for (size_t row = 0; row < 16; ++row)
      for (size_t column = 0; column < 8; ++column) {
        double sum = 0, size = 0;
        for (size_t k = 0; k < 16; ++k) {
          const double a = value_of(from[w * 384 + row * 16 + k], f),
                       b = value_of(from[w * 384 + 256 + k * 8 + column], f);
          sum += 2 * a * b, size += 2 * std::abs(a * b);
        }
        expect(std::abs(got[w * 128 + row * 8 + column] - sum) <= 1e-6 * size,
               "row " + std::to_string(row) + ", column " + std::to_string(column) + " of warp " + std::to_string(w));
      }
}

// ---- atomics --------------------------------------------------------------------------------------------------------
template <class T>
void atomics(Card& card, const char* kernel) {
  constexpr size_t kBlocks = 6;
  const std::vector<T> from = Numbers().integers<T>(kBlocks * kThreads);
  std::vector<T> want((1 + kBlocks) * 3);
  for (size_t i = 0; i < from.size(); ++i)
    for (const size_t at : {size_t{0}, 3 + i / kThreads * 3}) {
      want[at] = static_cast<T>(static_cast<uint64_t>(want[at]) + static_cast<uint64_t>(from[i]));
      want[at + 1] = std::max(want[at + 1], from[i]);
      want[at + 2] = want[at];
    }
  expect_equal(card.run<T>(kernel, kBlocks, from, want.size()), want);
}

// ---- numbers --------------------------------------------------------------------------------------------------------
void widening(Card& card, const char* kernel, Format f) {
  std::vector<uint16_t> all(1 << 16);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  const std::vector<float> got = card.run<float>(kernel, static_cast<int>(all.size() / kThreads), all, all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    const double want = value_of(all[i], f);
    expect(std::isnan(want) ? std::isnan(got[i]) : got[i] == want && std::signbit(got[i]) == std::signbit(want),
           "the bits " + std::to_string(i));
  }
}
void narrowing(Card& card, const char* kernel, Format f) {
  std::vector<float> from;
  for (const uint32_t bits : Numbers().integers<uint32_t>(1 << 15)) from.push_back(std::bit_cast<float>(bits));
  for (uint32_t i = 0; from.size() < (1 << 16); ++i) {  // numbers, and the ties between them
    const double low = value_of(static_cast<uint16_t>(i * 2), f), high = value_of(static_cast<uint16_t>(i * 2 + 1), f);
    from.push_back(static_cast<float>(i % 2 ? low : (low + high) / 2));
  }
  const std::vector<uint16_t> got =
      card.run<uint16_t>(kernel, static_cast<int>(from.size() / kThreads), from, from.size());
  for (size_t i = 0; i < from.size(); ++i) {
    const bool nan = std::isnan(value_of(got[i], f));
    expect(std::isnan(from[i]) ? nan : got[i] == bits_of(from[i], f), "of " + std::to_string(from[i]));
  }
}
void functions(Card& card) {
  const std::vector<float> from = Numbers().floats(64 * kThreads, 12);
  const std::vector<float> got = card.run<float>("functions", 64, from, from.size() * 6);
  for (size_t i = 0; i < from.size(); ++i) {
    const double x = from[i];
    const double want[] = {std::exp(x), std::tanh(x),        std::erf(x), 1 / (1 + std::exp(-x)),
                           std::sin(x), std::sqrt(x * x + 1)};
    for (size_t j = 0; j < 6; ++j) {
      const double ulp = std::ldexp(1.0, std::ilogb(want[j]) - 23);
      expect(std::abs(got[i * 6 + j] - want[j]) <= 2 * ulp,
             "function " + std::to_string(j) + " of " + std::to_string(x));
    }
  }
}

// ---- products of matrices -------------------------------------------------------------------------------------------
enum class B { Panels, Columns };
/// `store` makes the elements that the kernel reads, `value` says what numbers they are.
template <class T>
void product_of_matrices(Card& card, const char* kernel, B stands, size_t skipped, const std::function<T(float)>& store,
                         const std::function<double(T)>& value) {
  constexpr size_t kRows = 150, kTerms = 72, kColumns = 80;
  std::vector<T> from(skipped);
  for (float x : Numbers().floats(kRows * kTerms + kTerms * kColumns, 2)) from.push_back(store(x));
  const std::vector<float> got = card.run<float>(kernel, 3, from, kRows * kColumns);
  const auto a = from.begin() + static_cast<long>(skipped), b = a + kRows * kTerms;
  for (size_t r = 0; r < kRows; ++r)
    for (size_t c = 0; c < kColumns; ++c) {
      double sum = static_cast<double>(c), size = 0;
      for (size_t t = 0; t < kTerms; ++t) {
        const size_t at = stands == B::Panels ? (c / 16 * kTerms + t) * 16 + c % 16 : c * kTerms + t;
        const double product = value(a[static_cast<long>(r * kTerms + t)]) * value(b[static_cast<long>(at)]);
        sum += product, size += std::abs(product);
      }
      expect(std::abs(got[r * kColumns + c] - sum) <= 2e-6 * (size + static_cast<double>(c)),
             "row " + std::to_string(r) + ", column " + std::to_string(c));
    }
}
void tensor_cores(Card& card, const char* kernel, Format f, B stands, size_t skipped = 0) {
  product_of_matrices<uint16_t>(
      card, kernel, stands, skipped, [f](float x) { return bits_of(x, f); },
      [f](uint16_t x) { return value_of(x, f); });
}

struct Fixture {
  std::string name;
  std::function<void(Card&)> check;
};
const std::vector<Fixture>& fixtures() {
  static const std::vector<Fixture> all{
      {"thread, block, blocks", numbers},
      {"barrier", barriers},
      {"shuffle: 1 byte", [](Card& c) { shuffles<uint8_t>(c, "shuffles_of_bytes"); }},
      {"shuffle: 4 bytes", [](Card& c) { shuffles<int32_t>(c, "shuffles_of_words"); }},
      {"shuffle: 8 bytes", [](Card& c) { shuffles<uint64_t>(c, "shuffles_of_doubles"); }},
      {"fold_team: warps", [](Card& c) { folds(c, "folds_of_warps"); }},
      {"fold_team: blocks", [](Card& c) { folds(c, "folds_of_blocks"); }},
      {"begin_copy: 4 bytes", [](Card& c) { copies(c, "copies_of_4_bytes", 4); }},
      {"begin_copy: 8 bytes", [](Card& c) { copies(c, "copies_of_8_bytes", 8); }},
      {"begin_copy: 16 bytes", [](Card& c) { copies(c, "copies_of_16_bytes", 16); }},
      {"wait_for_copies: groups", groups_of_copies},
      {"load_matrices: 1", [](Card& c) { matrices(c, "matrices_1", 1, false); }},
      {"load_matrices: 2", [](Card& c) { matrices(c, "matrices_2", 2, false); }},
      {"load_matrices: 4", [](Card& c) { matrices(c, "matrices_4", 4, false); }},
      {"load_matrices: 1, transposed", [](Card& c) { matrices(c, "matrices_1_transposed", 1, true); }},
      {"load_matrices: 2, transposed", [](Card& c) { matrices(c, "matrices_2_transposed", 2, true); }},
      {"load_matrices: 4, transposed", [](Card& c) { matrices(c, "matrices_4_transposed", 4, true); }},
      {"multiply: f16", [](Card& c) { products(c, "products_of_halves", kHalf); }},
      {"multiply: bf16", [](Card& c) { products(c, "products_of_bfloats", kBfloat); }},
      {"atomics: i32", [](Card& c) { atomics<int32_t>(c, "atomics_of_i32"); }},
      {"atomics: u32", [](Card& c) { atomics<uint32_t>(c, "atomics_of_u32"); }},
      {"atomics: u64", [](Card& c) { atomics<uint64_t>(c, "atomics_of_u64"); }},
      {"to_float: f16", [](Card& c) { widening(c, "halves_to_floats", kHalf); }},
      {"to_float: bf16", [](Card& c) { widening(c, "bfloats_to_floats", kBfloat); }},
      {"to_half", [](Card& c) { narrowing(c, "floats_to_halves", kHalf); }},
      {"to_bfloat", [](Card& c) { narrowing(c, "floats_to_bfloats", kBfloat); }},
      {"functions of f32", functions},
      {"contract_staged: f16, 32x32", [](Card& c) { tensor_cores(c, "tensor_cores_32", kHalf, B::Panels); }},
      {"contract_staged: bf16, 64x64", [](Card& c) { tensor_cores(c, "tensor_cores_64", kBfloat, B::Panels); }},
      {"contract_staged: f16, 128x64", [](Card& c) { tensor_cores(c, "tensor_cores_128", kHalf, B::Columns); }},
      {"contract_staged: misaligned", [](Card& c) { tensor_cores(c, "tensor_cores_misaligned", kHalf, B::Panels, 1); }},
      {"contract: f32",
       [](Card& c) {
         product_of_matrices<float>(
             c, "blocks_of_floats", B::Panels, 0, [](float x) { return x; }, [](float x) { return x; });
       }},
  };
  return all;
}

int run_fixtures() {
  int wrong = 0;
  Card card;
  std::printf("%s\n", card.description().c_str());
  for (const Fixture& f : fixtures()) {
    std::string what;
    try {
      f.check(card);
    } catch (const std::exception& e) { what = e.what(); }
    std::printf("%s  %s%s%s\n", what.empty() ? "ok   " : "WRONG", f.name.c_str(), what.empty() ? "" : ": ",
                what.c_str());
    wrong += !what.empty();
  }
  std::printf("%d of %zu fixtures are wrong\n", wrong, fixtures().size());
  return wrong ? 1 : 0;
}

}  // namespace
}  // namespace cameo::test

int main() {
  try {
    return cameo::test::run_fixtures();
  } catch (const std::exception& e) { return std::fprintf(stderr, "%s\n", e.what()), 8; }
}
