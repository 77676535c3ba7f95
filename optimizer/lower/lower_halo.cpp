// Halos: the room around a value that its readers want, how wide it is, and what stands there before the value is made.
#include <algorithm>

#include "optimizer/lower/lower_kernel.h"

namespace cameo {

std::optional<Operand> halo_of(const Graph& g, Expr load, const Layout& made) {
  const Shape& shape = g.type(ValueId{load.operand()}).shape;
  Operand o{ValueId{load.operand()},
            made,
            order_of(made),
            std::vector<int64_t>(shape.size()),
            std::vector<int64_t>(shape.size()),
            {},
            {}};
  for (size_t d = 0; d < shape.size(); ++d) {
    Interval r = range_of(load.index()[d]);
    if (!r.known()) return std::nullopt;
    o.before[d] = std::max<int64_t>(0, -r.low);
    o.after[d] = std::max<int64_t>(0, r.high - (shape[d].value() - 1));
  }
  if (!has_halo(o)) return o;
  if (!load.outside().is_const()) return std::nullopt;
  o.around = load.outside();
  return o;
}
bool covers(const Operand& wide, const Operand& narrow) {
  return (!narrow.around || narrow.around == wide.around) &&
         std::ranges::equal(narrow.before, wide.before, std::less_equal{}) &&
         std::ranges::equal(narrow.after, wide.after, std::less_equal{});
}
bool within_halo(const Graph& g, const Operand& o, Expr load) {
  if (!has_halo(o) || load.checked()) return false;
  auto needed = halo_of(g, load, o.layout);
  return needed && covers(o, *needed);
}

namespace {
/// Writes `room` positions of axis order[i] from each of `begins` on: inside of the outer axes, and across the inner
/// ones.
LoweredKernel lower_sides(const Graph& g, const Operand& to, size_t i, int64_t room, std::span<const int64_t> begins,
                          const Target& target) {
  const Shape& shape = g.type(to.value).shape;
  auto pitch_of = [&](size_t o) { return to.layout.pitch[static_cast<size_t>(to.order[o])]; };
  LoweredKernel l;
  l.operands = {to};
  l.kernel.operands = {g.type(to.value).dtype};
  l.kernel.title = "Border";
  l.kernel.small = true;
  Expr offset = integer(to.layout.origin);
  for (size_t o = 0; o < to.order.size(); ++o) {
    auto axis = static_cast<size_t>(to.order[o]);
    if (o < i) {
      l.kernel.axes.push_back(var(shape[axis].extent()));
      offset = offset + l.kernel.axes.back() * integer(pitch_of(o));
    } else if (o > i) {
      offset = offset - integer(to.before[axis] * pitch_of(o));
    }
  }
  l.kernel.axes.push_back(var(integer(room * pitch_of(i))));
  for (int64_t begin : begins)
    l.kernel.stores.push_back(
        {0, simplify_index(offset + integer(begin * pitch_of(i)) + l.kernel.axes.back()), boolean(true), to.around});
  drop_unit_axes(l.kernel);
  collapse_axes(l.kernel, 0);
  choose_nest(l.kernel, target);
  return l;
}
/// All of a value, which is made behind this.
LoweredKernel lower_fill(const Graph& g, const Operand& to, const Target& target) {
  LoweredKernel l;
  l.operands = {to};
  Kernel& k = l.kernel;
  k.operands = {g.type(to.value).dtype};
  k.title = "Border";
  k.axes.push_back(var(integer(to.layout.elements)));
  k.stores.push_back({0, k.axes[0], boolean(true), to.around});
  choose_nest(k, target);
  return l;
}
}  // namespace

std::vector<LoweredKernel> lower_border(const Graph& g, const Operand& to, const Target& target) {
  if (to.layout.elements <= target.elements_a_launch) return {lower_fill(g, to, target)};
  std::vector<LoweredKernel> kernels;
  for (size_t i = 0; i < to.order.size(); ++i) {
    auto a = static_cast<size_t>(to.order[i]);
    int64_t before = to.before[a], after = to.after[a], begins[] = {-before, g.type(to.value).shape[a].value()};
    if (before == after && before)
      kernels.push_back(lower_sides(g, to, i, before, begins, target));
    else if (before)
      kernels.push_back(lower_sides(g, to, i, before, std::span(begins, 1), target));
    if (before != after && after) kernels.push_back(lower_sides(g, to, i, after, std::span(begins + 1, 1), target));
  }
  return kernels;
}

bool has_halo(const Operand& o) {
  auto positive = [](int64_t n) { return n > 0; };
  return std::ranges::any_of(o.before, positive) || std::ranges::any_of(o.after, positive);
}

}  // namespace cameo
