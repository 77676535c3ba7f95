// Borders: what stands in the room around a value before that is made.
#include "optimizer/lower/lower_kernel.h"

namespace cameo {

namespace {
/// Writes `room` positions of axis order[i] from each of `begins` on: inside of the outer axes, and across the inner
/// ones.
LoweredKernel lower_sides(const Graph& g, const Operand& to, size_t i, int64_t room, std::span<const Expr> begins,
                          const Target& target) {
  const Shape& shape = g.type(to.value).shape;
  auto pitch_of = [&](size_t o) { return to.layout.pitch[static_cast<size_t>(to.order[o])].extent(); };
  LoweredKernel l;
  l.operands = {to};
  l.kernel.operands = {g.type(to.value).dtype};
  l.kernel.title = "Border";
  l.kernel.optimize_for_size = true;
  Expr offset = to.layout.base_offset.extent();
  for (size_t o = 0; o < to.order.size(); ++o) {
    auto axis = static_cast<size_t>(to.order[o]);
    if (o < i) {
      l.kernel.axes.push_back(var(shape[axis].extent()));
      offset = offset + l.kernel.axes.back() * pitch_of(o);
    } else if (o > i) {
      offset = offset - integer(to.before[axis]) * pitch_of(o);
    }
  }
  l.kernel.axes.push_back(var(integer(room) * pitch_of(i)));
  for (Expr begin : begins)
    l.kernel.stores.push_back(
        {0, simplify_index(offset + begin * pitch_of(i) + l.kernel.axes.back()), boolean(true), to.border_value});
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
  k.axes.push_back(var(to.layout.elements.extent()));
  k.stores.push_back({0, k.axes[0], boolean(true), to.border_value});
  choose_nest(k, target);
  return l;
}
}  // namespace

std::vector<LoweredKernel> lower_border(const Graph& g, const Operand& to, const Target& target) {
  if (to.layout.elements.upper() <= target.elements_a_launch) return {lower_fill(g, to, target)};
  std::vector<LoweredKernel> kernels;
  for (size_t i = 0; i < to.order.size(); ++i) {
    auto a = static_cast<size_t>(to.order[i]);
    const int64_t before = to.before[a], after = to.after[a];
    const Expr begins[] = {integer(-before), g.type(to.value).shape[a].extent()};
    if (before == after && before)
      kernels.push_back(lower_sides(g, to, i, before, begins, target));
    else if (before)
      kernels.push_back(lower_sides(g, to, i, before, std::span(begins, 1), target));
    if (before != after && after) kernels.push_back(lower_sides(g, to, i, after, std::span(begins + 1, 1), target));
  }
  return kernels;
}

}  // namespace cameo
