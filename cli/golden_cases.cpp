// See golden_cases.h.
#include "cli/golden_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "cli/data.h"
#include "codegen/goldens.h"
#include "frontend/reference/compare.h"
#include "optimizer/plan/bind_plan.h"

namespace cameo {
namespace {

bool wants_reference(const Model& model, const CompileOptions& options, Console& console) {
  if (options.reference) return true;
  const double operations = estimate_operations(model.graph);
  if (operations <= kMostOperations) return true;
  console.note(fmt::format(
      "note: {:.1f} GFLOP a run; golden cases get the default tolerance of 1e-3 (--reference computes better ones)",
      operations / 1e9));
  return false;
}

/// `random:3`, `random:3:SEED`.
std::pair<uint64_t, uint64_t> parse_random(const std::string& text) {
  uint64_t count = 0, seed = 0;
  const char *begin = text.data() + 7, *end = text.data() + text.size();
  auto [at, error] = std::from_chars(begin, end, count);
  if (error == std::errc() && at != end && *at == ':') {
    const auto rest = std::from_chars(at + 1, end, seed);
    at = rest.ptr;
    error = rest.ec;
  }
  if (error != std::errc() || at != end || count < 1 || count > 100)
    throw Failure(
        kUsage, fmt::format("`--golden={}` is not random:N with N from 1 to 100, nor random:N:SEED", printable(text)));
  return {count, seed};
}

/// The graph at one size of each dim that only a run knows.
Model at_sizes(const Model& model, const DimBinding& sizes) {
  Model bound = model;
  if (!sizes.empty()) bound.graph = bind_dims(model.graph, sizes);
  return bound;
}
/// Sizes that random cases take in turn: the lowest, the highest, where that is no more than an open dim is tried with,
/// and one between.
DimBinding sizes_of_case(const Interface& io, uint64_t number) {
  constexpr int64_t kMost = 64;
  const std::vector<DimBinding> ends = ends_of_sizes(io);
  DimBinding sizes = ends.front();
  for (auto& [name, size] : sizes) {
    const int64_t high = std::min(ends.back().at(name), std::max(size, kMost));
    if (number % 3 == 1) size = high;
    if (number % 3 == 2) size = (size + high) / 2;
  }
  return sizes;
}
/// The sizes that a data set has, which must lie within the bounds of the model's dims.
DimBinding sizes_of_data(const Model& model, const std::filesystem::path& set) {
  const std::vector<DimBinding> ends = ends_of_sizes(interface_of(model.graph));
  if (ends.front().empty()) return {};
  const DimBinding sizes = dims_from_data(model, shapes_of_data_set(set, model.graph));
  for (const auto& [name, low] : ends.front()) {
    const auto given = sizes.find(name);
    if (given == sizes.end() || given->second < low || given->second > ends.back().at(name))
      throw Failure(kBadData, fmt::format("`{}` has a size of `{}` that is not within {}", printable(set.string()),
                                          printable(name), range_text({low, ends.back().at(name)})));
  }
  return sizes;
}

/// Absolute tolerances of --tolerance.
void set_share(GoldenCase& c, double share) {
  for (size_t i = 0; i < c.outputs.size(); ++i) c.tolerances[i] = share * magnitude_of(c.outputs[i]);
}

/// Data that the interpreter contradicts are no fault of the command line.
GoldenCase measured(const Model& model, std::string name, std::vector<Tensor> inputs,
                    const std::vector<Tensor>* expected) {
  try {
    return golden_case(model.graph, std::move(name), std::move(inputs), expected);
  } catch (const CompileError& e) { throw Failure(kAccuracy, e.what()); }
}

GoldenCase random_case(const Model& model, uint64_t number, std::string name, const DimBinding& sizes) {
  const Model bound = at_sizes(model, sizes);
  GoldenCase c = measured(bound, std::move(name), random_inputs(interface_of(bound.graph), number), nullptr);
  c.sizes = sizes;
  return c;
}

GoldenCase case_of_data(const Model& model, DataSet data, bool reference, bool has_tolerance) {
  const auto missing = std::ranges::find(data.outputs, DType::undefined, &Tensor::dtype);
  const bool complete = missing == data.outputs.end();
  if (reference && !(has_tolerance && complete))
    return measured(model, data.name, std::move(data.inputs), &data.outputs);
  if (!complete)
    throw Failure(kBadData, fmt::format("`{}` has no output_{}.pb", data.name, missing - data.outputs.begin()));
  std::vector<double> tolerances(data.outputs.size(), -1.0);
  return {data.name, std::move(data.inputs), std::move(data.outputs), std::move(tolerances)};
}

}  // namespace

std::vector<GoldenCase> golden_cases(const Model& model, const CompileOptions& options, Console& console) {
  std::vector<GoldenCase> cases;
  if (options.golden.empty()) return cases;
  console.begin("golden");
  const Interface io = interface_of(model.graph);
  if (options.golden.starts_with("random:")) {
    const auto [count, seed] = parse_random(options.golden);
    for (uint64_t i = seed; i < seed + count; ++i)
      cases.push_back(random_case(model, i, fmt::format("random:{}", i), sizes_of_case(io, i)));
    for (const DimBinding& bucket : options.buckets) {
      DimBinding sizes = sizes_of_case(io, cases.size());
      for (const auto& [name, size] : bucket) sizes[name] = size;
      const uint64_t number = seed + cases.size();
      cases.push_back(random_case(model, number, fmt::format("random:{} at {}", number, to_string(bucket)), sizes));
    }
  } else {
    const std::vector<std::filesystem::path> sets = find_data_sets(options.golden);
    const bool reference = wants_reference(model, options, console);
    for (const auto& set : sets) {
      const DimBinding sizes = sizes_of_data(model, set);
      const Model bound = at_sizes(model, sizes);
      DataSet data = read_data_set(set, interface_of(bound.graph));
      cases.push_back(case_of_data(bound, std::move(data), reference, options.tolerance >= 0));
      cases.back().sizes = sizes;
    }
  }
  if (options.tolerance >= 0)
    for (GoldenCase& c : cases) set_share(c, options.tolerance);
  console.end();
  return cases;
}

}  // namespace cameo
