// integer_products: a product of tensors that were quantised to 8 bits is one of the integers, in i32, with the scales
// behind it: Conv, MatMul and Gemm of dequantised operands (QDQ), QLinearConv and QLinearMatMul. Weights, which must be
// known, are brought to i8 without a zero point, as integer kernels want them, those of ConvInteger and MatMulInteger
// too; rows that are quantised here are u8. A QLinear product that no integer kernel computes is one of f32 instead,
// and what is quantised behind it, or behind what was dequantised, is multiplied by the scale's reciprocal. Algebraic:
// a sum of floats rounds, one of integers does not.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontend/ir/operator.h"
#include "optimizer/pipeline.h"
#include "optimizer/rewrites/operands.h"
#include "optimizer/rewrites/uses.h"

namespace cameo {
namespace {

/// More products of u8 by i8 may leave an i32.
constexpr int64_t kMostTerms = INT32_MAX / (255 * 128);
constexpr const char* kNoMatrix = "its weights are no matrix";
constexpr const char* kGroups = "its groups are single channels with windows of more than 16 a side";

bool is_one(const Graph& g, ValueId v) {
  const Shape& s = g.type(v).shape;
  return is_static(s) && product(s) == Dim(1);
}

/// Whether a product with `w` is one with a matrix: further axes, of one index, add none to those of `rows`.
bool is_matrix(const Graph& g, ValueId w, ValueId rows) {
  const Shape& s = g.type(w).shape;
  const auto is_one_index = [](const Dim& d) { return d.is_static(1); };
  return s.size() >= 2 && s.size() <= std::max<size_t>(2, g.type(rows).shape.size()) &&
         std::all_of(s.begin(), s.end() - 2, is_one_index);
}

/// Adds nodes in the name of one that they stand for.
struct Maker {
  Graph& g;
  const Provenance& provenance;
  ValueId op(std::string_view name, std::vector<ValueId> in, Attrs attrs = {}) const {
    return g.add(get_operator(name), std::move(in), std::move(attrs), provenance)[0];
  }
  ValueId number(DType t, double v) const { return g.constant(Tensor::scalar(t, v)); }
  ValueId cast(ValueId v, DType to) const { return op("Cast", {v}, {{"to", static_cast<int64_t>(to)}}); }
  /// One number for all elements, or one an index of the axis that has `behind` axes behind it.
  ValueId along(ValueId parameter, int behind) const {
    if (is_one(g, parameter)) return reshape(parameter, {});
    std::vector<int64_t> dims(static_cast<size_t>(behind) + 1, 1);
    dims[0] = -1;
    return reshape(parameter, dims);
  }
  ValueId reshape(ValueId v, const std::vector<int64_t>& dims) const {
    return op("Reshape", {v, g.constant(Tensor::i64({static_cast<int64_t>(dims.size())}, dims))});
  }
  /// Its last two axes.
  ValueId matrix(ValueId v) const {
    const Shape& s = g.type(v).shape;
    return s.size() == 2 ? v : reshape(v, {s.end()[-2].value(), s.end()[-1].value()});
  }
};

/// A tensor of integers and what they stand for: (x - zero) * scale. No zero: 0.
struct Quantized {
  ValueId x, scale, zero;
};
struct Weights {
  ValueId w;  // i8, without a zero point
  ValueId scale;
};
struct Operands {
  Quantized x;
  Weights w;
};

/// Weights of any 8 bits less their zero point, which is one for all or one an index of `axis`, where that is i8.
std::optional<Tensor> without_zero(const Tensor& w, const Tensor* zero, int axis) {
  const auto& dims = w.dims();
  int64_t inner = 1;
  for (size_t d = static_cast<size_t>(axis) + 1; d < dims.size(); ++d) inner *= dims[d];
  const int64_t extent = dims[static_cast<size_t>(axis)];
  if (zero && zero->size() != 1 && (zero->rank() != 1 || zero->size() != extent)) return std::nullopt;
  Tensor shifted(DType::i8, {dims.begin(), dims.end()});
  for (int64_t i = 0; i < w.size(); ++i) {
    const int64_t off = !zero ? 0 : zero->get_int(zero->size() == 1 ? 0 : i / inner % extent);
    const int64_t v = w.get_int(i) - off;
    if (v < INT8_MIN || v > INT8_MAX) return std::nullopt;
    shifted.set_int(i, v);
  }
  return shifted;
}

/// Constant 8-bit weights with a constant scale, f32, one for all or one an index of `axis`; else `why` not.
std::optional<Weights> weights_of(Graph& g, const Quantized& q, int axis, std::string& why) {
  const Tensor *w = constant(g, q.x), *scale = constant(g, q.scale), *zero = constant(g, q.zero);
  why = "its weights are no constants of 8 bits with constant scales of f32";
  if (!w || !scale || (q.zero && !zero) || !is_8_bits(w->dtype()) || scale->dtype() != DType::f32) return std::nullopt;
  const int64_t extent = w->dims()[static_cast<size_t>(axis)];
  why = "its weights' scales are not one for all or one a channel of the output";
  if (scale->size() != 1 && (scale->rank() != 1 || scale->size() != extent)) return std::nullopt;
  why = fmt::format("a sum of {} products may leave 32 bits", w->size() / extent);
  if (w->size() / extent > kMostTerms) return std::nullopt;
  auto shifted = without_zero(*w, zero, axis);
  why = "its weights less their zero points leave 8 bits";
  if (!shifted) return std::nullopt;
  return Weights{g.constant(std::move(*shifted)), q.scale};
}

/// A tensor of 8 bits with one f32 scale and one zero point.
bool is_activation(const Graph& g, const Quantized& q) {
  return is_8_bits(g.type(q.x).dtype) && g.type(q.scale).dtype == DType::f32 && is_one(g, q.scale) &&
         (!q.zero || is_one(g, q.zero));
}

/// What a DequantizeLinear reads, if that made the value; its scales go along `axis` if there are several.
std::optional<Quantized> dequantized(const Graph& g, ValueId v, int axis) {
  const NodeId made = dequantizer_of(g, v);
  if (!made) return std::nullopt;
  const Node& n = g[made];
  const NodeView view(g, n);
  const Quantized q{n.inputs[0], n.inputs[1], operand(n.inputs, 2)};
  if (!is_one(g, q.scale) &&
      (view.attr_int("block_size") || NodeView::axis(view.attr_int("axis"), view.rank(0)) != axis))
    return std::nullopt;
  return q;
}

/// The sum of products that are computed as integers, as f32 and without scales. `name`: of ConvInteger or
/// MatMulInteger.
ValueId integer_sum(const Maker& make, std::string_view name, const Quantized& x, ValueId w, Attrs attrs,
                    ValueId bias = {}) {
  const bool is_deep = x.zero && make.g.type(x.zero).rank() > 1;  // as one block's is
  ValueId sum = make.op(name, {x.x, w, is_deep ? make.reshape(x.zero, {}) : x.zero}, std::move(attrs));
  if (bias) sum = make.op("Add", {sum, bias});
  return make.cast(sum, DType::f32);
}

class IntegerProducts {
 public:
  IntegerProducts(const Graph& g, PassContext& context) : g_(g), context_(context), uses_(g), kept_(g.values().size()) {
    for (const Node& n : g.nodes())
      for (size_t i = 0; i < n.inputs.size(); ++i)
        if (n.inputs[i] && n.op->name != "DequantizeLinear") kept_[n.inputs[i].index] = true;
    for (const Port& p : g.outputs()) kept_[p.value.index] = true;
  }

