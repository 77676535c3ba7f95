// Fusion is substitution: a Load of a value made inside of the cluster becomes the producer's Expr at the Load's index.
// Index expressions are simplified as they form, so that reshapes and transposes vanish into the index.
#include <algorithm>
#include <map>
#include <optional>

#include "frontend/ir/check.h"
#include "optimizer/clusters/clusters.h"

namespace cameo {
namespace {

Expr bounds(Expr i, Expr extent) {
  return logical_and(simplify_index(le(integer(0), i)), simplify_index(lt(i, extent)));
}

/// The input index that a View reads for an output index: through the row-major element number.
std::vector<Expr> view_index(const Shape& in, const Shape& out, std::span<const Expr> at) {
  Expr linear = integer(0);
  for (size_t d = 0; d < out.size(); ++d) linear = linear * out[d].extent() + at[d];
  std::vector<Expr> from(in.size());
  Expr stride = integer(1);
  for (size_t d = in.size(); d-- > 0;) {
    Expr q = floor_div(linear, stride);
    from[d] = simplify_index(d == 0 ? q : mod(q, in[d].extent()));
    stride = stride * in[d].extent();
  }
  return from;
}

class Fuser {
 public:
  Fuser(const Graph& g, const Cluster& c) : g_(g) {
    for (NodeId n : c.nodes) inside_[n] = true;
  }
  /// The meaning of a value at fresh index variables.
  OutputExpr output(ValueId v) {
    OutputExpr out{MeaningView::index_of(g_.type(v).shape), {}};
    out.value = at(v, out.index);
    return out;
  }

 private:
  /// The element of a value of the cluster, made once for each index that it is read at.
  Expr at(ValueId v, std::span<const Expr> index) {
    std::vector<uint32_t> key{v.index};
    for (Expr i : index) key.push_back(i.id());
    if (auto it = made_.find(key); it != made_.end()) return it->second;
    return made_[std::move(key)] = make_at(v, index);
  }

  Expr make_at(ValueId v, std::span<const Expr> index) {
    NodeId n = g_[v].producer;
    const Node& node = g_[n];
    if (auto* view = std::get_if<View>(&meaning_of(g_, node))) {
      ValueId from = node.inputs[view->input];
      std::vector<Expr> i = view_index(g_.type(from).shape, g_.type(v).shape, index);
      return read(from, i, zero(g_.type(v).dtype), false);
    }
    auto* compute = std::get_if<Compute>(&meaning_of(g_, node));
    CAMEO_CHECK(compute, "a Compute or a View inside of a fused cluster");
    size_t o = std::find(node.outputs.begin(), node.outputs.end(), v) - node.outputs.begin();
    const OutputExpr& out = compute->outputs[o];
    // its Loads are bound before its variables: `index` may itself hold Loads, whose operands are numbers of values
    // already
    std::vector<Expr> vars(out.index.begin(), out.index.end());
    auto here = [&](Expr e) { return simplify_index(substitute(e, vars, index)); };
    return here(rewrite(out.value, [&](Expr e) -> Expr {
      if (e.op() != Op::Load) return e;
      std::vector<Expr> from;
      for (Expr i : e.index()) from.push_back(here(i));
      return read(node.inputs[e.operand()], from, e.outside(), e.checked());
    }));
  }

  /// A Load of `v`, or what stands for it: a constant, or its producer's Expr when that is inside and the index is in
  /// range.
  Expr read(ValueId v, std::span<const Expr> index, Expr outside, bool checked) {
    const Value& value = g_[v];
    const bool is_text = value.type.dtype == DType::str;  // its number is the artifact's: weights alone know it
    if (value.constant && value.constant->size() == 1 && !is_text && stays_within(index, value.type.shape)) {
      const Tensor& t = *value.constant;
      return is_float(t.dtype()) ? constant(t.dtype(), t.get(0)) : integer(t.get_int(0), t.dtype());
    }
    if (value.producer && inside_.count(value.producer) && !checked) {
      Expr guard = boolean(true);
      for (size_t d = 0; d < index.size(); ++d)
        guard = logical_and(guard, bounds(index[d], value.type.shape[d].extent()));
      if (auto narrow = widened(value, index, outside)) return *narrow;
      return select(guard, at(v, index), outside);
    }
    // what no index can reach is nothing to read: a sum is recognised by Loads that hold none
    if (!outside.is_const() && !checked && stays_within(index, value.type.shape)) outside = zero(value.type.dtype);
    return load(v.index, value.type.dtype, index, outside, checked);
  }
  /// Of a cast of 16-bit floats the zeros outside are those of what it reads: a Load of that says it all.
  std::optional<Expr> widened(const Value& value, std::span<const Expr> index, Expr outside) {
    const Node& node = g_[value.producer];
    auto* compute = std::get_if<Compute>(&meaning_of(g_, node));
    if (!compute || !outside.is_const() || outside.type() != DType::f32 || outside.float_value() != 0)
      return std::nullopt;
    const Expr cast_of = compute->outputs[0].value;
    if (cast_of.op() != Op::Cast || cast_of.arg(0).op() != Op::Load || byte_size(cast_of.arg(0).type()) != 2 ||
        !is_float(cast_of.arg(0).type()))
      return std::nullopt;
    return cast(read(node.inputs[0], index, zero(cast_of.arg(0).type()), cast_of.arg(0).checked()), DType::f32);
  }

  const Graph& g_;
  std::map<NodeId, bool> inside_;
  std::map<std::vector<uint32_t>, Expr> made_;  // by value and index
};

}  // namespace

bool stays_within(std::span<const Expr> index, const Shape& shape) {
  for (size_t d = 0; d < index.size(); ++d)
    if (!bounds(index[d], shape[d].extent()).is_const(1)) return false;
  return true;
}

Expr on_values(const Node& n, Expr root) {
  return rewrite(root, [&](Expr e) {
    return e.op() == Op::Load ? load(n.inputs[e.operand()].index, e.type(), e.index(), e.outside(), e.checked()) : e;
  });
}

std::vector<OutputExpr> fuse(const Graph& g, const Cluster& c) {
  Fuser fuser(g, c);
  std::vector<OutputExpr> outs;
  for (ValueId v : c.outputs) {
    outs.push_back(fuser.output(v));
    outs.back().value = simplify_activations(without_round_trips(trim_folds(g, outs.back().value)));
  }
  return outs;
}

}  // namespace cameo
