// Folds on the tape: an accumulator a lane, one step at a time in order. The extreme of an ArgMin or ArgMax is tracked
// by the rounded run, of what kernels would compare; NaN is more extreme than every number, as it is for Min and Max.
#include <algorithm>
#include <limits>

#include "frontend/reference/interpret_tape.h"

namespace cameo::tape {
namespace {

bool is_arg(FoldKind k) { return k >= FoldKind::ArgMin; }
bool wants_least(FoldKind k) { return k == FoldKind::Min || k == FoldKind::ArgMin || k == FoldKind::ArgMinLast; }
bool wants_last(FoldKind k) { return k == FoldKind::ArgMinLast || k == FoldKind::ArgMaxLast; }

double neutral_float(FoldKind k) {
  if (k == FoldKind::Sum) return 0;
  if (k == FoldKind::Prod) return 1;
  double infinity = std::numeric_limits<double>::infinity();
  return wants_least(k) ? infinity : -infinity;
}
int64_t neutral_int(FoldKind k, DType t) {
  if (k == FoldKind::Sum) return 0;
  if (k == FoldKind::Prod) return 1;
  return (wants_least(k) ? highest(t) : lowest(t)).int_value();
}

/// Calls f(lane) for the lanes whose extent is more than k.
template <class F>
void each_active(const Lanes& extent, int64_t k, int64_t lanes, F f) {
  if (extent.uniform) {
    for (int64_t i = 0; i < lanes; ++i) f(i);
  } else {
    for (int64_t i = 0; i < lanes; ++i)
      if (k < extent.ints[i]) f(i);
  }
}

bool is_nan(double v) { return v != v; }
bool is_nan(int64_t) { return false; }

template <class T>
void step_plain(FoldKind kind, int64_t k, const Lanes& extent, const T* value, bool uniform, T* acc, int64_t lanes) {
  auto go = [&](auto f) {
    if (uniform)
      each_active(extent, k, lanes, [&](int64_t i) { acc[i] = f(acc[i], *value); });
    else
      each_active(extent, k, lanes, [&](int64_t i) { acc[i] = f(acc[i], value[i]); });
  };
  using U = std::conditional_t<std::is_integral_v<T>, uint64_t, T>;  // integers wrap
  switch (kind) {
    case FoldKind::Sum: return go([](T a, T b) { return static_cast<T>(static_cast<U>(a) + static_cast<U>(b)); });
    case FoldKind::Prod: return go([](T a, T b) { return static_cast<T>(static_cast<U>(a) * static_cast<U>(b)); });
    case FoldKind::Min: return go([](T a, T b) { return is_nan(a) ? a : is_nan(b) || b < a ? b : a; });
    default: return go([](T a, T b) { return is_nan(a) ? a : is_nan(b) || a < b ? b : a; });
  }
}

double decided_by(DType t, double v) { return decided(t, v); }
int64_t decided_by(DType, int64_t v) { return v; }

template <class T, class Less>
void step_arg(const FoldCode& f, int64_t k, const Lanes& extent, const T* value, bool uniform, T* best, int64_t* at,
              int64_t lanes, Less less) {
  bool least = wants_least(f.kind), last = wants_last(f.kind);
  each_active(extent, k, lanes, [&](int64_t i) {
    T v = decided_by(f.body_type, value[uniform ? 0 : i]), b = best[i];
    bool better = is_nan(b) ? last && is_nan(v) : is_nan(v) || (least ? less(v, b) : less(b, v)) || (last && v == b);
    if (k && !better) return;
    best[i] = v;
    at[i] = k;
  });
}

}  // namespace

void start_fold(const FoldCode& f, const Lanes& acc, int64_t lanes) {
  if (is_arg(f.kind)) {
    std::fill_n(acc.ints, lanes, 0);
  } else if (is_float(f.body_type)) {
    std::fill_n(acc.rounded, lanes, neutral_float(f.kind));
    if (acc.unrounded) std::fill_n(acc.unrounded, lanes, neutral_float(f.kind));
  } else {
    std::fill_n(acc.ints, lanes, neutral_int(f.kind, f.body_type));
  }
}

void step_fold(const FoldCode& f, int64_t k, const Lanes& extent, const Lanes& value, const Lanes& acc,
               const Lanes& best, int64_t lanes) {
  auto less = [](auto a, auto b) { return a < b; };
  auto unsigned_less = [](int64_t a, int64_t b) { return static_cast<uint64_t>(a) < static_cast<uint64_t>(b); };
  if (is_arg(f.kind)) {
    if (is_float(f.body_type))
      step_arg(f, k, extent, value.rounded, value.uniform, best.rounded, acc.ints, lanes, less);
    else if (f.body_type == DType::u64)
      step_arg(f, k, extent, value.ints, value.uniform, best.ints, acc.ints, lanes, unsigned_less);
    else
      step_arg(f, k, extent, value.ints, value.uniform, best.ints, acc.ints, lanes, less);
  } else if (is_float(f.body_type)) {
    step_plain(f.kind, k, extent, value.rounded, value.uniform, acc.rounded, lanes);
    if (acc.unrounded) step_plain(f.kind, k, extent, value.unrounded, value.uniform, acc.unrounded, lanes);
  } else if (f.body_type == DType::u64 && (f.kind == FoldKind::Min || f.kind == FoldKind::Max)) {
    bool least = f.kind == FoldKind::Min;
    each_active(extent, k, lanes, [&](int64_t i) {
      int64_t v = value.ints[value.uniform ? 0 : i];
      if (least ? unsigned_less(v, acc.ints[i]) : unsigned_less(acc.ints[i], v)) acc.ints[i] = v;
    });
  } else {
    step_plain(f.kind, k, extent, value.ints, value.uniform, acc.ints, lanes);
    if (f.body_type != DType::i64 && f.body_type != DType::u64)
      for (int64_t i = 0; i < lanes; ++i) acc.ints[i] = wrap_to(f.body_type, acc.ints[i]);
  }
}

}  // namespace cameo::tape
