// What moves elements: views, slices, joins, gathers and scatters. Values keep their level.
#include <algorithm>
#include <numeric>

#include "tests/random/makers.h"

namespace cameo::random {
namespace {

constexpr DTypes kAny = kNumbers | kBool;

Local any(Draft& d, int least_rank = 0, int most_rank = 8) { return d.pick(kAny, Level::Final, least_rank, most_rank); }
bool move(Draft& d, std::string_view op, const std::vector<Local>& in, Attrs attrs = {}) {
  const Local x = in[0];
  return d.add(op, in, std::move(attrs), x.level, x.whole, x.bound);
}
/// Of what was made with indices, and must be needed.
bool indexed(Draft& d, bool made) {
  if (made) d.needed.push_back(d.values.back());
  return made;
}
int64_t axis_of(Draft& d, const Local& x) { return d.random.in(-x.rank(), x.rank() - 1); }
size_t front(int64_t axis, const Local& x) { return static_cast<size_t>(axis < 0 ? axis + x.rank() : axis); }

bool transpose(Draft& d) {
  Local x = any(d, 1);
  std::vector<int64_t> perm(x.dims.size());
  std::iota(perm.begin(), perm.end(), 0);
  for (size_t i = perm.size(); i > 1; --i)
    std::swap(perm[i - 1], perm[static_cast<size_t>(d.random.in(0, static_cast<int64_t>(i) - 1))]);
  return move(d, "Transpose", {x}, {{"perm", perm}});
}

/// The same elements in other dims: two axes become one, one becomes two, ones come and go.
bool reshape(Draft& d) {
  Local x = any(d);
  std::vector<int64_t> dims = x.dims;
  for (int64_t n = d.random.in(1, 3); n-- > 0;) {
    size_t at = static_cast<size_t>(d.random.in(0, static_cast<int64_t>(dims.size())));
    if (at + 1 < dims.size() && d.random.percent(50)) {
      dims[at] *= dims[at + 1];
      dims.erase(dims.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    } else if (at < dims.size() && dims[at] > 1) {
      for (int64_t f : {2, 3, 4, 5, 8})
        if (dims[at] % f == 0 && d.random.percent(60)) {
          dims[at] /= f;
          dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(at), f);
          break;
        }
    } else if (dims.size() < 8) {
      dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(at), 1);
    }
  }
  bool empty = std::ranges::find(dims, 0) != dims.end();
  if (!empty && !dims.empty() && d.random.percent(40))
    dims[static_cast<size_t>(d.random.in(0, static_cast<int64_t>(dims.size()) - 1))] = -1;
  Attrs attrs;
  if (empty) attrs["allowzero"] = int64_t{1};
  return move(d, "Reshape", {x, d.ints(dims)}, attrs);
}

bool reaxis(Draft& d) {
  Local x = any(d);
  if (d.random.percent(35)) {
    std::vector<int64_t> ones;
    for (int i = 0; i < x.rank(); ++i)
      if (x.dims[static_cast<size_t>(i)] == 1) ones.push_back(i);
    if (ones.empty() || d.random.percent(30)) return move(d, "Squeeze", {x});
    return move(d, "Squeeze", {x, d.ints({d.random.of(ones)})});
  }
  if (d.random.percent(30)) return move(d, "Flatten", {x}, {{"axis", d.random.in(-x.rank(), x.rank())}});
  return move(d, "Unsqueeze", {x, d.ints({d.random.in(-x.rank() - 1, x.rank())})});
}

bool expand(Draft& d) {
  Local x = any(d, 0, 5);
  if (x.rank() && d.random.percent(40)) {
    std::vector<int64_t> repeats;
    for (int i = 0; i < x.rank(); ++i) repeats.push_back(d.random.percent(70) ? 1 : d.random.in(0, 3));
    return move(d, "Tile", {x, d.ints(repeats)});
  }
  std::vector<int64_t> dims = x.dims;
  for (int64_t& extent : dims)
    if (extent == 1) extent = d.random.in(1, 4);
  if (d.random.percent(50)) dims.insert(dims.begin(), d.random.in(1, 3));
  return move(d, "Expand", {x, d.ints(dims)});
}

bool slice(Draft& d) {
  Local x = any(d, 1);
  std::vector<int64_t> starts, ends, axes, steps;
  int64_t axis = d.random.in(0, x.rank() - 1);
  for (int64_t n = d.random.in(1, 2); n-- > 0 && axis < x.rank(); ++axis) {
    int64_t extent = x.dims[static_cast<size_t>(axis)], step = d.random.of({1, 1, 1, 2, 3, -1, -1, -2});
    axes.push_back(d.random.percent(50) ? axis : axis - x.rank());
    steps.push_back(step);
    bool open = d.random.percent(25);
    starts.push_back(open ? (step > 0 ? INT64_MIN : INT64_MAX) : d.random.in(-extent - 1, extent + 1));
    ends.push_back(d.random.percent(25) ? (step > 0 ? INT64_MAX : INT64_MIN) : d.random.in(-extent - 1, extent + 1));
  }
  return move(d, "Slice", {x, d.ints(starts), d.ints(ends), d.ints(axes), d.ints(steps)});
}

bool concat(Draft& d) {
  Local x = any(d, 1);
  int64_t axis = axis_of(d, x);
  std::vector<Local> in{x};
  Level level = x.level;
  bool whole = x.whole;
  double bound = x.bound;
  for (int64_t n = d.random.in(1, 3); n-- > 0;) {
    auto fits = [&](const Local& v) {
      if (v.dtype != x.dtype || v.rank() != x.rank()) return false;
      for (size_t i = 0; i < x.dims.size(); ++i)
        if (i != front(axis, x) && v.dims[i] != x.dims[i]) return false;
      return true;
    };
    auto v = d.random.percent(70) ? d.find(fits) : std::nullopt;
    std::vector<int64_t> dims = x.dims;
    dims[front(axis, x)] = d.random.in(0, 3);
    in.push_back(v ? *v : d.leaf(x.dtype, dims, x.level != Level::Exact));
    level = std::max(level, in.back().level);
    whole &= in.back().whole;
    bound = std::max(bound, in.back().bound);
  }
  std::swap(in[0], in[static_cast<size_t>(d.random.in(0, static_cast<int64_t>(in.size()) - 1))]);
  return d.add("Concat", in, {{"axis", axis}}, level, whole, bound);
}

bool split(Draft& d) {
  Local x = any(d, 1);
  int64_t axis = axis_of(d, x), extent = x.dims[front(axis, x)], first = d.random.in(0, extent);
  auto out = d.node("Split", {x, d.ints({first, extent - first})}, {{"axis", axis}}, 2);
  if (!out) return false;
  for (const Local& v : *out) d.keep(v, x.level, x.whole, x.bound);
  return true;
}

bool pad(Draft& d) {
  Local x = any(d, 1, 5);
  std::vector<int64_t> pads(2 * x.dims.size());
  for (size_t i = 0; i < pads.size(); ++i)
    if (d.random.percent(40)) pads[i] = d.random.in(x.dims[i % x.dims.size()] > 2 ? -1 : 0, 2);
  std::string mode = d.random.of<std::string>({"constant", "constant", "constant", "edge", "reflect", "wrap"});
  std::vector<Local> in{x, d.ints(pads)};
  if (mode == "constant" && d.random.percent(40)) in.push_back(d.leaf(x.dtype, {}, x.level != Level::Exact));
  bool whole = x.whole && (in.size() < 3 || in[2].whole);
  return d.add("Pad", in, {{"mode", mode}}, x.level, whole, std::max(x.bound, in.size() < 3 ? 0 : in[2].bound));
}

bool gather(Draft& d) {
  Local x = any(d, 1, 5);
  int64_t axis = axis_of(d, x);
  std::vector<int64_t> dims = d.dims(2);
  if (d.random.percent(50))
    if (auto v = d.find([](const Local& v) { return kIndices.contains(v.dtype) && v.rank() <= 2 && v.size() <= 64; }))
      dims = v->dims;
  return indexed(d, move(d, "Gather", {x, d.indices(dims, x.dims[front(axis, x)])}, {{"axis", axis}}));
}

bool gather_elements(Draft& d) {
  Local x = any(d, 1, 4);
  int64_t axis = axis_of(d, x);
  std::vector<int64_t> dims = x.dims;
  for (size_t i = 0; i < dims.size(); ++i) dims[i] = i == front(axis, x) ? d.random.in(0, 5) : dims[i];
  return indexed(d, move(d, "GatherElements", {x, d.indices(dims, x.dims[front(axis, x)])}, {{"axis", axis}}));
}

bool gather_nd(Draft& d) {
  Local x = any(d, 1, 4);
  int64_t smallest = *std::ranges::min_element(x.dims), depth = d.random.in(1, x.rank());
  std::vector<int64_t> dims = d.dims(1);
  dims.push_back(depth);
  return indexed(d, move(d, "GatherND", {x, d.indices(dims, smallest, kInt64)}));
}

/// Sums of inexact numbers depend on the order, which is that of the updates everywhere.
bool scatter(Draft& d) {
  Local x = any(d, 1, 4);
  std::string reduction = d.random.of<std::string>({"none", "none", "add", "mul", "min", "max"});
  if (x.dtype == DType::b1 || (is_float(x.dtype) && !x.whole)) reduction = "none";
  bool none = reduction == "none";
  if (d.random.percent(50)) {
    int64_t axis = axis_of(d, x);
    std::vector<int64_t> dims = x.dims;
    dims[front(axis, x)] = d.random.in(0, 5);
    Local at = d.indices(dims, x.dims[front(axis, x)]), updates = d.leaf(x.dtype, dims, true);
    return indexed(d, d.add("ScatterElements", {x, at, updates}, {{"axis", axis}, {"reduction", reduction}}, x.level,
                            none && x.whole && updates.whole, none ? std::max(x.bound, updates.bound) : HUGE_VAL));
  }
  std::vector<int64_t> dims{d.random.in(0, 4), d.random.in(1, x.rank())}, updated{dims[0]};
  updated.insert(updated.end(), x.dims.begin() + dims[1], x.dims.end());
  Local at = d.indices(dims, *std::ranges::min_element(x.dims), kInt64), updates = d.leaf(x.dtype, updated, true);
  return indexed(d, d.add("ScatterND", {x, at, updates}, {{"reduction", reduction}}, x.level,
                          none && x.whole && updates.whole, none ? std::max(x.bound, updates.bound) : HUGE_VAL));
}

bool blocks(Draft& d) {
  Local x = d.pick(kAny, Level::Final, 4, 4);
  std::string_view op = d.random.percent(50) ? "DepthToSpace" : "SpaceToDepth";
  Attrs attrs{{"blocksize", int64_t{2}}};
  if (op == "DepthToSpace" && d.random.percent(50)) attrs["mode"] = std::string("CRD");
  return move(d, op, {x}, attrs);
}

bool trilu(Draft& d) {
  Local x = any(d, 2);
  return move(d, "Trilu", {x, d.ints({d.random.in(-2, 2)})}, {{"upper", d.random.in(0, 1)}});
}

bool shape(Draft& d) {
  Local x = any(d);
  if (d.random.percent(40)) return d.add("Size", {x}, {}, Level::Exact);
  return d.add("Shape", {x}, {}, Level::Exact);
}

bool range(Draft& d) {
  DType t = d.dtype(DTypes(DType::i64, DType::i32));
  auto number = [&](int64_t v) { return d.constant(t, {}, std::to_string(v)); };
  int64_t start = d.random.in(-3, 3), step = d.random.of({1, 2, -1, 3});
  return d.add("Range", {number(start), number(start + step * d.random.in(0, 20)), number(step)}, {}, Level::Exact);
}

bool one_hot(Draft& d) {
  Local at = d.pick(DTypes(DType::i64, DType::i32, DType::u64), Level::Exact, 0, 3);
  Local depth = d.constant(DType::i64, {}, std::to_string(d.random.in(1, 9)));
  Local values = d.leaf(d.dtype(kAny), {2});
  return d.add("OneHot", {at, depth, values}, {{"axis", d.random.in(-at.rank() - 1, at.rank())}}, Level::Exact,
               values.whole, values.bound);
}

bool reverse_sequence(Draft& d) {
  Local x = any(d, 2, 4);
  std::string text =
      "randint:" + std::to_string(d.random.seed()) + ":1:" + std::to_string(std::max<int64_t>(x.dims[0], 1));
  Local lengths = d.constant(DType::i64, {x.dims[1]}, text);
  return move(d, "ReverseSequence", {x, lengths});
}

bool resize(Draft& d) {
  Local x = d.pick(kAny, Level::Final, 3, 4);
  std::vector<int64_t> sizes = x.dims;
  for (size_t i = 2; i < sizes.size(); ++i) sizes[i] = d.random.in(1, 2 * sizes[i] + 1);
  return move(
      d, "Resize", {x, {}, {}, d.ints(sizes)},
      {{"mode", std::string("nearest")},
       {"coordinate_transformation_mode", d.random.of<std::string>({"asymmetric", "half_pixel", "align_corners"})},
       {"nearest_mode", d.random.of<std::string>({"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"})}});
}

constexpr Maker kMakers[] = {{"transpose", 8, transpose}, {"reshape", 7, reshape},
                             {"reaxis", 5, reaxis},       {"expand", 5, expand},
                             {"slice", 8, slice},         {"concat", 7, concat},
                             {"split", 4, split},         {"pad", 5, pad},
                             {"gather", 8, gather},       {"gather elements", 4, gather_elements},
                             {"gather nd", 4, gather_nd}, {"scatter", 5, scatter},
                             {"blocks", 2, blocks},       {"trilu", 2, trilu},
                             {"shape", 2, shape},         {"range", 2, range},
                             {"one hot", 2, one_hot},     {"reverse sequence", 1, reverse_sequence},
                             {"resize", 2, resize}};

}  // namespace

std::span<const Maker> moving_makers() { return kMakers; }

}  // namespace cameo::random