  std::optional<std::vector<ValueId>> rule(Graph& into, const Node& n, std::span<const ValueId> in) {
    std::optional<ValueId> y;
    const std::string_view name = n.op->name;
    if (name == "Conv") y = of_conv(into, n, in);
    if (name == "MatMul") y = of_matmul(into, n, in);
    if (name == "Gemm") y = of_gemm(into, n, in);
    if (name == "ConvTranspose" && dequantized(into, in[0], -1) && dequantized(into, in[1], 1))
      stays(n, "a transposed convolution is one of floats");
    if (name == "QLinearConv") y = of_qlinear_conv(into, n, in);
    if (name == "QLinearMatMul") y = of_qlinear_matmul(into, n, in);
    if (name == "ConvInteger") y = shift_weights(into, n, in, 0);
    if (name == "MatMulInteger" && into.type(in[1]).rank() == 2) y = shift_weights(into, n, in, 1);
    if (name == "QuantizeLinear") y = by_reciprocal(into, n, in);
    if (name == "DequantizeLinear") y = by_unsigned(into, n, in);
    return y ? std::optional(std::vector<ValueId>{*y}) : std::nullopt;
  }

 private:
  bool apply(std::string_view rule, const Graph& into, const Node& n) {
    return context_.apply(rule, into, n.provenance);
  }

