// Reductions, products, windows and norms. Sums of whole numbers that the type can hold are exact in every order.
#include <algorithm>
#include <cmath>

#include "tests/random/makers.h"

namespace cameo::random {
namespace {

constexpr double kLargest = 1e3;

/// Sums and products of these take more than an operand's error only where they are small.
bool summable(const Local& x) { return !is_float(x.dtype) || (x.level <= Level::Close && x.bound <= kLargest); }
std::optional<Local> term(Draft& d, DTypes types, int least_rank, int most_rank) {
  auto fits = [&](const Local& v) {
    return types.contains(v.dtype) && summable(v) && v.rank() >= least_rank && v.rank() <= most_rank;
  };
  if (d.random.percent(80))
    if (auto v = d.find(fits)) return v;
  std::vector<int64_t> dims = d.dims(most_rank);
  while (static_cast<int>(dims.size()) < least_rank) dims.insert(dims.begin(), d.random.in(1, 3));
  return d.leaf(d.dtype(types), dims, true);
}
/// A sum of so many products (or terms) of these magnitudes.
bool add_sum(Draft& d, std::string_view op, const std::vector<Local>& in, Attrs attrs, double bound, bool whole) {
  DType t = in[0].dtype;
  if (!is_float(t)) return d.add(op, in, std::move(attrs), Level::Exact, true);
  bool exact = whole && bound <= exact_whole(t);
  Level level = exact ? Level::Exact : bound <= 1e4 ? Level::Close : Level::Final;
  return d.add(op, in, std::move(attrs), level, exact, bound);
}

std::vector<int64_t> some_axes(Draft& d, const Local& x) {
  std::vector<int64_t> axes;
  for (int i = 0; i < x.rank(); ++i)
    if (d.random.percent(45)) axes.push_back(d.random.percent(50) ? i : i - x.rank());
  return axes;
}
std::vector<Local> with_axes(Draft& d, const Local& x) {
  std::vector<int64_t> axes = some_axes(d, x);
  if (axes.empty()) return {x};
  return {x, d.ints(axes)};
}

bool reduce_order(Draft& d) {
  Local x = d.pick(kNumbers | kBool, Level::Close);
  std::string_view op = d.random.percent(50) ? "ReduceMax" : "ReduceMin";
  const double bound = x.size() == 0 ? HUGE_VAL : x.bound;  // of nothing: the type's least, or greatest
  return d.add(op, with_axes(d, x), {{"keepdims", d.random.in(0, 1)}}, x.level, x.whole, bound);
}
bool reduce_sum(Draft& d) {
  Local x = *term(d, kNumbers, 0, 8);
  std::string_view op = d.random.of<std::string_view>(
      {"ReduceSum", "ReduceSum", "ReduceMean", "ReduceL1", "ReduceSumSquare", "ReduceL2"});
  double each = op == "ReduceSumSquare" ? x.bound * x.bound : x.bound;
  Attrs attrs{{"keepdims", d.random.in(0, 1)}};
  if (d.random.percent(10)) attrs["noop_with_empty_axes"] = int64_t{1};
  bool whole = x.whole && op != "ReduceMean" && op != "ReduceL2";
  if (!is_float(x.dtype) && op == "ReduceL2") return false;  // of 64-bit integers as f64
  return add_sum(d, op, with_axes(d, x), attrs, each * static_cast<double>(std::max<int64_t>(x.size(), 1)), whole);
}
bool reduce_prod(Draft& d) {
  Local x = d.pick(kIntegers);
  return d.add("ReduceProd", with_axes(d, x), {{"keepdims", d.random.in(0, 1)}}, Level::Exact);
}
bool arg(Draft& d) {
  Local x = d.pick(kNumbers, Level::Exact, 1, 8);
  return d.add(d.random.percent(50) ? "ArgMax" : "ArgMin", {x},
               {{"axis", d.random.in(-x.rank(), x.rank() - 1)},
                {"keepdims", d.random.in(0, 1)},
                {"select_last_index", d.random.in(0, 1)}},
               Level::Exact);
}
bool top_k(Draft& d) {
  Local x = d.pick(kNumbers, Level::Exact, 1, 4);
  int64_t axis = d.random.in(-x.rank(), x.rank() - 1),
          extent = x.dims[static_cast<size_t>(axis < 0 ? axis + x.rank() : axis)];
  auto out = d.node("TopK", {x, d.ints({d.random.in(0, extent)})}, {{"axis", axis}, {"largest", d.random.in(0, 1)}}, 2);
  if (!out) return false;
  d.keep(out->at(0), x.level, x.whole, x.bound);
  d.keep(out->at(1), Level::Exact, true, HUGE_VAL);
  return true;
}
bool cumulate(Draft& d) {
  Local x = *term(d, kNumbers, 1, 4);
  Local axis = d.constant(DType::i64, {}, std::to_string(d.random.in(-x.rank(), x.rank() - 1)));
  return add_sum(d, "CumSum", {x, axis}, {{"exclusive", d.random.in(0, 1)}, {"reverse", d.random.in(0, 1)}},
                 x.bound * static_cast<double>(x.size()), x.whole);
}

bool matmul(Draft& d) {
  Local a = *term(d, kNumbers, 1, 4);
  int64_t k = a.dims.back();
  auto fits = [&](const Local& v) { return v.dtype == a.dtype && summable(v) && v.rank() == 2 && v.dims[0] == k; };
  auto b = d.random.percent(60) ? d.find(fits) : std::nullopt;
  if (!b) {
    std::vector<int64_t> dims{k};
    if (d.random.percent(85)) dims.push_back(d.random.of({1, 2, 3, 5, 8, 16, 17, 33}));
    if (dims.size() == 2 && a.rank() > 2 && d.random.percent(40))
      dims.insert(dims.begin(), a.dims[static_cast<size_t>(a.rank()) - 3]);
    b = d.leaf(a.dtype, dims, true);
  }
  double bound = a.bound * b->bound * static_cast<double>(std::max<int64_t>(k, 1));
  return add_sum(d, "MatMul", {a, *b}, {}, bound, a.whole && b->whole);
}
bool gemm(Draft& d) {
  Local a = *term(d, kFloats, 2, 2);
  bool transposed_a = d.random.percent(40), transposed_b = d.random.percent(40);
  int64_t k = a.dims[transposed_a ? 0 : 1], m = a.dims[transposed_a ? 1 : 0], n = d.random.of({1, 3, 4, 8, 17});
  Local b = d.leaf(a.dtype, transposed_b ? std::vector<int64_t>{n, k} : std::vector<int64_t>{k, n}, true);
  Attrs attrs{{"transA", int64_t{transposed_a}}, {"transB", int64_t{transposed_b}}};
  std::vector<Local> in{a, b};
  double bound = a.bound * b.bound * static_cast<double>(std::max<int64_t>(k, 1));
  bool whole = a.whole && b.whole;
  if (d.random.percent(60)) {
    in.push_back(d.leaf(
        a.dtype, d.random.of({std::vector<int64_t>{n}, std::vector<int64_t>{m, 1}, std::vector<int64_t>{}}), true));
    bound += in[2].bound;
    whole &= in[2].whole;
  }
  return add_sum(d, "Gemm", in, attrs, bound, whole);
}

Attrs window(Draft& d, size_t spatial, const std::vector<int64_t>& kernel) {
  std::vector<int64_t> strides, dilations, pads(2 * spatial);
  for (size_t i = 0; i < spatial; ++i) {
    strides.push_back(d.random.of({1, 1, 1, 2, 3}));
    dilations.push_back(d.random.of({1, 1, 1, 2}));
    pads[i] = d.random.in(0, kernel[i] - 1);
    pads[i + spatial] = d.random.in(0, kernel[i] - 1);
  }
  return {{"strides", strides}, {"dilations", dilations}, {"pads", pads}};
}
bool conv(Draft& d) {
  Local x = *term(d, DTypes(DType::f32, DType::f64, DType::f16), 3, 5);
  size_t spatial = x.dims.size() - 2;
  int64_t channels = x.dims[1], groups = channels > 1 && d.random.percent(30) ? channels : 1;
  if (channels == 0) return false;
  int64_t outputs = groups * d.random.of({1, 1, 2, 3, 8});
  std::vector<int64_t> dims{outputs, channels / groups}, kernel;
  for (size_t i = 0; i < spatial; ++i) kernel.push_back(d.random.of({1, 2, 3, 3}));
  dims.insert(dims.end(), kernel.begin(), kernel.end());
  std::vector<Local> in{x, d.leaf(x.dtype, dims, true)};
  double count = static_cast<double>(in[1].size()) / static_cast<double>(outputs);
  double bound = x.bound * in[1].bound * count;
  bool whole = x.whole && in[1].whole;
  if (d.random.percent(40)) {
    in.push_back(d.leaf(x.dtype, {outputs}, true));
    bound += in[2].bound;
    whole &= in[2].whole;
  }
  Attrs attrs = window(d, spatial, kernel);
  attrs["group"] = groups;
  return add_sum(d, "Conv", in, attrs, bound, whole);
}
bool pool(Draft& d) {
  bool largest = d.random.percent(50);
  Local x = *term(d, kFloats, 3, 5);
  size_t spatial = x.dims.size() - 2;
  std::vector<int64_t> kernel;
  for (size_t i = 0; i < spatial; ++i) kernel.push_back(d.random.of({1, 2, 3}));
  Attrs attrs = window(d, spatial, kernel);
  attrs["kernel_shape"] = kernel;
  attrs["ceil_mode"] = d.random.in(0, 1);
  if (largest) return d.add("MaxPool", {x}, attrs, x.level, false, x.bound);  // of nothing but padding: -infinity
  attrs["count_include_pad"] = d.random.in(0, 1);
  return d.add("AveragePool", {x}, attrs, Level::Final);
}

bool softmax(Draft& d) {
  Local x = *term(d, kFloats, 1, 4);
  if (x.bound > 40) return false;
  return d.add(d.random.percent(70) ? "Softmax" : "LogSoftmax", {x}, {{"axis", d.random.in(-x.rank(), x.rank() - 1)}},
               Level::Close, false, 100);
}
bool norm(Draft& d) {
  Local x = *term(d, kFloats, 2, 4);
  if (x.level != Level::Exact || x.bound > 40) return false;
  std::vector<int64_t> last{x.dims.back()}, channels{x.dims[1]};
  if (d.random.percent(60)) {
    std::vector<Local> in{x, d.leaf(x.dtype, last, true)};
    if (d.random.percent(60)) in.push_back(d.leaf(x.dtype, last, true));
    return d.add("LayerNormalization", in, {}, Level::Final);
  }
  if (d.random.percent(50)) return d.add("RMSNormalization", {x, d.leaf(x.dtype, last, true)}, {}, Level::Final);
  return d.add("InstanceNormalization", {x, d.leaf(x.dtype, channels, true), d.leaf(x.dtype, channels, true)}, {},
               Level::Final);
}
/// With constants, which are folded into the product before it.
bool batch_norm(Draft& d) {
  Local x = *term(d, kFloats, 2, 4);
  std::vector<int64_t> channels{x.dims[1]};
  auto numbers = [&](std::string text) { return d.constant(x.dtype, channels, text); };
  std::string seed = std::to_string(d.random.seed());
  return d.add("BatchNormalization",
               {x, numbers("rand:" + seed), numbers("rand:1" + seed), numbers("rand:2" + seed),
                numbers("rand:3" + seed + ":0.5:2")},
               {}, x.bound < kLargest ? Level::Close : Level::Final, false, 4 * x.bound + 4);
}
bool integer_product(Draft& d) {
  Local a = d.pick(DTypes(DType::u8, DType::i8), Level::Exact, 1, 3);
  std::vector<int64_t> dims{a.dims.back(), d.random.of({1, 3, 8, 17})};
  Local b = d.leaf(d.dtype(DTypes(DType::u8, DType::i8)), dims);
  std::vector<Local> in{a, b};
  if (d.random.percent(50)) in.push_back(d.leaf(a.dtype, {}));
  if (in.size() == 3 && d.random.percent(50)) in.push_back(d.leaf(b.dtype, {}));
  return d.add("MatMulInteger", in, {}, Level::Exact);
}
bool quantize(Draft& d) {
  Local x = d.pick(DTypes(DType::f32));
  Local scale = d.constant(DType::f32, {}, d.random.of<std::string>({"0.5", "0.125", "2", "1"}));
  DType t = d.dtype(DTypes(DType::u8, DType::i8, DType::i16, DType::u16));
  Local zero = d.constant(t, {}, std::to_string(d.random.in(0, 7)));
  if (!d.add("QuantizeLinear", {x, scale, zero}, {}, Level::Exact)) return false;
  return d.random.percent(40) ||
         d.add("DequantizeLinear", {d.values.back(), scale, zero}, {}, Level::Exact, false, 1e5);
}

constexpr Maker kMakers[] = {{"reduce order", 5, reduce_order},
                             {"reduce sum", 7, reduce_sum},
                             {"reduce prod", 2, reduce_prod},
                             {"arg", 4, arg},
                             {"top k", 2, top_k},
                             {"cumulate", 3, cumulate},
                             {"matmul", 7, matmul},
                             {"gemm", 3, gemm},
                             {"conv", 5, conv},
                             {"pool", 3, pool},
                             {"softmax", 3, softmax},
                             {"norm", 3, norm},
                             {"batch norm", 2, batch_norm},
                             {"integer product", 2, integer_product},
                             {"quantize", 3, quantize}};

}  // namespace

std::span<const Maker> reducing_makers() { return kMakers; }

}  // namespace cameo::random
