// What an import of a model tells of sizes without an end. They need a bound for proofs, and runs are held to it; so it
// is the largest one at which indices into all that the model computes still fit into 64 bits. And where the model has
// no meaning, of an image smaller than a window, of more tokens than it has positions for, they begin later or end
// sooner.
#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>

#include "frontend/import/import_internal.h"
#include "frontend/ir/operator.h"

namespace cameo::importing {
namespace {

constexpr int kMostBits = 30, kLeastBits = 8;  // of a bound
constexpr double kMostElements = 58;           // of a value, as a power of 2: their bytes, and a step beyond, fit

std::vector<Expr> symbols_under(std::span<const Expr> roots) {
  std::vector<Expr> found;
  visit(roots, [&](Expr e) {
    if (e.op() == Op::Symbol) found.push_back(e);
  });
  return found;
}
std::vector<Expr> open_sizes(const Graph& g) {
  std::vector<Expr> extents;
  for (ValueId v : g.inputs())
    for (const Dim& d : g.type(v).shape) extents.push_back(d.extent());
  std::vector<Expr> sizes = symbols_under(extents);
  std::erase_if(sizes, [](Expr size) { return !is_open(size); });
  return sizes;
}

/// What a graph's values come to if the open symbols end at `bound`.
class Measure {
 public:
  Measure(const std::vector<Expr>& open, int64_t bound) : open_(open), bound_(bound) {}
  bool fits(const Graph& g) {
    return std::ranges::all_of(g.values(), [&](const Value& v) { return elements(v.type) <= kMostElements; }) &&
           std::ranges::all_of(g.nodes(), [&](const Node& n) {
             const auto* made_of = std::get_if<Composite>(&meaning_of(g, n));
             return std::ranges::all_of(n.bodies, [&](const auto& body) { return fits(*body); }) &&
                    (!made_of || fits(*made_of->definition));
           });
  }

 private:
  /// As a power of 2.
  double elements(const Type& type) {
    double power = 0;
    for (const Dim& d : type.shape) power += std::log2(std::max(1.0, static_cast<double>(most_of(d.extent()))));
    return power;
  }
  Wide most_of(Expr extent) {
    if (!is_symbolic(extent)) return range_of(extent).high;
    const auto [known, fresh] = most_.try_emplace(extent.node());
    if (fresh) known->second = range_of(rewrite(extent, [&](Expr e) { return is_open_symbol(e) ? ended(e) : e; })).high;
    return known->second;
  }
  bool is_open_symbol(Expr e) const { return std::ranges::find(open_, e) != open_.end(); }
  Expr ended(Expr open) const {
    const Wide low = range_of(open).low;
    return symbol(symbol_name(open), {low, std::max<Wide>(low, bound_)}, true);
  }
  const std::vector<Expr>& open_;
  int64_t bound_;
  std::unordered_map<const ExprNode*, Wide> most_;
};

/// The values of a size within a range but those at either end for which a condition is proven to fail; all where it
/// fails for each.
Interval where_it_may_hold(Expr condition, Expr size, Interval range) {
  const auto fails = [&](int64_t low, int64_t high) {
    const Expr part = symbol(symbol_name(size), {low, high});
    return simplify_index(rewrite(condition, [&](Expr e) { return e == size ? part : e; })).is_const(0);
  };
  const auto low = static_cast<int64_t>(range.low), high = static_cast<int64_t>(range.high);
  const bool fails_at_low = fails(low, low), fails_at_high = fails(high, high);
  if ((!fails_at_low && !fails_at_high) || fails(low, high)) return range;
  const auto values = std::views::iota(low, high);
  Interval left = range;
  if (fails_at_low) left.low = *std::ranges::partition_point(values, [&](int64_t v) { return fails(low, v); });
  if (fails_at_high) left.high = *std::ranges::partition_point(values, [&](int64_t v) { return !fails(v + 1, high); });
  return left.low <= left.high ? left : range;
}

/// The largest end of open sizes at which all values of the graph have few enough elements; 0 where none is small
/// enough.
int64_t widest_bound(const Graph& g, const std::vector<Expr>& open) {
  const auto bounds = std::views::iota(kLeastBits, kMostBits + 1);
  const auto beyond =
      std::ranges::partition_point(bounds, [&](int bits) { return Measure(open, int64_t{1} << bits).fits(g); });
  return beyond == bounds.begin() ? 0 : int64_t{1} << (*beyond - 1);
}

/// What requirements of one size each leave of it, by name, where that is less than its range.
std::map<std::string, Interval> required_ranges(const Graph& g, std::span<const Expr> sizes) {
  std::map<std::string, Interval> required;
  for (const Requirement& r : g.requirements()) {
    const std::vector<Expr> of = symbols_under(std::array{r.condition});
    if (of.size() != 1 || std::ranges::find(sizes, of[0]) == sizes.end()) continue;
    const std::string name(symbol_name(of[0]));
    const auto known = required.find(name);
    const Interval range = known == required.end() ? range_of(of[0]) : known->second;
    if (const Interval left = where_it_may_hold(r.condition, of[0], range); left != range) required[name] = left;
  }
  return required;
}

}  // namespace

SizeBounds bounds_of(const Graph& g, const SizeBounds& taken) {
  const std::vector<Expr> open = open_sizes(g);
  if (open.empty()) return taken;
  SizeBounds bounds = taken;
  bounds.required = required_ranges(g, open);
  if (const int64_t widest = widest_bound(g, open)) bounds.most_of_open = widest;
  bounds.known = bounds != taken;
  return bounds;
}

SizeBounds narrower(SizeBounds bounds) {
  bounds.most_of_open = std::max(bounds.most_of_open / 4, int64_t{1} << kLeastBits);
  return bounds;
}

}  // namespace cameo::importing
