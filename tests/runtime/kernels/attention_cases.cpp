// Attention against a plain sum in double. Operands end where a page ends, so that a read behind them shows; scratch
// and outputs hold NaN before, and what stands behind a row must stay.
#include "tests/runtime/kernels/attention_cases.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "runtime/kernels/attention.h"
#include "tests/runtime/kernels/cases.h"

namespace attention_cases {
namespace {

constexpr float kNone = -std::numeric_limits<float>::infinity(), kNan = std::numeric_limits<float>::quiet_NaN();

Floats numbers(i64 count, unsigned seed, float scale = 1) {
  Floats v(static_cast<size_t>(count));
  for (float& x : v) x = scale * (static_cast<float>((seed = seed * 1664525u + 1013904223u) >> 8) / 8388608.f - 1.f);
  return v;
}
Floats of_one_sign(Floats v, float factor) {
  for (float& x : v) x = factor * std::fabs(x);
  return v;
}

enum class Masks { None, Additive, Boolean };
struct Case {
  rt::AttentionShape shape;
  bool causal = false, flat = false;
  Masks mask = Masks::None;
  float cap = 0;
  float factor = 1;           // of the scores, whose rounding errors grow with it
  bool all_negative = false;  // the scores
  bool close = false;         // scores of 1e8 less multiples of 8, which only products that round can tell apart
  bool streams = false;       // the longer caches are written past the processor's
  std::string text() const {
    const auto& s = shape;
    std::string text = "attention";
    for (i64 n : {s.batch, s.groups, s.heads, s.queries, s.past, s.keys, s.size, s.value_size})
      text += " " + std::to_string(n);
    return text + (causal ? " causal" : "") + (flat ? " flat" : "");
  }
};

rt::AttentionRows<float> rows(float* at, bool flat, i64 heads, i64 count, i64 size) {
  return flat ? rt::attention_rows(at, count * heads * size, size, heads * size)
              : rt::attention_rows(at, heads * count * size, count * size, size);
}
rt::AttentionRows<const float> readable(rt::AttentionRows<float> r) { return {r.at, r.batch, r.head, r.row}; }

/// One call's operands and what they give.
class Problem {
 public:
  explicit Problem(const Case& c)
      : c_(c),
        q_(queries(c)),
        k_(keys(c)),
        v_(numbers(s().batch * s().groups * s().keys * s().value_size, 3)),
        past_k_(numbers(s().batch * s().groups * s().past * s().size, 4, 2)),
        past_v_(numbers(s().batch * s().groups * s().past * s().value_size, 5)),
        y_(Floats(static_cast<size_t>(s().batch * heads() * s().queries * s().value_size), kNan)),
        present_k_(Floats(static_cast<size_t>(s().batch * s().groups * s().total() * s().size), kNan)),
        present_v_(Floats(static_cast<size_t>(s().batch * s().groups * s().total() * s().value_size), kNan)),
        bias_(biases(c)),
        allowed_(booleans(c)) {}

  template <int MR, int NV, bool InPanels, Masks kMask, class Width>
  [[gnu::noinline]] Floats run(Width width, rt::AttentionTile tile, int chunks) {
    const rt::AttentionOperands x{readable(q()),
                                  readable(rows(past_k_.data(), false, s().groups, s().past, s().size)),
                                  readable(rows(past_v_.data(), false, s().groups, s().past, s().value_size)),
                                  readable(k()),
                                  readable(v()),
                                  y(),
                                  rows(present_k_.data(), false, s().groups, s().total(), s().size),
                                  rows(present_v_.data(), false, s().groups, s().total(), s().value_size),
                                  c_.streams};
    const rt::AttentionScores how{scale(), c_.cap, c_.causal, c_.mask != Masks::None};
    std::fill_n(y_.data(), y_elements(), kNan);
    const float stale = c_.factor == 1 ? kNan : 1e30f;  // comparisons take no notice of NaN
    Floats scratch(static_cast<size_t>(rt::attention_scratch(s(), tile).end) + 16, stale);
    auto* const aligned = reinterpret_cast<float*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
    const i64 pitch = s().queries * s().total();
    constexpr int kSplits = rt::splits_of({MR, NV}, rt::kVectorBytes, 8);
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const rt::Call call{nullptr, aligned, chunk, chunks};
      const auto attend = [&](auto mask) {
        rt::attention<MR, NV, InPanels, kSplits, kSplits>(call, s(), width, tile.block, tile.keys, how, x, mask);
      };
      if constexpr (kMask == Masks::Additive)
        attend(rt::attention_rows(bias(), heads() * pitch, pitch, s().total()));
      else if constexpr (kMask == Masks::Boolean)
        attend(rt::attention_rows(allowed(), 0, 0, s().total()));
      else
        attend(rt::no_mask());
    }
    return Floats(y_.data(), y_.data() + y_elements());
  }

