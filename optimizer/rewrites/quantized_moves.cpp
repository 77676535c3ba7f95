// quantized_moves: what only moves or compares elements does so before they are dequantised and not behind: a quarter
// of the bytes, and products still find integers. What is quantised by the scale and zero point with which it was
// dequantised is what it was. What is concatenated and then quantised is quantised before that, where an operand was
// dequantised: it need not become floats in memory. Weights whose scales go along an axis are transposed before, too.
#include <algorithm>

#include "frontend/ir/operator.h"
#include "optimizer/pipeline.h"
#include "optimizer/rewrites/operands.h"
#include "optimizer/rewrites/uses.h"

namespace cameo {
namespace {

/// How many of its first operands an operator moves elements of; all: -1.
int moved_operands(const Graph& g, const Node& n) {
  const std::string_view name = n.op->name;
  constexpr std::string_view kOfFirst[] = {"DepthToSpace", "Expand", "Flatten", "Gather", "Reshape",   "Slice",
                                           "SpaceToDepth", "Split",  "Squeeze", "Tile",   "Transpose", "Unsqueeze"};
  if (name == "Concat") return -1;
  if (name == "MaxPool") {  // of nothing but padding it is the least number of the type
    const NodeView view(g, n);
    const auto is_one = [](int64_t dilation) { return dilation == 1; };
    return !view.has_attr("dilations") || std::ranges::all_of(view.attr_ints("dilations"), is_one) ? 1 : 0;
  }
  if (name == "Resize") {  // a crop may be of what is outside
    const NodeView view(g, n);
    const bool moves = view.attr_string("mode") == "nearest" &&
                       view.attr_string("coordinate_transformation_mode") != "tf_crop_and_resize";
    return moves ? 1 : 0;
  }
  return std::ranges::find(kOfFirst, name) != std::end(kOfFirst) ? 1 : 0;
}

/// A scale at which (q - zero) * scale / scale rounds to q - zero, for 8 bits.
bool is_ordinary(double scale) { return scale > 1e-30 && scale < 1e30; }

bool equal_numbers(const Tensor* a, const Tensor* b) {
  const auto number = [](const Tensor* t) { return t ? t->get(0) : 0; };
  return number(a) == number(b);
}

/// Known parameters, one of each for a whole tensor of 8 bits, whatever its rank; no zero: null, which is 0.
struct Parameters {
  const Tensor *scale, *zero;
  DType type;  // of the integers
  bool operator==(const Parameters& o) const {
    return type == o.type && equal_numbers(scale, o.scale) && equal_numbers(zero, o.zero);
  }
};
std::optional<Parameters> parameters_of(const Graph& g, DType type, ValueId scale, ValueId zero) {
  const Parameters p{constant(g, scale), constant(g, zero), type};
  const auto is_one = [](const Tensor* t) { return t && t->size() == 1 && t->rank() <= 1; };
  const bool known =
      is_one(p.scale) && p.scale->dtype() == DType::f32 && is_ordinary(p.scale->get(0)) && (!zero || is_one(p.zero));
  return known && is_8_bits(type) ? std::optional(p) : std::nullopt;
}

/// The node that dequantises `v`, and by what; nothing where it is made otherwise.
struct Dequantized {
  NodeId node;
  Parameters by;
};
std::optional<Dequantized> dequantized(const Graph& g, ValueId v) {
  const NodeId made = dequantizer_of(g, v);
  if (!made) return std::nullopt;
  const auto& in = g[made].inputs;
  const auto by = parameters_of(g, g.type(in[0]).dtype, in[1], operand(in, 2));
  return by ? std::optional(Dequantized{made, *by}) : std::nullopt;
}

std::vector<ValueId> before_dequantizing(Graph& into, const Node& n, std::span<const ValueId> in,
                                         PassContext& context) {
  const int count = moved_operands(into, n);
  if (count == 0 || (n.outputs.size() != 1 && n.op->name != "Split")) return {};
  const size_t moved = count < 0 ? in.size() : static_cast<size_t>(count);
  const auto first = dequantized(into, in[0]);
  if (!first) return {};
  std::vector<ValueId> inputs(in.begin(), in.end());
  for (size_t i = 0; i < moved; ++i) {
    const auto each = dequantized(into, in[i]);
    if (!each || !(each->by == first->by)) return {};
    inputs[i] = into[each->node].inputs[0];
  }
  if (!context.apply("move_quantized", into, n.provenance)) return {};
  const Node dequantize = into[first->node];  // by value: nodes are added
  // versions before 12 of MaxPool have no integers, and the same attributes
  const int version = n.op->name == "MaxPool" ? std::max(n.version, 12) : n.version;
  std::vector<ValueId> outputs =
      into.add(*n.op, std::move(inputs), n.attrs, n.provenance, version, static_cast<int>(n.outputs.size()));
  Attrs attrs = dequantize.attrs;
  attrs.erase("axis");  // of one scale, which the new rank need not have
  for (ValueId& y : outputs) {
    std::vector<ValueId> parameters = dequantize.inputs;
    parameters[0] = y;
    y = into.add(*dequantize.op, std::move(parameters), attrs, dequantize.provenance, dequantize.version)[0];
  }
  return outputs;
}

/// Transpose(DequantizeLinear(w)) of known weights with several scales, which go along one of their axes or, of blocks,
/// have an axis for each of theirs.
std::optional<ValueId> before_transposing(Graph& into, const Node& n, std::span<const ValueId> in,
                                          PassContext& context) {
  const NodeId made = n.op->name == "Transpose" ? dequantizer_of(into, in[0]) : NodeId{};
  if (!made || !constant(into, into[made].inputs[0]) || product(into.type(into[made].inputs[1]).shape).is_static(1) ||
      !context.apply("transpose_quantized", into, n.provenance))
    return std::nullopt;
  Node dequantize = into[made];  // by value: nodes are added
  const int rank = into.type(in[0]).rank();
  const NodeView view(into, n);
  std::vector<int64_t> from;
  for (int i = rank; i-- > 0;) from.push_back(i);
  if (view.has_attr("perm")) from = view.attr_ints("perm");
  const int axis = NodeView::axis(NodeView(into, dequantize).attr_int("axis"), rank);
  for (ValueId& v : dequantize.inputs)
    if (v && into.type(v).rank() == rank) v = into.add(*n.op, {v}, n.attrs, n.provenance, n.version)[0];
  dequantize.attrs["axis"] = static_cast<int64_t>(std::ranges::find(from, axis) - from.begin());
  return into.add(*dequantize.op, dequantize.inputs, dequantize.attrs, dequantize.provenance, dequantize.version)[0];
}

/// QuantizeLinear(x) by the numbers that x was dequantised by, if it was; null where it is computed.
ValueId as_it_was(Graph& into, const Node& n, std::span<const ValueId> in, PassContext& context) {
  const auto before = dequantized(into, in[0]);
  if (!before) return {};
  const ValueId computed = into.add(*n.op, {in.begin(), in.end()}, n.attrs, n.provenance, n.version)[0];
  const auto now = parameters_of(into, into.type(computed).dtype, in[1], operand(in, 2));
  if (!now || !(before->by == *now) || !context.apply("keep_quantized", into, n.provenance)) return computed;
  return into[before->node].inputs[0];
}

/// QuantizeLinear(Concat(..)) as the Concat of what is quantised. `once`: nothing else reads the Concat.
std::optional<ValueId> before_joining(Graph& into, const Node& n, std::span<const ValueId> in, bool once,
                                      PassContext& context) {
  const NodeId made = into[in[0]].producer;
  if (!once || !made || into[made].op->name != "Concat" || into.type(in[1]).rank() > 0) return std::nullopt;
  const Node join = into[made];  // by value: nodes are added
  if (std::ranges::none_of(join.inputs, [&](ValueId v) { return dequantized(into, v).has_value(); }) ||
      !context.apply("quantize_operands", into, n.provenance))
    return std::nullopt;
  std::vector<ValueId> quantized;
  for (ValueId v : join.inputs) {
    std::vector<ValueId> inputs(in.begin(), in.end());
    inputs[0] = v;
    ValueId q = as_it_was(into, n, inputs, context);
    if (!q) q = into.add(*n.op, std::move(inputs), n.attrs, n.provenance, n.version)[0];
    quantized.push_back(q);
  }
  return into.add(*join.op, std::move(quantized), join.attrs, join.provenance, join.version)[0];
}

}  // namespace

Graph quantized_moves(const Graph& g, PassContext& context) {
  const Uses uses(g);
  return replay(g, [&](Graph& into, const Node& n, std::span<const ValueId> in) -> std::optional<std::vector<ValueId>> {
    if (n.op->name == "QuantizeLinear") {
      if (const ValueId q = as_it_was(into, n, in, context)) return std::vector{q};
      const auto q = before_joining(into, n, in, uses.once(n, 0), context);
      return q ? std::optional(std::vector{*q}) : std::nullopt;
    }
    if (const auto transposed = before_transposing(into, n, in, context)) return std::vector{*transposed};
    auto moved = before_dequantizing(into, n, in, context);
    return moved.empty() ? std::nullopt : std::optional(std::move(moved));
  });
}

}  // namespace cameo
