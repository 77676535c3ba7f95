// Axes that an operand names, which only a run may know: for each axis of a shape a condition, a number where it is
// known. A shape without some of its axes then has extents that are selected among those of the others.
#pragma once
#include "frontend/ops/operands.h"

namespace cameo::ops {

/// Whether an element, which may count from the end, names the axis.
inline Expr names_axis(Expr element, int axis, int rank) {
  return logical_or(eq(element, integer(axis)), eq(element, integer(axis - rank)));
}

/// Whether each of `rank` axes is among those that an input, or an attribute of older versions, names. Without both, or
/// where they name none: `none_named`. What only a run knows must name each axis once.
inline std::vector<Expr> named_axes(const NodeView& n, int input, int rank, bool none_named) {
  const auto content = n.has(input) ? n.content(input) : std::nullopt;
  if (!content || are_known(*content)) {
    const std::vector<int64_t> given = ints_or_attr(n, input, "axes");
    std::vector<Expr> named(rank, boolean(given.empty() && none_named));
    for (int axis : NodeView::axes(given, rank)) named[axis] = boolean(true);
    return named;
  }
  if (content->size() > static_cast<size_t>(rank))
    n.fail(Code::E0302, "`axes` is " + to_string(n.type(input)) + " for " + std::to_string(rank) + " axes");
  std::vector<Expr> named(rank, boolean(false));
  Expr count = integer(0);
  for (Expr axis : *content) {
    axis = cast(axis, DType::i64);
    n.require(logical_and(le(integer(-rank), axis), lt(axis, integer(rank))));
    for (int d = 0; d < rank; ++d) named[d] = logical_or(named[d], names_axis(axis, d, rank));
  }
  for (const Expr& each : named) count = count + cast(each, DType::i64);
  n.require(eq(count, integer(static_cast<int64_t>(content->size()))));
  return named;
}

/// How many axes are not dropped in front of each axis, and in all.
inline std::vector<Expr> places_of_kept(const std::vector<Expr>& dropped) {
  std::vector<Expr> places{integer(0)};
  for (Expr each : dropped) places.push_back(places.back() + cast(logical_not(each), DType::i64));
  return places;
}

/// The shape without the axes dropped, of which there are `count`.
inline Shape kept_shape(const Shape& shape, const std::vector<Expr>& dropped, size_t count) {
  const std::vector<Expr> places = places_of_kept(dropped);
  Shape kept;
  for (size_t k = 0; k + count < shape.size(); ++k) {
    Expr extent = integer(1);
    for (size_t d = shape.size(); d-- > 0;) {
      const Expr stands_here = logical_and(logical_not(dropped[d]), eq(places[d], integer(static_cast<int64_t>(k))));
      extent = select(stands_here, shape[d].extent(), extent);
    }
    kept.push_back(dim_of(extent));
  }
  return kept;
}

/// How many are named: known, though which they are may not be.
inline size_t count_named(const NodeView& n, int input, const std::vector<Expr>& named) {
  if (are_known(named)) return static_cast<size_t>(std::ranges::count_if(named, [](Expr e) { return e.is_const(1); }));
  return n.content(input)->size();
}

}  // namespace cameo::ops