  std::string difference(const Floats& got) const {
    Floats want(got.size());
    std::vector<double> weights(static_cast<size_t>(s().total()));
    for (i64 b = 0; b < s().batch; ++b)
      for (i64 h = 0; h < heads(); ++h)
        for (i64 r = 0; r < s().queries; ++r) {
          double top = kNone, sum = 0;
          for (i64 j = 0; j < s().total(); ++j)
            top = std::max(top, weights[static_cast<size_t>(j)] = score(b, h, r, j));
          for (double& w : weights) sum += w = top == kNone ? 0 : std::exp(w - top);
          for (i64 i = 0; i < s().value_size; ++i) {
            double value = 0;
            for (i64 j = 0; j < s().total(); ++j)
              value += weights[static_cast<size_t>(j)] * key_row(j, past_v_, v(), b, h / s().heads, s().value_size)[i];
            const i64 at = y().of(b, h, r) + i - y_.data();
            want[static_cast<size_t>(at)] = static_cast<float>(sum == 0 ? 0 : value / sum);
          }
        }
    for (size_t i = 0; i < want.size(); ++i)
      if (!(std::fabs(want[i] - got[i]) <= std::min(4e-6 * c_.factor, 1e-2)))
        return c_.text() + ": element " + std::to_string(i) + " is " + std::to_string(got[i]) + ", not " +
               std::to_string(want[i]);
    return extends(past_k_, k(), present_k_, s().size) && extends(past_v_, v(), present_v_, s().value_size)
               ? ""
               : c_.text() + ": a row of a cache differs";
  }

 private:
  const rt::AttentionShape& s() const { return c_.shape; }
  i64 heads() const { return s().groups * s().heads; }
  size_t y_elements() const { return static_cast<size_t>(s().batch * heads() * s().queries * s().value_size); }
  const float* bias() const { return bias_.data(); }
  const bool* allowed() const { return reinterpret_cast<const bool*>(allowed_.data()); }
  float scale() const { return 1 / std::sqrt(static_cast<float>(s().size)); }
  rt::AttentionRows<float> q() const { return rows(q_.data(), c_.flat, heads(), s().queries, s().size); }
  rt::AttentionRows<float> k() const { return rows(k_.data(), c_.flat, s().groups, s().keys, s().size); }
  rt::AttentionRows<float> v() const { return rows(v_.data(), c_.flat, s().groups, s().keys, s().value_size); }
  rt::AttentionRows<float> y() const { return rows(y_.data(), c_.flat, heads(), s().queries, s().value_size); }

