// See assign_orders.h.
#include "optimizer/layout/assign_orders.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "optimizer/choose/claim.h"
#include "optimizer/layout/sum_of_products.h"
#include "optimizer/work.h"

namespace cameo {
namespace {

using Order = std::vector<int>;

Order identity(int rank) {
  Order o(static_cast<size_t>(rank));
  std::iota(o.begin(), o.end(), 0);
  return o;
}

bool reads(Expr e, Expr v) { return depends_on(e, v); }

/// The axes of the output that an index reads, the one with the longest stride first; nullopt where it has no strides.
std::optional<Order> axes_read(const OutputExpr& out, Expr index) {
  Order axes;
  for (size_t a = 0; a < out.index.size(); ++a)
    if (reads(index, out.index[a])) axes.push_back(static_cast<int>(a));
  if (axes.size() < 2) return axes;
  Affine strides = affine(index);
  auto stride = [&](int a) { return strides.stride_of(out.index[static_cast<size_t>(a)]).upper(); };
  if (strides.terms.size() != axes.size() || std::ranges::count(axes, 0, stride)) return std::nullopt;
  std::ranges::stable_sort(axes, std::greater(), stride);
  return axes;
}

/// The order of the output in which a Load of an operand in `from` order walks memory as before, as far as it can: an
/// axis that several of the operand's have become stands where the innermost of them does.
std::optional<Order> carried_order(const OutputExpr& out, Expr load, const Order& from) {
  Order order;
  for (int d : from) {
    auto axes = axes_read(out, load.index()[static_cast<size_t>(d)]);
    if (!axes) return std::nullopt;
    for (int axis : *axes) order = with_last(std::move(order), axis);
  }
  if (order.size() < 2) return std::nullopt;
  for (size_t a = 0; a < out.index.size(); ++a)  // axes that the operand lacks keep their place at the front
    if (std::ranges::find(order, static_cast<int>(a)) == order.end()) order.insert(order.begin(), static_cast<int>(a));
  return order;
}

/// Where a fold is shared by the elements of a row, the axes along the row come last, so that it is computed once for
/// each.
std::optional<Order> row_order(const OutputExpr& out) {
  std::vector<Expr> roots{out.value};
  std::vector<bool> shared(out.index.size(), false);
  visit(roots, [&](Expr e) {
    if (e.op() != Op::Fold) return;
    for (size_t a = 0; a < out.index.size(); ++a)
      shared[a] = shared[a] || (!out.index[a].extent().is_const(1) && !reads(e, out.index[a]));
  });
  Order front, back;
  for (size_t a = 0; a < shared.size(); ++a) (shared[a] ? back : front).push_back(static_cast<int>(a));
  if (back.empty()) return std::nullopt;
  front.insert(front.end(), back.begin(), back.end());
  return front;
}

class Assigner {
 public:
  Assigner(const Graph& g, const std::vector<FusedCluster>& clusters, bool has_vectors)
      : g_(g), has_vectors_(has_vectors), readers_(g.values().size()) {
    for (const FusedCluster& c : clusters)
      for (NodeId n : c.cluster.nodes)
        for (ValueId v : g[n].inputs)
          if (v && (readers_[v.index].empty() || readers_[v.index].back() != &c)) readers_[v.index].push_back(&c);
    for (const Port& p : g.outputs()) readers_[p.value.index].push_back(nullptr);
    for (const FusedCluster& c : clusters) {
      for (size_t i = 0; i < c.outputs.size(); ++i)
        if (g.type(c.cluster.outputs[i]).rank() >= 2) assign(c.cluster.outputs[i], c.outputs[i]);
      if (c.outputs.empty() && is_claimed(g[c.cluster.nodes[0]])) assign_rows(g[c.cluster.nodes[0]]);
    }
  }
  Order order_of_value(ValueId v) const {
    auto it = orders_.find(v);
    return it == orders_.end() ? identity(g_.type(v).rank()) : it->second;
  }