  static bool has_integer_groups(const Graph& g, const Node& n, ValueId w) {
    return cameo::has_integer_groups(g.type(w).shape, NodeView(g, n).attr_int("group"));
  }

  /// Why a product with a dequantised operand is none of integers.
  std::nullopt_t stays(const Node& n, std::string_view why) {
    context_.remark(n.provenance, fmt::format("computed in f32, not in integers: {}", why));
    return std::nullopt;
  }

  /// The rows and the weights of a product whose operands are both dequantised; the weights' channels are `axis`.
  std::optional<Operands> operands_of(Graph& into, const Node& n, std::span<const ValueId> in, int axis) {
    const auto x = dequantized(into, in[0], -1), w = dequantized(into, in[1], axis);
    if (!x && !w) return std::nullopt;
    if (!x || !is_activation(into, *x)) return stays(n, "its first operand is not of 8 bits with one scale of f32");
    if (!w || into.type(in[1]).rank() <= axis)
      return stays(n, "its second operand is not quantised as a whole or by channels of the output");
    std::string why;
    const auto weights = weights_of(into, *w, axis, why);
    if (!weights) return stays(n, why);
    return Operands{*x, *weights};
  }

  std::optional<ValueId> of_conv(Graph& into, const Node& n, std::span<const ValueId> in) {
    const auto q = operands_of(into, n, in, 0);
    if (!q) return std::nullopt;
    if (!has_integer_groups(into, n, in[1])) return stays(n, kGroups);
    if (!apply("integer_conv", into, n)) return std::nullopt;
    const Maker make{into, n.provenance};
    const int behind = into.type(in[0]).rank() - 2;
    const ValueId sum = integer_sum(make, "ConvInteger", q->x, q->w.w, n.attrs);
    return scaled(make, sum, q->x, make.along(q->w.scale, behind),
                  operand(in, 2) ? make.along(in[2], behind) : ValueId{});
  }

  /// sum * (scale of x * scale of w) + bias
  static ValueId scaled(const Maker& make, ValueId sum, const Quantized& x, ValueId scale_of_w, ValueId bias) {
    const ValueId y = make.op("Mul", {sum, make.op("Mul", {make.reshape(x.scale, {}), scale_of_w})});
    return bias ? make.op("Add", {y, bias}) : y;
  }

  std::optional<ValueId> of_matmul(Graph& into, const Node& n, std::span<const ValueId> in) {
    const auto q = operands_of(into, n, in, into.type(in[1]).rank() - 1);
    if (!q) return std::nullopt;
    if (!is_matrix(into, in[1], in[0])) return stays(n, kNoMatrix);
    if (!apply("integer_matmul", into, n)) return std::nullopt;
    const Maker make{into, n.provenance};
    const ValueId w = make.matrix(q->w.w);
    return scaled(make, integer_sum(make, "MatMulInteger", q->x, w, {}), q->x, make.along(q->w.scale, 0), {});
  }

