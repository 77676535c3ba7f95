// How far sizes without an end may go. Proofs need a bound of them, and runs are held to it; so it is the largest one
// at which indices into all that the model computes still fit into 64 bits.
#include <algorithm>
#include <cmath>
#include <ranges>

#include "frontend/import/import_internal.h"
#include "frontend/ir/operator.h"

namespace cameo::importing {
namespace {

constexpr int kMostBits = 30, kLeastBits = 8;  // of a bound
constexpr double kMostElements = 58;           // of a value, as a power of 2: their bytes, and a step beyond, fit

/// The open symbols of the graph's inputs.
std::vector<Expr> open_symbols(const Graph& g) {
  std::vector<Expr> extents, found;
  for (ValueId v : g.inputs())
    for (const Dim& d : g.type(v).shape) extents.push_back(d.extent());
  visit(extents, [&](Expr e) {
    if (e.op() == Op::Symbol && is_open(e)) found.push_back(e);
  });
  return found;
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

}  // namespace

int64_t widest_bound(const Graph& g) {
  const std::vector<Expr> open = open_symbols(g);
  const auto bounds = std::views::iota(kLeastBits, kMostBits + 1);
  const auto beyond =
      std::ranges::partition_point(bounds, [&](int bits) { return Measure(open, int64_t{1} << bits).fits(g); });
  return beyond == bounds.begin() ? 0 : int64_t{1} << (*beyond - 1);
}

int64_t narrower_bound(int64_t bound) { return std::max(bound / 4, int64_t{1} << kLeastBits); }

}  // namespace cameo::importing