 private:
  void assign(ValueId v, const OutputExpr& out) {
    if (auto product = match_contract(g_, out); product && !is_thin(v, out, *product))
      orders_[v] = order_for_copies(v, product->n_axis);
    else if (auto axis = axis_beside_lookups(v, out))
      orders_[v] = with_last(identity(g_.type(v).rank()), *axis);
    else if (auto rows = row_order(out))
      orders_[v] = *rows;
    else if (only_leaves(v))
      return;  // it is made as it leaves the graph
    else if (leaves_larger(v))
      orders_[v] = order_of_reader(v);
    else if (auto order = order_of_largest(out))
      orders_[v] = *order;
  }
  /// Whether a convolution makes so few channels, of so few terms or by so large a window (taps for each channel), that
  /// a row of the map fills vectors better than they do.
  bool is_thin(ValueId v, const OutputExpr& out, const ContractMatch& product) const {
    constexpr int64_t kFewChannels = 4, kFewTerms = 64, kLargeWindow = 20, kWideRow = 32;
    const Shape& shape = g_.type(v).shape;
    const int last = static_cast<int>(shape.size()) - 1;
    if (!has_vectors_ || shape.size() < 3 || product.n_axis == last || product.is_integer()) return false;
    int64_t terms = 1;
    for (Expr f : product.folds) terms *= Dim(f.extent()).estimate();
    const int64_t channels = shape[product.n_axis].estimate();
    const bool is_large = is_read_again(g_, ValueId{product.a.operand()}, out.value, points_of(v),
                                        static_cast<double>(kLargeWindow * channels * channels));
    return channels <= kFewChannels && (terms <= kFewTerms || is_large) && shape[last].estimate() >= kWideRow &&
           reads_axis(product.a, out.index[last]);
  }
  /// Where elements are looked up along an operand's innermost axis, at places that data say, and each of them several
  /// times (GridSample): an axis along which vectors of them stand at one place, if there is one. It is the operand's
  /// innermost then, too (`Nest::match`).
  std::optional<int> axis_beside_lookups(ValueId v, const OutputExpr& out) const {
    constexpr int64_t kVector = 16;
    std::optional<int> found;
    if (!has_vectors_) return found;
    visit(std::vector{out.value}, [&](Expr load) {
      if (load.op() != Op::Load || load.checked() || load.index().empty()) return;
      const ValueId from{load.operand()};
      if (!has_load(load.index()[static_cast<size_t>(order_of_value(from).back())])) return;
      const auto stands_at_one_place = [&](Expr axis) {
        return Dim(axis.extent()).estimate() >= kVector &&
               std::ranges::find(load.index(), axis) != load.index().end() &&
               std::ranges::none_of(load.index(), [&](Expr i) { return i != axis && reads(i, axis); });
      };
      const auto axis = std::ranges::find_if(out.index, stands_at_one_place);
      if (axis != out.index.end() && is_read_again(g_, from, out.value, points_of(v)))
        found = static_cast<int>(axis - out.index.begin());
    });
    return found;
  }
  double points_of(ValueId v) const { return static_cast<double>(product(g_.type(v).shape).estimate()); }
  bool only_leaves(ValueId v) const {
    return std::ranges::count(readers_[v.index], nullptr) == std::ranges::ssize(readers_[v.index]);
  }
  /// Whether all that is made of `v` has more elements and only leaves the graph (an interpolation's rows): fewer are
  /// brought into the order of these here.
  bool leaves_larger(ValueId v) const {
    const auto is_larger = [&](const FusedCluster* reader) {
      return reader && std::ranges::all_of(reader->cluster.outputs, [&](ValueId made) {
               return only_leaves(made) &&
                      product(g_.type(made).shape).estimate() > product(g_.type(v).shape).estimate();
             });
    };
    return std::ranges::all_of(readers_[v.index], is_larger);
  }
  /// The order in which the first reader of `v` walks it while it walks its own output in order, if it walks along all
  /// axes of `v`.
  Order order_of_reader(ValueId v) const {
    const Shape& shape = g_.type(v).shape;
    Order order = identity(g_.type(v).rank());
    for (const OutputExpr& out : readers_[v.index].front()->outputs)
      visit(std::vector{out.value}, [&](Expr e) {
        if (e.op() != Op::Load || e.operand() != v.index) return;
        const auto moved_by = [&](int axis) {  // the innermost axis of the output that it moves with, and 1; 0: none
          size_t a = out.index.size();
          while (a > 0 && !reads(e.index()[static_cast<size_t>(axis)], out.index[a - 1])) --a;
          return a;
        };
        const auto is_walked = [&](int axis) {
          return shape[static_cast<size_t>(axis)].is_static(1) || moved_by(axis) > 0;
        };
        if (std::ranges::all_of(order, is_walked)) std::ranges::stable_sort(order, {}, moved_by);
      });
    return order;
  }
  /// What a family computes whole it gives in rows, in whatever order its readers like them.
  void assign_rows(const Node& claimed) {
    for (ValueId v : claimed.outputs)
      if (v && g_.type(v).rank() >= 2) orders_[v] = order_for_copies(v, g_.type(v).rank() - 1);
  }
  std::optional<Order> order_of_largest(const OutputExpr& out) const {
    std::optional<Order> best;
    int64_t largest = 0;
    std::vector<Expr> roots{out.value};
    visit(roots, [&](Expr e) {
      if (e.op() != Op::Load || g_[ValueId{e.operand()}].constant) return;
      ValueId from{e.operand()};
      const int64_t size = product(g_.type(from).shape).estimate();
      auto order = carried_order(out, e, order_of_value(from));
      if (order && size > largest) {
        best = order;
        largest = size;
      }
    });
    return best;
  }

