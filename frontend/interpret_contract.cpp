// The loops of a Contract: terms are laid out once, placed for each row (which lanes are in range), then summed for the
// rounded run and its shadow. The same loop is compiled for AVX2 too; neither contracts to FMA, so both give the same
// bits.
#include "frontend/interpret_contract.h"

#include <algorithm>
#include <cmath>

#include "frontend/check.h"

namespace cameo::tape {
namespace {

using Term = ContractRun::Term;

/// The operand as doubles; `copy` holds them unless they are stored so.
const double* as_doubles(const Tensor& t, std::vector<double>& copy) {
  if (t.dtype() == DType::f64) return t.as<double>().data();
  copy.resize(static_cast<size_t>(t.size()));
  if (t.dtype() == DType::f32)
    std::ranges::copy(t.as<float>(), copy.begin());
  else
    for (size_t i = 0; i < copy.size(); ++i) copy[i] = t.get(static_cast<int64_t>(i));
  return copy.data();
}
bool all_finite(const double* p, int64_t n) {
  return std::all_of(p, p + n, [](double v) { return std::isfinite(v); });
}

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

/// The lanes j with 0 <= index + step * j < extent, of [low, high).
void clip(int64_t index, int64_t step, int64_t extent, int64_t& low, int64_t& high) {
  if (step == 0) {
    if (index < 0 || index >= extent) high = low;
  } else if (step == 1) {
    low = std::max(low, -index);
    high = std::min(high, extent - index);
  } else if (step > 0) {
    low = std::max(low, -floor_div(index, step));
    high = std::min(high, -floor_div(index - extent, step));
  } else {
    low = std::max(low, floor_div(index - extent, -step) + 1);
    high = std::min(high, floor_div(index, -step) + 1);
  }
}

struct Factor {
  const double* data;
  int64_t step;  // from lane to lane
  double outside;
};

/// The inner loop, whose common steps are known to the compiler so that it becomes vectors.
[[gnu::always_inline]] inline void add_products(double* acc, const double* a, int64_t sa, const double* b, int64_t sb,
                                                int64_t low, int64_t high) {
  if (sa == 1 && sb == 0) {
    const double y = *b;
    for (int64_t j = low; j < high; ++j) acc[j] += a[j] * y;
  } else if (sa == 0 && sb == 1) {
    const double x = *a;
    for (int64_t j = low; j < high; ++j) acc[j] += x * b[j];
  } else if (sa == 1 && sb == 1) {
    for (int64_t j = low; j < high; ++j) acc[j] += a[j] * b[j];
  } else {
    for (int64_t j = low; j < high; ++j) acc[j] += a[j * sa] * b[j * sb];
  }
}
[[gnu::always_inline]] inline void sum_terms(double* acc, const Factor& a, const Factor& b,
                                             std::span<const Term> terms) {
  for (const Term& t : terms) {
    int64_t low = std::max(t.low[0], t.low[1]), high = std::min(t.high[0], t.high[1]);
    add_products(acc, a.data + t.offset[0], a.step, b.data + t.offset[1], b.step, low, high);
  }
}

/// With `outside` values that can be seen in the sum: lane by lane.
void sum_with_outside(double* acc, int64_t lanes, const Factor& a, const Factor& b, std::span<const Term> terms) {
  auto factor = [](const Factor& f, const Term& t, int s, int64_t j) {
    return j >= t.low[s] && j < t.high[s] ? f.data[t.offset[s] + j * f.step] : f.outside;
  };
  for (const Term& t : terms)
    for (int64_t j = 0; j < lanes; ++j) acc[j] += factor(a, t, 0, j) * factor(b, t, 1, j);
}

void sum_plain(double* acc, const Factor& a, const Factor& b, std::span<const Term> terms) {
  sum_terms(acc, a, b, terms);
}
#if defined(__x86_64__)
[[gnu::target("avx2")]] void sum_avx2(double* acc, const Factor& a, const Factor& b, std::span<const Term> terms) {
  sum_terms(acc, a, b, terms);
}
const auto kSum = __builtin_cpu_supports("avx2") ? sum_avx2 : sum_plain;
#else
constexpr auto kSum = sum_plain;
#endif

}  // namespace

ContractRun::ContractRun(const ContractCode& code, std::span<const Dual> operands, bool shadow) : code_(code) {
  for (int s = 0; s < 2; ++s) {
    const Dual& x = operands[code.side[s].operand];
    side_[s].rounded = as_doubles(x.rounded, side_[s].rounded_copy);
    bool same = shadow && x.unrounded.bytes().data() == x.rounded.bytes().data();
    if (shadow) side_[s].unrounded = same ? side_[s].rounded : as_doubles(x.unrounded, side_[s].unrounded_copy);
    make_offsets(s);
  }
  terms_.resize(side_[0].offsets.size());
  for (int s = 0; s < 2; ++s) {
    if (side_[s].checked.empty()) continue;
    const Side& other = side_[1 - s];
    int64_t n = operands[code.side[1 - s].operand].rounded.size();
    bool finite = all_finite(other.rounded, n) && (!other.unrounded || all_finite(other.unrounded, n));
    outside_matters_ |= code.side[s].outside != 0 || !finite || code.side[1 - s].outside != 0;
  }
}

void ContractRun::make_offsets(int s) {
  const ContractCode::Side& side = code_.side[s];
  std::vector<int64_t> k(code_.folds.size());
  int64_t count = 1;
  for (int64_t f : code_.folds) count *= std::max<int64_t>(f, 0);
  for (const ContractCode::Axis& axis : side.axes)
    if (!axis.proven) side_[s].checked.emplace_back();
  for (int64_t term = 0; term < count; ++term) {
    int64_t rest = term, offset = 0;
    for (size_t f = k.size(); f-- > 0; rest /= code_.folds[f]) k[f] = rest % code_.folds[f];
    size_t checked = 0;
    for (const ContractCode::Axis& axis : side.axes) {
      int64_t index = 0;
      for (size_t f = 0; f < k.size(); ++f) index += axis.fold[f] * k[f];
      offset += index * axis.stride;
      if (!axis.proven) side_[s].checked[checked++].push_back(index);
    }
    side_[s].offsets.push_back(offset);
  }
}

void ContractRun::place_terms(int s, const std::vector<int64_t>& base, const std::vector<int64_t>& step,
                              int64_t lanes) {
  const ContractCode::Side& side = code_.side[s];
  int64_t offset = 0;
  for (size_t d = 0; d < side.axes.size(); ++d) offset += base[d] * side.axes[d].stride;
  for (size_t t = 0; t < terms_.size(); ++t) {
    int64_t low = 0, high = lanes;
    size_t checked = 0;
    for (size_t d = 0; d < side.axes.size(); ++d)
      if (!side.axes[d].proven) clip(base[d] + side_[s].checked[checked++][t], step[d], side.axes[d].extent, low, high);
    terms_[t].offset[s] = offset + side_[s].offsets[t];
    terms_[t].low[s] = static_cast<int32_t>(low);
    terms_[t].high[s] = static_cast<int32_t>(high);
  }
}

void ContractRun::run_row(const std::vector<int64_t> (&bases)[2], const std::vector<int64_t> (&steps)[2], int64_t lanes,
                          double* rounded, double* unrounded) {
  Factor factor[2];
  for (int s = 0; s < 2; ++s) {
    place_terms(s, bases[s], steps[s], lanes);
    factor[s] = {side_[s].rounded, 0, code_.side[s].outside};
    for (size_t d = 0; d < steps[s].size(); ++d) factor[s].step += steps[s][d] * code_.side[s].axes[d].stride;
  }
  auto sum = [&](double* acc) {
    std::fill_n(acc, lanes, 0.);
    if (outside_matters_)
      sum_with_outside(acc, lanes, factor[0], factor[1], terms_);
    else
      kSum(acc, factor[0], factor[1], terms_);
  };
  sum(rounded);
  if (!unrounded) return;
  bool same = side_[0].rounded == side_[0].unrounded && side_[1].rounded == side_[1].unrounded;
  if (same) {
    std::copy_n(rounded, lanes, unrounded);
    return;
  }
  for (int s = 0; s < 2; ++s) factor[s].data = side_[s].unrounded;
  sum(unrounded);
}

}  // namespace cameo::tape