  const float* key_row(i64 j, const Guarded<float>& past, rt::AttentionRows<float> now, i64 b, i64 g, i64 size) const {
    return j < s().past ? past.data() + ((b * s().groups + g) * s().past + j) * size : now.of(b, g, j - s().past);
  }
  bool extends(const Guarded<float>& past, rt::AttentionRows<float> now, const Guarded<float>& present,
               i64 size) const {
    bool same = true;
    for (i64 b = 0; b < s().batch; ++b)
      for (i64 g = 0; g < s().groups; ++g)
        for (i64 j = 0; j < s().total(); ++j) {
          const float* const row = key_row(j, past, now, b, g, size);
          same &= std::equal(row, row + size, present.data() + ((b * s().groups + g) * s().total() + j) * size);
        }
    return same;
  }
  double score(i64 b, i64 h, i64 r, i64 j) const {
    const i64 cell = r * s().total() + j;
    if (c_.causal && j > r + s().past) return kNone;
    if (c_.mask == Masks::Boolean && !allowed_.data()[cell]) return kNone;
    double dot = 0;
    for (i64 i = 0; i < s().size; ++i)
      dot += double{q().of(b, h, r)[i]} * key_row(j, past_k_, k(), b, h / s().heads, s().size)[i];
    dot *= scale();
    if (c_.cap != 0) dot = c_.cap * std::tanh(dot / c_.cap);
    if (c_.mask == Masks::Additive) dot += bias_.data()[(b * heads() + h) * s().queries * s().total() + cell];
    return dot;
  }
  static Floats queries(const Case& c) {
    const auto& s = c.shape;
    const i64 count = s.batch * s.groups * s.heads * s.queries * s.size;
    if (c.close) return Floats(static_cast<size_t>(count), 1.f);
    return c.all_negative ? of_one_sign(numbers(count, 1), -2 * c.factor) : numbers(count, 1, 2 * c.factor);
  }
  static Floats keys(const Case& c) {
    Floats v = numbers(c.shape.batch * c.shape.groups * c.shape.keys * c.shape.size, 2, 2);
    for (size_t i = 0; c.close && i < v.size(); ++i) v[i] = 1e8f - 8 * static_cast<float>(i % 40);
    return c.all_negative ? of_one_sign(v, 1) : v;
  }
  static Floats biases(const Case& c) {
    const auto& s = c.shape;
    if (c.mask != Masks::Additive) return {};
    Floats v = numbers(s.batch * s.groups * s.heads * s.queries * s.total(), 6);
    for (size_t i = 0; i < v.size(); ++i)
      if (i % 5 == 0 || static_cast<i64>(i) / s.total() % 7 == 3) v[i] = kNone;
    return v;
  }
  static std::vector<unsigned char> booleans(const Case& c) {
    const auto& s = c.shape;
    std::vector<unsigned char> v;
    if (c.mask == Masks::Boolean)
      for (i64 i = 0; i < s.queries * s.total(); ++i) v.push_back(i % 3 != 0 && i / s.total() % 4 != 1);
    return v;
  }

