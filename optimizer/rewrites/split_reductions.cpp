// split_reductions: a reduction of a reduction over one of its axes, or over parts of neighbouring ones, which threads
// share, instead of one over all of them, which they cannot share where its results are few. And over the places of a
// large map that a convolution made: threads made it by rows, channels last, so that each then reads what it has in its
// own cache, which they do not where they share the channels of a single fold.
#include <algorithm>
#include <map>
#include <utility>

#include "frontend/ir/operator.h"
#include "frontend/ops/reduce.h"
#include "optimizer/pipeline.h"

namespace cameo {
namespace {

/// The reduction f over some axes for which f over all of them is `op` of it; null: there is none.
const Operator* inner_of(const Operator& op) {
  static const std::map<std::string_view, std::string_view> inner = {
      {"GlobalAveragePool", "ReduceMean"},
      {"GlobalMaxPool", "ReduceMax"},
      {"ReduceMean", "ReduceMean"},
      {"ReduceMax", "ReduceMax"},
      {"ReduceMin", "ReduceMin"},
      {"ReduceSum", "ReduceSum"},
      {"ReduceProd", "ReduceProd"},
      {"ReduceL1", "ReduceL1"},
      {"ReduceL2", "ReduceL2"},
      {"ReduceLogSumExp", "ReduceLogSumExp"},
  };
  const auto it = inner.find(op.name);
  return it == inner.end() ? nullptr : &get_operator(it->second);
}

/// A reduction of f32, as its input's axes have it.
struct Reduction {
  Shape shape;
  std::vector<int> axes;       // that are folded and have more than one element
  int64_t results = 1;         // likely
  bool over_places = true;     // all axes behind the channels, and no other
  bool of_neighbours = false;  // what stands between the first and the last of them is folded, too
};

/// nullopt: which axes it folds is not known.
std::optional<Reduction> reduction_of(const Graph& g, const Node& n) {
  const Shape& shape = g.type(n.inputs[0]).shape;
  const bool pool = !n.op->name.starts_with("Reduce");
  const std::vector<Expr> folded =
      pool ? std::vector<Expr>(shape.size(), integer(1)) : ops::reduce::folded_axes(NodeView(g, n));
  Reduction r{shape, {}};
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (!folded[axis].is_const()) return std::nullopt;
    const bool is_folded = folded[axis].is_const(1) && (!pool || axis >= 2);
    r.over_places &= is_folded == (axis >= 2);
    if (!is_folded)
      r.results *= shape[axis].estimate();
    else if (!shape[axis].is_static(1))
      r.axes.push_back(static_cast<int>(axis));
  }
  r.over_places &= shape.size() >= 4;
  if (!r.axes.empty())
    r.of_neighbours = std::all_of(folded.begin() + r.axes.front(), folded.begin() + r.axes.back(),
                                  [](Expr e) { return e.is_const(1); });
  return r;
}

/// Whether a convolution made a value, with nothing behind it that computes other elements.
bool is_of_convolution(const Graph& g, ValueId v) {
  constexpr int kMostNodes = 16;
  const Shape& shape = g.type(v).shape;
  for (int i = 0; i < kMostNodes && g[v].producer; ++i) {
    const Node& n = g[g[v].producer];
    if (n.op->name == "Conv") return true;
    const auto same = std::ranges::find_if(n.inputs, [&](ValueId x) { return x && g.type(x).shape == shape; });
    if (same == n.inputs.end()) return false;
    v = *same;
  }
  return false;
}

/// Longer to read than what two threads share.
bool is_large(const Type& x, const Target& target) {
  const double bytes = static_cast<double>(product(x.shape).estimate() * byte_size(x.dtype));
  return target.seconds_to_move(bytes) > target.machine.barrier / 2;
}

constexpr int64_t kFewResults = 16;  // of which threads cannot have as much each

/// The input with the neighbours that are folded as one axis, in parts that threads can share: the parts stand in place
/// of the last of them, what each part has on an axis behind it. Null where no number of parts divides it.
ValueId in_parts(Graph& into, ValueId x, const Reduction& r, const Provenance& provenance) {
  constexpr int64_t kMostParts = 64;
  if (!is_static(r.shape)) return {};
  std::vector<int64_t> dims;
  for (const Dim& d : r.shape) dims.push_back(d.value());
  int64_t elements = 1;
  const int last = r.axes.back();
  for (int axis = r.axes.front(); axis <= last; ++axis) elements *= std::exchange(dims[static_cast<size_t>(axis)], 1);
  int64_t parts = std::min(kMostParts, elements);
  while (elements % parts) --parts;
  if (parts < kFewResults) return {};
  dims[static_cast<size_t>(last)] = parts;
  dims.insert(dims.begin() + last + 1, elements / parts);
  const ValueId shape = into.constant(Tensor::i64({static_cast<int64_t>(dims.size())}, dims));
  return into.add(get_operator("Reshape"), {x, shape}, {}, provenance)[0];
}

std::optional<ValueId> split(Graph& into, const Node& n, std::span<const ValueId> in, PassContext& context) {
  const Operator* inner = inner_of(*n.op);
  if (!inner) return std::nullopt;
  Node outer = n;
  outer.inputs.assign(in.begin(), in.end());
  const Type x = into.type(in[0]);
  if (x.dtype != DType::f32 || !is_large(x, context.target)) return std::nullopt;
  const std::optional<Reduction> r = reduction_of(into, outer);
  if (!r || r->axes.empty()) return std::nullopt;
  const bool of_convolution = r->axes.size() > 1 && is_of_convolution(into, in[0]);
  if (!(of_convolution && r->over_places) && r->results >= kFewResults) return std::nullopt;
  ValueId parts;  // what a convolution made stands channels last, where axes that are neighbours here are none
  if (!of_convolution && r->of_neighbours) parts = in_parts(into, in[0], *r, n.provenance);
  if (!parts && r->axes.size() == 1) return std::nullopt;
  if (!context.apply("split_reduction", into, n.provenance)) return std::nullopt;
  const int64_t inner_axis = r->axes.back() + (parts ? 1 : 0);
  const ValueId axes = into.constant(Tensor::i64({1}, std::vector<int64_t>{inner_axis}));
  const Attrs attrs{{"keepdims", int64_t{!parts}}};
  outer.inputs[0] = into.add(*inner, {parts ? parts : in[0], axes}, attrs, n.provenance)[0];
  return into.add(*n.op, outer.inputs, n.attrs, n.provenance, n.version)[0];
}

}  // namespace

Graph split_reductions(const Graph& g, PassContext& context) {
  if (context.target.is_gpu()) return g;
  return replay(g, [&](Graph& into, const Node& n, std::span<const ValueId> in) -> std::optional<std::vector<ValueId>> {
    const auto y = split(into, n, in, context);
    return y ? std::optional(std::vector<ValueId>{*y}) : std::nullopt;
  });
}

}  // namespace cameo
