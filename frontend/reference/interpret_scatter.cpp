// Scatter: the expressions run on a tape over blocks of points; the writes follow one by one, in order.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/ir/check.h"
#include "frontend/reference/interpret_run.h"

namespace cameo::tape {
namespace {

/// Lanes that own their numbers: a whole tensor before it is rounded.
struct Column {
  std::vector<double> rounded, unrounded;
  std::vector<int64_t> ints;
  Lanes lanes() {
    return {rounded.empty() ? nullptr : rounded.data(), unrounded.empty() ? nullptr : unrounded.data(), ints.data(),
            false};
  }
  void append(const Lanes& from, int64_t lane) {
    int64_t i = from.uniform ? 0 : lane;
    if (from.ints) ints.push_back(from.ints[i]);
    if (from.rounded) rounded.push_back(from.rounded[i]);
    if (from.unrounded) unrounded.push_back(from.unrounded[i]);
  }
};

template <class T>
T combine(int how, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    auto u = [](T v) { return static_cast<uint64_t>(v); };
    if (how == Scatter::Add) return static_cast<T>(u(a) + u(b));
    if (how == Scatter::Mul) return static_cast<T>(u(a) * u(b));
  } else {
    if (how == Scatter::Add) return a + b;
    if (how == Scatter::Mul) return a * b;
    if (how != Scatter::Assign && (a != a || b != b)) return a != a ? a : b;
  }
  if (how == Scatter::Min) return b < a ? b : a;
  if (how == Scatter::Max) return a < b ? b : a;
  return b;
}
int64_t combine_int(int how, DType t, int64_t a, int64_t b) {
  bool order = how == Scatter::Min || how == Scatter::Max;
  if (t == DType::u64 && order)
    return (static_cast<uint64_t>(b) < static_cast<uint64_t>(a)) == (how == Scatter::Min) ? b : a;
  return wrap_to(t, combine(how, a, b));
}

void write(Column& out, int64_t at, int how, DType t, const Lanes& update, int64_t lane) {
  int64_t i = update.uniform ? 0 : lane;
  if (update.ints) out.ints[at] = combine_int(how, t, out.ints[at], update.ints[i]);
  if (update.rounded) out.rounded[at] = combine(how, out.rounded[at], update.rounded[i]);
  if (update.unrounded) out.unrounded[at] = combine(how, out.unrounded[at], update.unrounded[i]);
}

/// The row-major number of the element that a lane writes; data-dependent indices are checked here.
int64_t destination(std::span<const Lanes> to, std::span<const int64_t> dims, int64_t lane) {
  int64_t at = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    int64_t index = to[d].ints[to[d].uniform ? 0 : lane];
    if (index < 0 || index >= dims[d])
      throw CompileError(Code::E0304,
                         fmt::format("index {} is out of range for axis {} of extent {}", index, d, dims[d]));
    at = at * dims[d] + index;
  }
  return at;
}

}  // namespace

std::vector<Dual> NodeRun::run_scatter(const Scatter& m, std::span<const Dual> inputs) {
  DType t = out_type(0).dtype;
  Column column;
  const Tape& start = compile(0, m.start.index, std::span(&m.start.value, 1), inputs);
  std::vector<int64_t> dims = start.dims();
  start.run(inputs, {.shadow = shadow_}, [&](const Tape::Block& b) {
    for (int64_t i = 0; i < b.lanes; ++i) column.append(b.roots[0], i);
  });
  std::vector<Expr> roots = m.to;
  roots.push_back(m.update);
  CAMEO_CHECK(m.to.size() == dims.size(), "a destination of the output's rank");
  compile(1, m.over, roots, inputs).run(inputs, {.shadow = shadow_}, [&](const Tape::Block& b) {
    for (int64_t i = 0; i < b.lanes; ++i) write(column, destination(b.roots, dims, i), m.combine, t, b.roots.back(), i);
  });
  std::vector<Dual> out{new_output(0, std::move(dims))};
  if (out[0].rounded.size()) store(out[0], 0, out[0].rounded.size(), column.lanes());
  return out;
}

}  // namespace cameo::tape
