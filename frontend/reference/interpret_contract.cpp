// The loops of a Contract: terms are laid out once, placed for each row (which lanes are in range), then summed for the
// rounded run and its shadow. The same loop is compiled for AVX2 too; neither contracts to FMA, so both give the same
// bits.
#include "frontend/reference/interpret_contract.h"

#include <algorithm>
#include <cmath>

#include "frontend/ir/check.h"

namespace cameo::tape {
namespace {

using Term = ContractRun::Term;
using Factor = ContractRun::Factor;
using Row = ContractRun::Row;

/// The operand as doubles; `copy` holds them unless they are stored so.
const double* as_doubles(const Tensor& t, std::vector<double>& copy) {
  if (t.dtype() == DType::f64) return t.as<double>().data();
  copy.resize(static_cast<size_t>(t.size()));
  if (t.dtype() == DType::f32) {
    std::ranges::copy(t.as<float>(), copy.begin());
  } else {
    for (size_t i = 0; i < copy.size(); ++i) copy[i] = t.get(static_cast<int64_t>(i));
  }
  return copy.data();
}
bool all_finite(const double* p, int64_t n) {
  return std::all_of(p, p + n, [](double v) { return std::isfinite(v); });
}

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
int64_t residue(int64_t a, int64_t b) { return a - floor_div(a, b) * b; }

/// Keeps those t of [low, high) for which 0 <= index + step * t < extent.
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

/// The inner loop, whose common steps are known to the compiler so that it becomes vectors.
[[gnu::always_inline]] inline void add_products(double* acc, int64_t every, const double* a, int64_t sa,
                                                const double* b, int64_t sb, int64_t low, int64_t high) {
  if (every != 1) {
    for (int64_t t = low; t < high; ++t) acc[t * every] += a[t * sa] * b[t * sb];
  } else if (sa == 1 && sb == 0) {
    const double y = *b;
    for (int64_t t = low; t < high; ++t) acc[t] += a[t] * y;
  } else if (sa == 0 && sb == 1) {
    const double x = *a;
    for (int64_t t = low; t < high; ++t) acc[t] += x * b[t];
  } else if (sa == 1 && sb == 1) {
    for (int64_t t = low; t < high; ++t) acc[t] += a[t] * b[t];
  } else {
    for (int64_t t = low; t < high; ++t) acc[t] += a[t * sa] * b[t * sb];
  }
}

/// Four terms at once where one side is a number a term: each lane still adds them one by one.
[[gnu::always_inline]] inline void add_four(double* acc, const double* const (&x)[4], const double (&y)[4], int64_t low,
                                            int64_t high) {
  const double *a = x[0], *b = x[1], *c = x[2], *d = x[3];
  for (int64_t t = low; t < high; ++t) acc[t] = acc[t] + a[t] * y[0] + b[t] * y[1] + c[t] * y[2] + d[t] * y[3];
}

[[gnu::always_inline]] inline void sum_terms(const Row& row, const Factor& a, const Factor& b) {
  auto one = [&](const Term& t, int64_t low, int64_t high) {
    add_products(row.acc + t.first, row.every, a.data + t.offset[0], a.step, b.data + t.offset[1], b.step, low, high);
  };
  auto low_of = [](const Term& t) { return int64_t{std::max(t.low[0], t.low[1])}; };
  auto high_of = [](const Term& t) { return int64_t{std::min(t.high[0], t.high[1])}; };
  const bool vector_a = a.step == 1 && b.step == 0, vector_b = a.step == 0 && b.step == 1;
  const Term *t = row.terms.data(), *end = t + row.terms.size();
  if (row.every == 1 && (vector_a || vector_b)) {
    const Factor &moving = vector_a ? a : b, &still = vector_a ? b : a;
    const int m = vector_a ? 0 : 1;
    for (; end - t >= 4; t += 4) {
      const double* x[4];
      double y[4];
      int64_t low = 0, high = row.lanes;
      for (int k = 0; k < 4; ++k) {
        low = std::max(low, low_of(t[k]));
        high = std::min(high, high_of(t[k]));
      }
      high = std::max(low, high);
      for (int k = 0; k < 4; ++k) {  // the lanes that not all four reach
        one(t[k], low_of(t[k]), std::min(low, high_of(t[k])));
        one(t[k], std::max(high, low_of(t[k])), high_of(t[k]));
      }
      if (low == high) continue;
      for (int k = 0; k < 4; ++k) {
        x[k] = moving.data + t[k].offset[m];
        y[k] = still.data[t[k].offset[1 - m]];
      }
      add_four(row.acc, x, y, low, high);
    }
  }
  for (; t != end; ++t) one(*t, low_of(*t), high_of(*t));
}

/// With `outside` values that can be seen in the sum: lane by lane.
void sum_with_outside(const Row& row, const Factor& a, const Factor& b) {
  auto factor = [&](const Factor& f, const Term& t, int s, int64_t lane) {
    int64_t at = f.by_lanes ? lane : lane - t.first, every = f.by_lanes ? 1 : row.every, k = floor_div(at, every);
    bool inside = at % every == 0 && k >= t.low[s] && k < t.high[s];
    return inside ? f.data[t.offset[s] + k * f.step] : f.outside;
  };
  for (const Term& t : row.terms)
    for (int64_t j = 0; j < row.lanes; ++j) row.acc[j] += factor(a, t, 0, j) * factor(b, t, 1, j);
}

void sum_plain(const Row& row, const Factor& a, const Factor& b) { sum_terms(row, a, b); }
#if defined(__x86_64__)
[[gnu::target("avx2")]] void sum_avx2(const Row& row, const Factor& a, const Factor& b) { sum_terms(row, a, b); }
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
      int64_t form = 0;
      for (size_t f = 0; f < k.size(); ++f) form += axis.fold[f] * k[f];
      if (axis.divisor == 1) offset += form * axis.stride;
      if (!axis.proven && term % code_.inner == 0) side_[s].checked[checked++].push_back(form);
    }
    side_[s].offsets.push_back(offset);
  }
}

