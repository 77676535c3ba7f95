// See sizes.h.
#include "cli/sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/console.h"
#include "codegen/goldens.h"
#include "frontend/import/import_onnx.h"
#include "optimizer/work.h"

namespace cameo {
namespace {

/// The symbols of its inputs' dims, with their bounds.
DimBounds bounds_of(const Interface& io) {
  DimBounds bounds;
  for (const Interface::Io& input : io.inputs)
    for (const Dim& d : input.type.shape)
      visit(std::vector<Expr>{d.extent()}, [&](Expr e) {
        if (e.op() == Op::Symbol) bounds[std::string(symbol_name(e))] = range_of(e);
      });
  return bounds;
}

int64_t within(const Interval& bounds, int64_t size) {
  return static_cast<int64_t>(std::clamp<Wide>(size, bounds.low, bounds.high));
}

/// Every dim of this size, or what its bounds allow.
DimBinding all_of(const DimBounds& bounds, int64_t size) {
  DimBinding sizes;
  for (const auto& [name, range] : bounds) sizes[name] = within(range, size);
  return sizes;
}

}  // namespace

bool runs_at(const Graph& g, const DimBinding& sizes) {
  const auto is_broken = [&](const Requirement& r) {
    return simplify_index(bind_symbols(r.condition, sizes)).is_const(0);
  };
  const auto runs = [&](const Node& n) {
    return std::ranges::all_of(n.bodies, [&](const auto& body) { return runs_at(*body, sizes); });
  };
  return std::ranges::none_of(g.requirements(), is_broken) && std::ranges::all_of(g.nodes(), runs);
}

DimBinding lowest_sizes(const Graph& g) { return all_of(bounds_of(interface_of(g)), 0); }

DimBinding least_sizes(const Graph& g) {
  constexpr int64_t kMost = 1024;
  const DimBounds bounds = bounds_of(interface_of(g));
  const DimBinding least = lowest_sizes(g);
  for (int64_t size = 1; size <= kMost; size *= 2) {
    DimBinding sizes = all_of(bounds, size);
    if (!runs_at(g, sizes)) continue;
    for (auto& [name, each] : sizes) {  // not all of them need be so large
      const int64_t kept = std::exchange(each, least.at(name));
      if (!runs_at(g, sizes)) each = kept;
    }
    return sizes;
  }
  return least;
}

DimBinding likely_sizes(const Graph& g) {
  const Interface io = interface_of(g);
  if (std::ranges::any_of(io.inputs, [](const Interface::Io& input) { return !input.content.empty(); })) return {};
  DimBinding sizes;
  visit_symbols(io, [&](Expr symbol) { sizes[std::string(symbol_name(symbol))] = Dim(symbol).estimate(); });
  return runs_at(g, sizes) ? sizes : least_sizes(g);
}

namespace {

/// Halfway from each to each.
DimBinding between(const DimBinding& low, const DimBinding& high) {
  DimBinding sizes = low;
  for (auto& [name, size] : sizes) size += (high.at(name) - size) / 2;
  return sizes;
}

/// The upper bounds, where they are no more than an open dim is tried with, or nearer to the least where a run of those
/// would take the interpreter long.
DimBinding high_sizes(const Graph& g, const DimBinding& least) {
  constexpr int64_t kMost = 64;
  const auto operations = [&](const DimBinding& sizes) { return estimate_operations(bind_dims(g, sizes)); };
  const double most = std::max(kMostOperations / 10, 4 * operations(least));
  const DimBounds bounds = bounds_of(interface_of(g));
  DimBinding sizes = least;
  for (auto& [name, size] : sizes) size = std::max(size, within(bounds.at(name), kMost));
  while (sizes != least && runs_at(g, sizes) && operations(sizes) > most) sizes = between(least, sizes);
  return sizes;
}

}  // namespace

DimBinding sizes_of_case(const Graph& g, uint64_t number) {
  const Interface io = interface_of(g);
  for (const Interface::Io& input : io.inputs)
    if (!input.content.empty())
      throw Failure(
          kUsage,
          fmt::format("the elements of input `{}` decide shapes, and random ones cannot", printable(input.name)),
          "data in a folder can: input_0.pb, output_0.pb");
  const DimBinding least = least_sizes(g);
  if (number % 3 == 0 || least.empty()) return least;
  const DimBinding high = high_sizes(g, least);
  const DimBinding sizes = number % 3 == 1 ? high : between(least, high);
  return runs_at(g, sizes) ? sizes : least;
}

DimBinding sizes_of_data(const Interface& io, std::span<const Tensor> inputs, const std::string& what) {
  const DimBinding sizes = sizes_of_run(io, inputs);
  for (const auto& [name, range] : bounds_of(io)) {
    const auto given = sizes.find(name);
    if (given == sizes.end() || given->second < range.low || given->second > range.high)
      throw Failure(kBadData,
                    fmt::format("{} {} `{}`, which the model takes within {}", what,
                                given == sizes.end() ? "does not say" : fmt::format("has {} for", given->second),
                                printable(name), range_text(range)));
  }
  return sizes;
}

Graph at_sizes(const Graph& g, const DimBinding& sizes, const std::string& what) {
  if (sizes.empty()) return g;
  try {
    return bind_dims(g, sizes);
  } catch (const CompileError& e) {
    throw Failure(kBadData, fmt::format("{} does not fit the model: {}", what, e.what()));
  }
}

}  // namespace cameo
