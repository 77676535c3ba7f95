// See sizes.h.
#include "cli/sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/console.h"
#include "frontend/import/import_onnx.h"

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
  return std::ranges::none_of(g.requirements(), [&](const Requirement& r) {
    return simplify_index(bind_symbols(r.condition, sizes)).is_const(0);
  });
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

DimBinding sizes_of_case(const Graph& g, uint64_t number) {
  constexpr int64_t kMost = 64;
  const Interface io = interface_of(g);
  for (const Interface::Io& input : io.inputs)
    if (!input.content.empty())
      throw Failure(
          kUsage,
          fmt::format("the elements of input `{}` decide shapes, and random ones cannot", printable(input.name)),
          "data in a folder can: input_0.pb, output_0.pb");
  const DimBounds bounds = bounds_of(io);
  const DimBinding least = least_sizes(g);
  DimBinding sizes = least;
  for (auto& [name, size] : sizes) {
    const int64_t high = std::max(size, within(bounds.at(name), kMost));
    if (number % 3 == 1) size = high;
    if (number % 3 == 2) size = size + (high - size) / 2;
  }
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