/// The lanes of each term: all, or where an axis that moves has a divisor those that it divides.
void ContractRun::choose_lanes(const std::vector<int64_t> (&bases)[2], const std::vector<int64_t> (&steps)[2]) {
  every_ = 1;
  for (Term& t : terms_) t.first = 0;
  for (int s = 0; s < 2; ++s) {
    size_t checked = 0;
    for (size_t d = 0; d < code_.side[s].axes.size(); ++d) {
      const ContractCode::Axis& axis = code_.side[s].axes[d];
      if (axis.proven) continue;
      const std::vector<int64_t>& forms = side_[s].checked[checked++];
      if (axis.divisor == 1 || steps[s][d] == 0) continue;
      every_ = axis.divisor;
      divided_ = s;
      for (size_t t = 0; t < terms_.size(); ++t)
        terms_[t].first = residue(-bases[s][d] - forms[t / static_cast<size_t>(code_.inner)], every_);
    }
  }
}

void ContractRun::place_group(int s, const std::vector<int64_t>& base, const std::vector<int64_t>& step, int64_t lanes,
                              size_t group) {
  const ContractCode::Side& side = code_.side[s];
  std::span<Term> terms =
      std::span(terms_).subspan(group * static_cast<size_t>(code_.inner), static_cast<size_t>(code_.inner));
  const int64_t every = by_lanes(s) ? 1 : every_, first = by_lanes(s) ? 0 : terms[0].first;
  int64_t offset = 0, low = 0, high = (lanes - first + every - 1) / every;
  size_t checked = 0;
  for (size_t d = 0; d < side.axes.size(); ++d) {
    const ContractCode::Axis& axis = side.axes[d];
    if (axis.divisor == 1) offset += (base[d] + step[d] * first) * axis.stride;
    if (axis.proven) continue;
    int64_t form = base[d] + side_[s].checked[checked++][group] + step[d] * first;
    int64_t index = axis.divisor == 1 ? form : floor_div(form, axis.divisor);
    if (index * axis.divisor != form) high = low;
    clip(index, axis.divisor == 1 ? step[d] * every : step[d], axis.extent, low, high);
    if (axis.divisor != 1) offset += index * axis.stride;
  }
  const int64_t* from_folds = side_[s].offsets.data() + group * static_cast<size_t>(code_.inner);
  for (Term& t : terms) {
    t.offset[s] = offset + *from_folds++;
    t.low[s] = static_cast<int32_t>(low);
    t.high[s] = static_cast<int32_t>(std::max(low, high));
  }
}

void ContractRun::place_terms(int s, const std::vector<int64_t>& base, const std::vector<int64_t>& step,
                              int64_t lanes) {
  size_t groups = terms_.empty() ? 0 : terms_.size() / static_cast<size_t>(code_.inner);
  for (size_t g = 0; g < groups; ++g) place_group(s, base, step, lanes, g);
}

void ContractRun::run_row(const std::vector<int64_t> (&bases)[2], const std::vector<int64_t> (&steps)[2], int64_t lanes,
                          double* rounded, double* unrounded) {
  choose_lanes(bases, steps);
  Factor factor[2];
  for (int s = 0; s < 2; ++s) {
    place_terms(s, bases[s], steps[s], lanes);
    factor[s] = {side_[s].rounded, 0, code_.side[s].outside, by_lanes(s)};
    for (size_t d = 0; d < steps[s].size(); ++d) {
      const ContractCode::Axis& axis = code_.side[s].axes[d];
      factor[s].step += steps[s][d] * axis.stride * (axis.divisor == 1 && !by_lanes(s) ? every_ : 1);
    }
  }
  auto sum = [&](double* acc) {
    std::fill_n(acc, lanes, 0.);
    Row row{acc, lanes, every_, terms_};
    outside_matters_ ? sum_with_outside(row, factor[0], factor[1]) : kSum(row, factor[0], factor[1]);
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