  const Case& c_;
  Guarded<float> q_, k_, v_, past_k_, past_v_, y_, present_k_, present_v_, bias_;
  Guarded<unsigned char> allowed_;
};

template <int MR, int NV, bool InPanels, i64 Width, Masks kMask = Masks::None>
std::string check(Case c, i64 block, i64 keys) {
  c.shape.value_size = Width;
  c.mask = kMask;
  Problem p(c);
  return p.difference(p.run<MR, NV, InPanels, kMask>(rt::Constant<Width>{}, {MR, NV, block, keys}, 1));
}
std::string first(std::initializer_list<std::string> differences) {
  for (const std::string& d : differences)
    if (!d.empty()) return d;
  return "";
}

std::string shapes() {
  return first({check<6, 2, true, 64>({{1, 2, 1, 40, 0, 50, 64}}, 12, 32),
                check<4, 1, true, 20>({{2, 1, 3, 5, 0, 17, 20}}, 8, 16),
                check<6, 4, true, 80>({{1, 1, 1, 13, 0, 131, 3}}, 12, 128),
                check<1, 4, false, 64>({{1, 2, 1, 1, 0, 70, 64}}, 1, 32),
                check<2, 1, false, 9>({{1, 2, 2, 1, 0, 19, 7}}, 2, 16),
                check<4, 1, true, 20>({{1, 1, 1, 3, 0, 1, 1}}, 4, 16)});
}
std::string masks() {
  return first({check<4, 1, true, 20>({{1, 2, 1, 33, 0, 33, 16}, true}, 12, 16),
                check<4, 1, true, 20, Masks::Additive>({{1, 2, 2, 9, 0, 21, 16}}, 12, 16),
                check<4, 1, true, 20, Masks::Boolean>({{2, 1, 1, 9, 0, 21, 16}}, 8, 32),
                check<4, 1, true, 20, Masks::Boolean>({{2, 1, 1, 9, 0, 21, 16}, true, false, Masks::None, 2.5f}, 8, 32),
                check<2, 1, false, 9, Masks::Additive>({{1, 1, 1, 2, 0, 21, 16}}, 2, 16)});
}
template <int MR, int NV, bool InPanels>
std::string check_close(i64 queries, i64 keys, i64 block) {
  const Case c{{1, 1, 1, queries, 0, keys, 1, 20}, false, false, Masks::None, 0, 1, false, true};
  Problem p(c);
  for (float y : p.run<MR, NV, InPanels, Masks::None>(rt::Constant<20>{}, {MR, NV, block, 32}, 1))
    if (!(std::fabs(y) <= 1.0001f)) return c.text() + ": no mean of values is " + std::to_string(y);
  return "";
}
std::string close_scores() {
  return first(
      {check_close<4, 1, true>(13, 96, 8), check_close<4, 1, true>(13, 57, 8), check_close<2, 1, false>(2, 57, 2)});
}
std::string large() {
  std::string difference;
  for (float factor : {250.f, 1e6f, 1e8f})
    for (bool negative : {false, true}) {
      const auto of = [&](rt::AttentionShape shape, bool causal = false) {
        return Case{shape, causal, false, Masks::None, 0, factor, negative};
      };
      if (difference.empty())
        difference = first({check<6, 2, true, 64>(of({1, 2, 1, 40, 0, 50, 4}), 12, 32),
                            check<6, 2, true, 64>(of({1, 2, 1, 40, 0, 24, 4}), 12, 32),
                            check<6, 2, true, 64>(of({1, 2, 1, 40, 0, 20, 4}), 12, 32),
                            check<6, 2, true, 64>(of({1, 2, 1, 40, 0, 96, 4}), 12, 32),
                            check<4, 1, true, 20>(of({1, 2, 1, 33, 0, 33, 16}, true), 12, 16),
                            check<4, 1, true, 20, Masks::Boolean>(of({2, 1, 1, 9, 0, 21, 16}), 8, 32),
                            check<1, 4, false, 64>(of({1, 2, 1, 1, 0, 70, 64}), 1, 32)});
    }
  return first({difference, close_scores()});
}
std::string caches() {
  std::string difference;
  for (bool streams : {false, true}) {
    const auto of = [&](rt::AttentionShape shape, bool causal) {
      return Case{shape, causal, false, Masks::None, 0, 1, false, false, streams};
    };
    if (difference.empty())
      difference = first({check<4, 1, true, 20>(of({1, 2, 1, 4, 37, 4, 16}, true), 4, 32),
                          check<4, 1, true, 20>(of({1, 2, 1, 9, 37, 9, 16}, true), 4, 32),  // a unit sees some of them
                          check<1, 4, false, 64>(of({2, 2, 1, 1, 37, 1, 32}, true), 1, 32),
                          check<2, 1, false, 9>(of({1, 1, 2, 1, 5, 3, 32}, false), 2, 16)});
  }
  return difference;
}
std::string strided() {
  return first({check<6, 2, true, 64>({{2, 2, 2, 11, 0, 30, 8}, false, true}, 12, 16),
                check<2, 1, false, 9>({{2, 3, 1, 4, 0, 30, 24}, true, true}, 4, 16)});
}
std::string chunks() {
  const Case c{{2, 2, 2, 21, 0, 40, 16, 20}, true};
  Problem p(c);
  const auto run = [&](int chunks) {
    return p.run<4, 1, true, Masks::None>(rt::Constant<20>{}, {4, 1, 12, 32}, chunks);
  };
  const Floats one = run(1);
  for (int n : {2, 3, 7, 64}) {
    const Floats some = run(n);
    if (std::memcmp(one.data(), some.data(), one.size() * sizeof(float)) != 0)
      return std::to_string(n) + " chunks give other bits than one";
  }
  return "";
}

}  // namespace

extern const Cases CASES_NAME{CASES_TARGET, runs_here, shapes, masks, large, caches, strided, chunks};

}  // namespace attention_cases