  std::optional<ValueId> of_gemm(Graph& into, const Node& n, std::span<const ValueId> in) {
    const NodeView view(into, n);
    const int columns = view.attr_int("transB") ? 0 : 1;
    auto q = operands_of(into, n, in, columns);
    if (!q || !apply("integer_gemm", into, n)) return std::nullopt;
    const Maker make{into, n.provenance};
    const auto by = [&](ValueId v, std::string_view attribute) {
      const float factor = static_cast<float>(view.attr_float(attribute));
      return !v || factor == 1 ? v : times(make, v, static_cast<float>(factor));
    };
    if (view.attr_int("transA")) q->x.x = make.op("Transpose", {q->x.x});
    const ValueId w = columns ? q->w.w : make.op("Transpose", {q->w.w});
    const ValueId scale = by(make.along(q->w.scale, 0), "alpha"), bias = by(operand(in, 2), "beta");
    return scaled(make, integer_sum(make, "MatMulInteger", q->x, w, {}), q->x, scale, bias);
  }

  /// round(sum * scale) + zero, in the type of `zero`.
  static ValueId requantized(const Maker& make, ValueId sum, ValueId scale, ValueId zero) {
    return make.op("QuantizeLinear",
                   {make.op("Mul", {sum, scale}), make.number(DType::f32, 1), make.reshape(zero, {})});
  }

  std::optional<ValueId> of_qlinear_conv(Graph& into, const Node& n, std::span<const ValueId> in) {
    const Quantized x{in[0], in[1], in[2]}, w{in[3], in[4], in[5]}, y{in[0], in[6], in[7]};
    if (!is_activation(into, x) || !is_one(into, y.scale) || !is_one(into, y.zero)) return std::nullopt;
    std::string why = kGroups;
    const auto weights = has_integer_groups(into, n, in[3]) ? weights_of(into, w, 0, why) : std::nullopt;
    if (!weights) return of_floats(into, n, in, "Conv", 0, why);
    if (!apply("integer_conv", into, n)) return std::nullopt;
    const Maker make{into, n.provenance};
    const int behind = into.type(x.x).rank() - 2;
    const ValueId bias = operand(in, 8) ? make.along(in[8], behind) : ValueId{};
    const ValueId sum = integer_sum(make, "ConvInteger", x, weights->w, n.attrs, bias);
    const ValueId products = make.op("Mul", {make.reshape(x.scale, {}), make.along(weights->scale, behind)});
    return requantized(make, sum, make.op("Div", {products, make.reshape(y.scale, {})}), y.zero);
  }

  std::optional<ValueId> of_qlinear_matmul(Graph& into, const Node& n, std::span<const ValueId> in) {
    const Quantized a{in[0], in[1], in[2]}, b{in[3], in[4], in[5]}, y{in[0], in[6], in[7]};
    const int rank = into.type(b.x).rank();
    if (!is_activation(into, a) || !is_one(into, y.scale) || !is_one(into, y.zero) || rank < 2 ||
        into.type(y.scale).dtype != DType::f32)
      return std::nullopt;
    std::string why = kNoMatrix;
    const auto weights = is_matrix(into, b.x, a.x) ? weights_of(into, b, rank - 1, why) : std::nullopt;
    if (!weights) return of_floats(into, n, in, "MatMul", rank - 1, why);
    if (!apply("integer_matmul", into, n)) return std::nullopt;
    const Maker make{into, n.provenance};
    const ValueId products = make.op("Mul", {make.reshape(a.scale, {}), make.along(weights->scale, 0)});
    return requantized(make, integer_sum(make, "MatMulInteger", a, make.matrix(weights->w), {}),
                       make.op("Div", {products, make.reshape(y.scale, {})}), y.zero);
  }