  /// The one reader of `v`, if it only moves all of it; else null.
  const OutputExpr* only_copy(ValueId v) const {
    if (readers_[v.index].size() != 1 || !readers_[v.index][0] || readers_[v.index][0]->outputs.size() != 1)
      return nullptr;
    const OutputExpr& out = readers_[v.index][0]->outputs[0];
    return out.value.op() == Op::Load && out.value.operand() == v.index && !out.value.checked() ? &out : nullptr;
  }
  ValueId copied_to(ValueId v) const { return readers_[v.index][0]->cluster.outputs[0]; }

  /// The order with `last` innermost; of the other axes such that the copies behind `v`, if nothing else reads it,
  /// leave everything where it is and end row-major: heads of an attention are joined where they are made.
  Order order_for_copies(ValueId v, int last) const {
    constexpr size_t kMostPermuted = 6;
    const Shape& dims = g_.type(v).shape;
    Order outer = identity(static_cast<int>(dims.size()));
    std::erase(outer, last);
    const Order plain = with_last(outer, last);
    const OutputExpr* copy = only_copy(v);
    if (!copy || dims.size() > kMostPermuted) return plain;
    OutputExpr all = *copy;  // what the last copy makes, read off `v`
    ValueId end = copied_to(v);
    for (; (copy = only_copy(end)); end = copied_to(end))
      all = {copy->index, simplify_index(substitute(all.value, all.index, copy->value.index()))};
    if (product(g_.type(end).shape) != product(g_.type(v).shape)) return plain;
    const Expr to = physical(row_major(g_.type(end).shape), all.index);
    do {
      Order order = with_last(outer, last);
      if (simplify_index(physical(ordered(dims, order), all.value.index()) - to).is_const(0)) return order;
    } while (std::ranges::next_permutation(outer).found);
    return plain;
  }

  const Graph& g_;
  bool has_vectors_;
  std::vector<std::vector<const FusedCluster*>> readers_;  // by value; null: an output of the graph
  std::map<ValueId, Order> orders_;
};

}  // namespace

std::vector<Layout> assign_orders(const Graph& g, const std::vector<FusedCluster>& clusters, const Target& target) {
  const Assigner assigner(g, clusters, !target.is_gpu());
  std::vector<Layout> layouts(g.values().size());
  for (uint32_t i = 0; i < g.values().size(); ++i) {
    const Type& t = g.type(ValueId{i});
    if (t.kind == Kind::Error) continue;
    layouts[i] = ordered(t.shape, assigner.order_of_value(ValueId{i}));
  }
  return layouts;
}

}  // namespace cameo
