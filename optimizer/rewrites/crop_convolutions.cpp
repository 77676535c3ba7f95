// crop_convolutions: a convolution whose result a Slice shortens at its ends computes no more than what is left: it
// pads less. Causal convolutions are exported so, padded on both sides and cut at the end; so are transposed ones,
// whose pads cut their result. The elements that are left are the same sums.
#include <algorithm>

#include "frontend/ir/operator.h"
#include "frontend/ops/window.h"
#include "optimizer/pipeline.h"
#include "optimizer/rewrites/uses.h"

namespace cameo {
namespace {

struct Margin {
  int64_t begin = 0, end = 0;  // elements that a Slice leaves out before and behind what it keeps of an axis
};

/// What the node that makes `sliced` leaves out of its first operand, an axis each; nothing where it does not keep a
/// contiguous part of each, or where only a run knows how much.
std::optional<std::vector<Margin>> margins_of(const Graph& g, ValueId sliced) {
  const Node& n = g[g[sliced].producer];
  const OutputExpr& out = std::get<Compute>(meaning_of(g, n)).outputs[0];
  if (out.value.op() != Op::Load) return std::nullopt;
  const Shape& whole = g.type(n.inputs[0]).shape;
  std::vector<Margin> margins;
  for (size_t axis = 0; axis < whole.size(); ++axis) {
    const Expr begin = simplify_index(out.value.index()[axis] - out.index[axis]);
    const Dim kept = g.type(sliced).shape[axis], left = whole[axis] - kept;
    if (!begin.is_const() || !left.is_static() || range_of(kept.extent()).low < 1) return std::nullopt;
    margins.push_back({begin.int_value(), left.value() - begin.int_value()});
  }
  return margins;
}

/// The `pads` with which `conv` computes no more than its result without `margins`; nothing if no such pads do.
std::optional<std::vector<int64_t>> cropped_pads(const Graph& g, const Node& conv, const std::vector<Margin>& margins) {
  const NodeView view(g, conv);
  if (view.attr_string("auto_pad") != "NOTSET" || margins[0].begin || margins[0].end || margins[1].begin ||
      margins[1].end)
    return std::nullopt;
  const size_t axes = margins.size() - 2;
  const std::vector<int64_t> strides = ops::per_axis(view, "strides", axes, 1, 1);
  std::vector<int64_t> pads = ops::per_axis(view, "pads", 2 * axes, 0, 0);
  for (size_t axis = 0; axis < axes; ++axis) {
    const int64_t by = conv.op->name == "Conv" ? -strides[axis] : 1;  // pads cut the result of a transposed one
    pads[axis] += by * margins[2 + axis].begin;
    pads[axes + axis] += by * margins[2 + axis].end;
  }
  const bool are_pads = std::ranges::all_of(pads, [](int64_t pad) { return pad >= 0 && pad <= kMaxStep; });
  return are_pads ? std::optional(pads) : std::nullopt;
}

std::optional<ValueId> crop_producer(Graph& into, const Node& slice, std::span<const ValueId> in,
                                     PassContext& context) {
  const NodeId made = into[in[0]].producer;
  if (!made || (into[made].op->name != "Conv" && into[made].op->name != "ConvTranspose")) return std::nullopt;
  const Node conv = into[made];  // by value: nodes are added
  if (conv.attrs.contains("output_shape")) return std::nullopt;
  const ValueId sliced = into.add(*slice.op, {in.begin(), in.end()}, slice.attrs, slice.provenance, slice.version)[0];
  const auto margins = into[sliced].producer ? margins_of(into, sliced) : std::nullopt;
  const auto pads = margins ? cropped_pads(into, conv, *margins) : std::nullopt;
  if (!pads || !context.apply("crop_convolution", into, slice.provenance)) return sliced;
  Attrs attrs = conv.attrs;
  attrs["pads"] = *pads;
  return into.add(*conv.op, conv.inputs, std::move(attrs), merge(conv.provenance, slice.provenance), conv.version)[0];
}

}  // namespace

Graph crop_convolutions(const Graph& g, PassContext& context) {
  const Uses uses(g);
  return replay(g, [&](Graph& into, const Node& n, std::span<const ValueId> in) -> std::optional<std::vector<ValueId>> {
    if (n.op->name != "Slice" || !uses.once(n, 0)) return std::nullopt;
    const auto cropped = crop_producer(into, n, in, context);
    return cropped ? std::optional(std::vector<ValueId>{*cropped}) : std::nullopt;
  });
}

}  // namespace cameo