  /// A QLinear product between what it dequantises and quantises, the scales of its weights along `axis`.
  std::optional<ValueId> of_floats(Graph& into, const Node& n, std::span<const ValueId> in, std::string_view product,
                                   int64_t axis, std::string_view why) {
    const bool alike =
        is_one(into, in[4]) ? is_one(into, in[5]) : into.type(in[4]).rank() == 1 && into.type(in[5]).rank() == 1;
    if (!alike || !apply("float_product", into, n)) return std::nullopt;
    stays(n, why);
    const Maker make{into, n.provenance};
    const auto dequantize = [&](ValueId q, ValueId scale, ValueId zero) {
      if (is_one(into, scale)) scale = make.reshape(scale, {}), zero = zero ? make.reshape(zero, {}) : zero;
      return make.op("DequantizeLinear", {q, scale, zero}, {{"axis", axis}});
    };
    const ValueId x = dequantize(in[0], in[1], in[2]), w = dequantize(in[3], in[4], in[5]);
    std::vector<ValueId> operands{x, w};
    if (operand(in, 8)) {
      axis = 0;
      operands.push_back(dequantize(in[8], make.op("Mul", {make.reshape(in[1], {}), in[4]}), {}));
    }
    const ValueId y = make.op(product, operands, n.attrs);
    return make.op("QuantizeLinear", {y, make.reshape(in[6], {}), make.reshape(in[7], {})});
  }

  /// The same product, its constant weights i8 without a zero point; `axis`: that of their output channels.
  std::optional<ValueId> shift_weights(Graph& into, const Node& n, std::span<const ValueId> in, int axis) {
    const Tensor *w = constant(into, in[1]), *zero = constant(into, operand(in, 3));
    const bool stands = w && w->dtype() == DType::i8 && !operand(in, 3);
    if (!w || stands || (operand(in, 3) && !zero)) return std::nullopt;
    auto shifted = without_zero(*w, zero, axis);
    if (!shifted || !apply("shift_weights", into, n)) return std::nullopt;
    const Maker make{into, n.provenance};
    return make.op(n.op->name, {in[0], into.constant(std::move(*shifted)), operand(in, 2)}, n.attrs);
  }

