// See operand.h.
#include "optimizer/layout/operand.h"

#include <algorithm>

#include "runtime/kernels/depthwise_shape.h"

namespace cameo {

Operand plain_operand(const Graph& g, ValueId v) { return in_order(g, v, row_major(g.type(v).shape).order); }
Operand in_order(const Graph& g, ValueId v, std::vector<int> order) {
  const std::vector<int64_t> none(order.size());
  return {v, ordered(g.type(v).shape, order), std::move(order), none, none};
}
std::vector<int> with_last(std::vector<int> order, int axis) {
  std::erase(order, axis);
  order.push_back(axis);
  return order;
}
Operand as_made(const Layouts& layouts, ValueId v) { return {v, layouts[v.index]}; }
Operand in_panels(const Layouts& layouts, ValueId v, const Packing& packing) {
  Operand o = as_made(layouts, v);
  o.packing = packing;
  return o;
}

std::vector<int> moving_order(const Shape& shape, std::vector<int> order) {
  std::erase_if(order, [&](int axis) { return shape[static_cast<size_t>(axis)].is_static(1); });
  return order;
}

Expr is_within(Expr index, Expr extent) {
  return logical_and(simplify_index(le(integer(0), index)), simplify_index(lt(index, extent)));
}
Expr guard_of(const Shape& shape, std::span<const Expr> index) {
  Expr guard = boolean(true);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d].is_static(0)) return boolean(false);
    guard = logical_and(guard, is_within(index[d], shape[d].extent()));
  }
  return guard;
}

Operand granted(const Graph& g, const Layouts& layouts, const Operand& wish) {
  const Shape& shape = g.type(wish.value).shape;
  const std::vector<int> order = moving_order(shape, wish.order);
  const Layout& made = layouts[wish.value.index];
  if (!has_halo(wish) && order == moving_order(shape, made.order)) {
    Operand o = wish;
    o.layout = made;
    return o;
  }
  const auto wide = layouts.haloed.find(wish.value);
  const bool serves =
      wide != layouts.haloed.end() && covers(wide->second, wish) && order == moving_order(shape, wide->second.order);
  return serves ? wide->second : wish;
}

// ---- panels ---------------------------------------------------------------------------------------------------------

namespace {
int64_t indices_of(const std::vector<Packing::Axis>& axes) {
  int64_t total = 1;
  for (const Packing::Axis& a : axes) total *= a.extent;
  return total;
}
}  // namespace

int64_t Packing::k_total() const { return indices_of(k); }
int64_t elements_of_panels(PanelForm form, int64_t columns, int64_t terms, int64_t run) {
  if (form == PanelForm::Quads) return rt::panels_of(columns) * rt::quad_panel_bytes(rt::quads_of(terms / run, run));
  if (form == PanelForm::Pairs) return rt::panels_of(columns) * rt::pairs_of(terms / run, run) * rt::kPairRow;
  return rt::packed_b_elements(columns, form == PanelForm::Nibbles ? terms / 2 : terms);
}
int64_t Packing::elements() const {
  const int64_t last = k.back().extent;
  if (form == PanelForm::Taps) return rt::panels_of(column.extent) * rt::tap_panel_bytes(k_total() / last, last, run);
  return indices_of(groups) * elements_of_panels(form, column.extent, k_total(), run);
}

Expr panel_offset(Expr column, Expr term, int64_t terms) {
  const Expr panel = integer(rt::kPanel);
  return simplify_index((floor_div(column, panel) * integer(terms) + term) * panel + mod(column, panel));
}

Expr quad_offset(Expr column, Expr segment, Expr term, int64_t segments, int64_t terms) {
  const Expr panel = integer(rt::kPanel), quad = integer(rt::kQuad);
  const Expr row = segment * integer(rt::quads_of(1, terms)) + floor_div(term, quad);
  return simplify_index(floor_div(column, panel) * integer(rt::quad_panel_bytes(rt::quads_of(segments, terms))) +
                        row * integer(rt::kQuadRow) + mod(column, panel) * quad + mod(term, quad));
}

Expr tap_offset(Expr column, Expr segment, Expr tap, int64_t segments, int64_t taps, int64_t shifts) {
  const Expr panel = integer(rt::kPanel), quad = integer(rt::kQuad);
  const Expr row = segment * integer(shifts * rt::tap_quads(taps, shifts)) + floor_div(tap, quad);
  return simplify_index(floor_div(column, panel) * integer(rt::tap_panel_bytes(segments, taps, shifts)) +
                        row * integer(rt::kQuadRow) + mod(column, panel) * quad + mod(tap, quad));
}

