// See golden_cases.h.
#include "cli/golden_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "cli/data.h"
#include "cli/sizes.h"
#include "codegen/goldens.h"
#include "frontend/reference/compare.h"
#include "optimizer/work.h"

namespace cameo {
namespace {

constexpr std::string_view kRandom = "random:";

bool wants_reference(const Graph& g, const CompileOptions& options, Console& console, bool& noted) {
  if (options.reference) return true;
  const double operations = estimate_operations(g);
  if (operations <= kMostOperations) return true;
  if (!std::exchange(noted, true))
    console.note(fmt::format(
        "note: {:.1f} GFLOP a run; golden cases get the default tolerance of {:g} (--reference computes better ones)",
        operations / 1e9, default_share(options)));
  return false;
}

/// `random:3`, `random:3:SEED`.
std::pair<uint64_t, uint64_t> parse_random(const std::string& text) {
  uint64_t count = 0, seed = 0;
  const char *begin = text.data() + kRandom.size(), *end = text.data() + text.size();
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

/// Absolute tolerances of --tolerance.
void set_share(GoldenCase& c, double share) {
  c.tolerances.clear();
  for (const Tensor& output : c.outputs)
    for (const Tensor& t : tensors_of(output)) c.tolerances.push_back(share * magnitude_of(t));
}

void require_finite(const GoldenCase& c) {
  if (std::ranges::all_of(c.tolerances, [](double t) { return std::isfinite(t); })) return;
  throw Failure(kUsage, fmt::format("golden case `{}` would have no finite tolerance", printable(c.name)),
                "--tolerance=1e-3, a share of its outputs' largest magnitude");
}

/// Data that the interpreter contradicts are no fault of the command line.
GoldenCase measured(const Graph& g, std::string name, std::vector<Tensor> inputs, const std::vector<Tensor>* expected,
                    const CompileOptions& options) {
  try {
    const std::optional<Graph> narrow = narrowed(g, options);
    return golden_case(g, std::move(name), std::move(inputs), expected, narrow ? &*narrow : nullptr);
  } catch (const CompileError& e) { throw Failure(kAccuracy, e.what()); }
}

GoldenCase random_case(const Graph& g, uint64_t number, std::string name, const DimBinding& sizes,
                       const CompileOptions& options) {
  const Graph bound = at_sizes(g, sizes, name);
  GoldenCase c = measured(bound, std::move(name), random_inputs(interface_of(bound), number), nullptr, options);
  c.sizes = sizes;
  return c;
}

GoldenCase case_of_data(const Graph& g, DataSet data, bool reference, const CompileOptions& options) {
  const auto missing = std::ranges::find(data.outputs, DType::undefined, &Tensor::dtype);
  const bool complete = missing == data.outputs.end();
  if (reference && !(options.tolerance >= 0 && complete))
    return measured(g, data.name, std::move(data.inputs), &data.outputs, options);
  if (!complete)
    throw Failure(kBadData, fmt::format("`{}` has no output_{}.pb", data.name, missing - data.outputs.begin()));
  GoldenCase c = with_held({data.name, std::move(data.inputs), std::move(data.outputs), {}});
  for (const Tensor& output : c.outputs) c.tolerances.resize(c.tolerances.size() + tensors_of(output).size(), -1.0);
  if (options.precision != DType::f32) set_share(c, default_share(options));
  return c;
}

}  // namespace

bool is_random(std::string_view golden) { return golden.starts_with(kRandom); }

std::vector<GoldenCase> golden_cases(const Model& model, const CompileOptions& options, Console& console) {
  std::vector<GoldenCase> cases;
  if (options.golden.empty()) return cases;
  console.begin("golden");
  const Graph& g = model.graph;
  if (is_random(options.golden)) {
    const auto [count, seed] = parse_random(options.golden);
    while (cases.size() < count) {
      const uint64_t number = seed + cases.size();
      cases.push_back(random_case(g, number, fmt::format("random:{}", number), sizes_of_case(g, number), options));
    }
    for (const DimBinding& bucket : options.buckets) {
      DimBinding sizes = sizes_of_case(g, cases.size());
      for (const auto& [name, size] : bucket) sizes[name] = size;
      const uint64_t number = seed + cases.size();
      cases.push_back(
          random_case(g, number, fmt::format("random:{} at {}", number, to_string(bucket)), sizes, options));
    }
  } else {
    bool noted = false;
    for (const auto& set : find_data_sets(options.golden)) {
      DataSet data = read_data_set(set, interface_of(g));
      const DimBinding sizes = data.sizes;
      const Graph bound = at_sizes(g, sizes, fmt::format("`{}`", printable(set.string())));
      const bool reference = wants_reference(bound, options, console, noted);
      cases.push_back(case_of_data(bound, std::move(data), reference, options));
      cases.back().sizes = sizes;
    }
  }
  if (options.tolerance >= 0)
    for (GoldenCase& c : cases) set_share(c, options.tolerance);
  for (const GoldenCase& c : cases) require_finite(c);
  console.end();
  return cases;
}

}  // namespace cameo