  static bool is_normal(double x) { return std::isnormal(static_cast<float>(x)); }
  /// What a DequantizeLinear makes, times a factor that its scale takes; null where it is not made so.
  static ValueId dequantized_times(const Maker& make, ValueId v, float factor) {
    const NodeId made = dequantizer_of(make.g, v);
    const Tensor* scale = made ? constant(make.g, make.g[made].inputs[1]) : nullptr;
    if (!scale || scale->size() != 1 || !is_normal(scale->get(0) * factor)) return {};
    if (make.g[make.g[made].inputs[0]].constant) return {};  // its floats would be kept
    Node n = make.g[made];
    Tensor larger(DType::f32, {scale->dims().begin(), scale->dims().end()});
    larger.set(0, static_cast<float>(scale->get(0)) * factor);
    n.inputs[1] = make.g.constant(std::move(larger));
    return make.g.add(*n.op, n.inputs, n.attrs, n.provenance, n.version)[0];
  }
  /// y * factor, where that takes no multiplication more: of a sum that was scaled, and to which a bias was added, the
  /// factor goes into these two, of one of what was dequantised, into both scales, and a positive one through Relu.
  /// Null where it does.
  static ValueId folded(const Maker& make, ValueId y, float factor) {
    const auto node = [&](ValueId v, std::string_view name) {
      const NodeId made = make.g[v].producer;
      return made && make.g[made].op->name == name ? std::optional(make.g[made]) : std::nullopt;
    };
    if (const auto relu = node(y, "Relu"); relu && factor > 0) {
      const ValueId x = folded(make, relu->inputs[0], factor);
      return x ? make.op("Relu", {x}) : x;
    }
    const auto add = node(y, "Add");
    if (add)
      if (const ValueId a = dequantized_times(make, add->inputs[0], factor))
        if (const ValueId b = dequantized_times(make, add->inputs[1], factor)) return make.op("Add", {a, b});
    const auto scale = node(add ? add->inputs[0] : y, "Mul");
    const auto sum = scale ? node(scale->inputs[0], "Cast") : std::nullopt;
    if (!sum || !(node(sum->inputs[0], "ConvInteger") || node(sum->inputs[0], "MatMulInteger"))) return {};
    const ValueId scaled = make.op("Mul", {scale->inputs[0], multiplied(make, scale->inputs[1], factor)});
    return add ? make.op("Add", {scaled, multiplied(make, add->inputs[1], factor)}) : scaled;
  }
  static ValueId multiplied(const Maker& make, ValueId y, float factor) {
    return make.op("Mul", {y, make.number(DType::f32, factor)});
  }
  static ValueId times(const Maker& make, ValueId y, float factor) {
    const ValueId whole = folded(make, y, factor);
    return whole ? whole : multiplied(make, y, factor);
  }
  /// False where `v` holds dequantised integers, perhaps moved, and for one of these the product with the reciprocal
  /// rounds to another integer than the quotient. Of other values nothing is known, and true is the answer.
  static bool rounds_alike(const Graph& g, ValueId v, float scale, int deep = 8) {
    const NodeId mover = g[v].producer, made = dequantizer_of(g, v);
    const std::string_view name = mover ? g[mover].op->name : "";
    const auto part_does = [&](ValueId part) { return rounds_alike(g, part, scale, deep - 1); };
    if (deep && (name == "Reshape" || name == "MaxPool")) return part_does(g[mover].inputs[0]);
    if (deep && name == "Concat") return std::ranges::all_of(g[mover].inputs, part_does);
    if (!made) return true;
    const auto& in = g[made].inputs;
    const Tensor *from = constant(g, in[1]), *zero = constant(g, operand(in, 2));
    const DType type = g.type(in[0]).dtype;
    if (!from || from->size() != 1 || !is_8_bits(type) || (operand(in, 2) && (!zero || zero->size() != 1))) return true;
    const int64_t first = (type == DType::i8 ? INT8_MIN : 0) - (zero ? zero->get_int(0) : 0);
    for (int64_t i = first; i <= first + UINT8_MAX; ++i) {
      const float x = static_cast<float>(i) * static_cast<float>(from->get(0));
      if (std::nearbyint(x / scale) != std::nearbyint(x * (1 / scale))) return false;
    }
    return true;
  }
  /// x / scale is x * (1 / scale) where x comes of an integer product or of what was dequantised: what is near the
  /// middle of two integers may round to the other one. Not where all that x may be is known, and something would.
  std::optional<ValueId> by_reciprocal(Graph& into, const Node& n, std::span<const ValueId> in) {
    const Tensor* scale = constant(into, in[1]);
    if (!scale || scale->size() != 1 || scale->dtype() != DType::f32 || scale->get(0) == 1 ||
        !is_normal(scale->get(0)) || !is_normal(1 / scale->get(0)) || into.type(in[0]).dtype != DType::f32 ||
        !is_of_integers(into, in[0]) || !rounds_alike(into, in[0], static_cast<float>(scale->get(0))) ||
        !apply("quantize_by_reciprocal", into, n))
      return std::nullopt;
    const Maker make{into, n.provenance};
    const float reciprocal = 1 / static_cast<float>(scale->get(0));
    std::vector<ValueId> inputs(in.begin(), in.end());
    inputs[0] = times(make, in[0], reciprocal);
    inputs[1] = make.number(DType::f32, 1);
    if (operand(in, 2)) inputs[2] = make.reshape(in[2], {});
    return into.add(*n.op, std::move(inputs), n.attrs, n.provenance, n.version)[0];
  }
  /// The MaxPool that makes a value; null where it is made otherwise.
  static const Node* pool_of(const Graph& g, ValueId v) {
    const NodeId made = g[v].producer;
    return made && g[made].op->name == "MaxPool" ? &g[made] : nullptr;
  }
  /// Whether nothing but DequantizeLinear reads what `n` reads, and a pool that makes it alone what that reads.
  bool reads_alone(const Node& n) const {
    if (!uses_.has(n)) return true;
    const Node* pool = pool_of(g_, n.inputs[0]);
    return !kept_[n.inputs[0].index] && (!pool || uses_.once(*pool, 0));
  }
  /// What is quantised to i8 and dequantised again is u8 between, its zero points larger by 128: products take u8 rows.
  /// Not where i8 is read too, which would be made beside it.
  std::optional<ValueId> by_unsigned(Graph& into, const Node& n, std::span<const ValueId> in) {
    std::optional<Node> pool;
    if (const Node* found = pool_of(into, in[0])) pool = *found;
    const NodeId made = into[pool ? pool->inputs[0] : in[0]].producer;
    if (!made || into[made].op->name != "QuantizeLinear" || into.type(in[0]).dtype != DType::i8) return std::nullopt;
    if (!reads_alone(n)) return std::nullopt;
    const Node quantize = into[made];
    const Tensor *to = constant(into, operand(quantize.inputs, 2)), *from = constant(into, operand(in, 2));
    if (!to || !from || to->size() != 1 || from->size() != 1 || !apply("quantize_unsigned", into, n))
      return std::nullopt;
    const auto with_zero = [&](std::vector<ValueId> inputs, const Tensor& zero) {
      Tensor larger(DType::u8, {zero.dims().begin(), zero.dims().end()});
      larger.set_int(0, zero.get_int(0) + 128);
      inputs[2] = into.constant(std::move(larger));
      return inputs;
    };
    Attrs attrs = quantize.attrs;
    attrs.erase("output_dtype");
    ValueId x = into.add(*quantize.op, with_zero(quantize.inputs, *to), std::move(attrs), quantize.provenance,
                         quantize.version)[0];
    if (pool) x = into.add(*pool->op, {x}, pool->attrs, pool->provenance, pool->version, 1)[0];
    return into.add(*n.op, with_zero({x, in[1], in[2]}, *from), n.attrs, n.provenance, n.version)[0];
  }
  static bool is_of_integers(const Graph& g, ValueId v, int deep = 8) {
    constexpr std::string_view kPassed[] = {"Add",         "AveragePool", "Cast",      "Clip",    "GlobalAveragePool",
                                            "HardSigmoid", "HardSwish",   "LeakyRelu", "MaxPool", "Mul",
                                            "Relu",        "Reshape",     "Sigmoid",   "Sub"};
    const NodeId made = v && deep ? g[v].producer : NodeId{};
    if (!made) return false;
    const std::string_view name = g[made].op->name;
    if (name == "ConvInteger" || name == "MatMulInteger") return true;
    if (name == "DequantizeLinear") return !g[g[made].inputs[0]].constant;
    const auto is_one = [&](ValueId i) { return is_of_integers(g, i, deep - 1); };
    if (name == "Concat") return std::ranges::all_of(g[made].inputs, is_one);
    return std::ranges::find(kPassed, name) != std::end(kPassed) && std::ranges::any_of(g[made].inputs, is_one);
  }

  const Graph& g_;
  PassContext& context_;
  Uses uses_;               // of the graph that is replayed
  std::vector<bool> kept_;  // its values that others than DequantizeLinear read
};

}  // namespace

Graph integer_products(const Graph& g, PassContext& context) {
  IntegerProducts products(g, context);
  return replay(g, [&](Graph& into, const Node& n, std::span<const ValueId> in) { return products.rule(into, n, in); });
}

}  // namespace cameo