Expr pair_offset(Expr column, Expr segment, Expr term, int64_t segments, int64_t terms) {
  const Expr panel = integer(rt::kPanel), pair = integer(rt::kPair);
  const Expr row = segment * integer(rt::pairs_of(1, terms)) + floor_div(term, pair);
  return simplify_index((floor_div(column, panel) * integer(rt::pairs_of(segments, terms)) + row) *
                            integer(rt::kPairRow) +
                        mod(column, panel) * pair + mod(term, pair));
}

std::optional<Expr> packed_offset(const Packing& p, const std::vector<int64_t>& dims, std::span<const Expr> index) {
  if (dims.size() != 2 || !p.groups.empty() || p.k.size() != 1 || p.base_offset != 0) return std::nullopt;
  const Packing::Axis down{dims[0], dims[1]}, along{dims[1], 1};
  const bool transposed = p.column == down && p.k[0] == along;
  if (!transposed && !(p.column == along && p.k[0] == down)) return std::nullopt;
  const Expr column = index[transposed ? 0 : 1], term = index[transposed ? 1 : 0];
  if (p.form == PanelForm::Pairs) return pair_offset(column, integer(0), term, 1, p.k_total());
  return panel_offset(column, term, p.k_total());
}

// ---- room around values ---------------------------------------------------------------------------------------------

bool has_halo(const Operand& o) {
  auto positive = [](int64_t n) { return n > 0; };
  return std::ranges::any_of(o.before, positive) || std::ranges::any_of(o.after, positive);
}

namespace {
/// How many elements beyond an extent an index reaches; nullopt where no number is proven.
std::optional<int64_t> reach_beyond(Expr index, Dim extent) {
  if (extent.is_static()) return static_cast<int64_t>(std::max<Wide>(0, range_of(index).high - (extent.value() - 1)));
  constexpr int64_t kMost = 1 << 16;
  const auto within = [&](int64_t more) {
    return simplify_index(lt(index, extent.extent() + integer(more))).is_const(1);
  };
  int64_t most = 0;
  while (!within(most)) {
    if (most >= kMost) return std::nullopt;
    most = std::max<int64_t>(1, 2 * most);
  }
  int64_t least = most / 2;  // within(least) is not known
  while (least + 1 < most) (within((least + most) / 2) ? most : least) = (least + most) / 2;
  return most;
}

/// Whether room of so many elements is what a window needs: pads that only a run computes have a bound far from it.
bool is_room_of_a_window(int64_t elements, Dim extent) {
  constexpr int64_t kLongWindow = 4096;
  return elements <= std::max(kLongWindow, 4 * extent.estimate());
}
}  // namespace

std::optional<Operand> halo_of(const Graph& g, Expr load, const Layout& made) {
  const Shape& shape = g.type(ValueId{load.operand()}).shape;
  const std::vector<int64_t> none(shape.size());
  Operand o{ValueId{load.operand()}, made, made.order, none, none};
  for (size_t d = 0; d < shape.size(); ++d) {
    const Interval r = range_of(load.index()[d]);
    const std::optional<int64_t> beyond = reach_beyond(load.index()[d], shape[d]);
    if (!r.known() || !beyond) return std::nullopt;
    o.before[d] = std::max<int64_t>(0, -r.low);
    o.after[d] = *beyond;
    if (!is_room_of_a_window(std::max(o.before[d], o.after[d]), shape[d])) return std::nullopt;
  }
  if (!has_halo(o)) return o;
  if (!load.outside().is_const()) return std::nullopt;
  o.border_value = load.outside();
  return o;
}
bool covers(const Operand& wide, const Operand& narrow) {
  return (!narrow.border_value || narrow.border_value == wide.border_value) &&
         std::ranges::equal(narrow.before, wide.before, std::less_equal{}) &&
         std::ranges::equal(narrow.after, wide.after, std::less_equal{});
}
bool within_halo(const Graph& g, const Operand& o, Expr load) {
  if (!has_halo(o) || load.checked()) return false;
  auto needed = halo_of(g, load, o.layout);
  return needed && covers(o, *needed);
}

}  // namespace cameo
