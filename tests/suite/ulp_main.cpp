// ulp_table: how far results of artifacts are from exact ones, an operator a line, over the backend suite's models of
// one node: its data, and others drawn between the data's least and largest elements. Exact is the interpreter in
// double over the same inputs.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <regex>

#include "frontend/reference/compare.h"
#include "frontend/reference/interpret.h"
#include "tests/suite/suite.h"
#include "tests/support/artifact.h"

using namespace cameo;
using namespace cameo::suite;

namespace {

constexpr int kDraws = 16;

/// Of one element: ULPs of the exact value, and of the output's largest magnitude.
struct Errors {
  float of_element = 0, of_output = 0;
};

void add_errors(const Tensor& got, const Tensor& exact, std::vector<Errors>& all) {
  if (!is_float(got.dtype()) || is_minifloat(got.dtype())) return;
  const double of_largest = ulp_of(got.dtype(), magnitude_of(exact));
  for (int64_t i = 0; i < got.size(); ++i) {
    const double want = exact.get(i), error = std::abs(got.get(i) - want);
    if (!std::isfinite(want)) continue;  // that these are right is what the suite tests
    all.push_back(
        {static_cast<float>(error / ulp_of(got.dtype(), std::abs(want))), static_cast<float>(error / of_largest)});
  }
}

std::vector<Tensor> add_run(const Graph& g, const test::LoadedArtifact& artifact, std::span<const Tensor> inputs,
                            std::vector<Errors>& all) {
  std::vector<Tensor> got = artifact.run(inputs);
  const std::vector<Tensor> exact = interpret(g, inputs).unrounded;
  for (size_t i = 0; i < got.size(); ++i) add_errors(got[i], exact[i], all);
  return got;
}

/// Floating elements between the data's least and largest; other inputs, and single elements, as they are.
std::vector<Tensor> draw(std::span<const Tensor> data, uint64_t& state) {
  std::vector<Tensor> drawn(data.begin(), data.end());
  for (Tensor& t : drawn) {
    if (t.is_list() || !is_float(t.dtype()) || t.size() < 2) continue;
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (int64_t i = 0; i < t.size(); ++i) low = std::min(low, t.get(i)), high = std::max(high, t.get(i));
    if (!std::isfinite(low) || !std::isfinite(high)) continue;
    for (int64_t i = 0; i < t.size(); ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      t.set(i, low + (high - low) * static_cast<double>(state >> 11) * 0x1p-53);
    }
  }
  return drawn;
}

/// An engine that leaves the errors of each model of one node in a file of its operator's name.
Engine measuring(const std::filesystem::path& folder) {
  return [folder](const Model& model) -> Runner {
    const Graph& g = model.graph;
    if (g.nodes().size() != 1 || !g.nodes()[0].op->foldable)
      throw CompileError(Code::E0402, "no model of one node whose results follow from its inputs");
    auto artifact = test::load_artifact(g);
    return [&g, artifact, folder](std::span<const Tensor> inputs) {
      std::vector<Errors> all;
      std::vector<Tensor> outputs = add_run(g, *artifact, inputs, all);
      uint64_t state = 1;
      for (int i = 0; i < kDraws; ++i) try {
          add_run(g, *artifact, draw(inputs, state), all);
        } catch (const std::exception&) {}  // data that the node does not take
      const Operator& op = *g.nodes()[0].op;
      const std::string name = op.domain.empty() ? std::string(op.name) : fmt::format("{}::{}", op.domain, op.name);
      std::ofstream(folder / name, std::ios::app | std::ios::binary)
          .write(reinterpret_cast<const char*>(all.data()), static_cast<std::streamsize>(all.size() * sizeof(Errors)));
      return outputs;
    };
  };
}

std::vector<Errors> errors_in(const std::filesystem::path& file) {
  std::vector<Errors> all(std::filesystem::file_size(file) / sizeof(Errors));
  std::ifstream(file, std::ios::binary)
      .read(reinterpret_cast<char*>(all.data()), static_cast<std::streamsize>(all.size() * sizeof(Errors)));
  return all;
}
double quantile(std::vector<Errors>& all, float Errors::* which, double q) {
  const auto at = all.begin() + static_cast<std::ptrdiff_t>(q * static_cast<double>(all.size() - 1));
  std::ranges::nth_element(all, at, {}, which);
  return (*at).*which;
}

void print_table(const std::filesystem::path& folder) {
  fmt::print("{:<36} {:>9} {:>8} {:>8} {:>8} {:>10} {:>10}\n", "operator", "elements", "p50", "p90", "p99", "most",
             "of output");
  std::vector<std::filesystem::path> files(std::filesystem::directory_iterator(folder), {});
  std::ranges::sort(files);
  for (const auto& file : files) {
    std::vector<Errors> all = errors_in(file);
    if (all.empty()) continue;
    fmt::print("{:<36} {:>9} {:>8.2f} {:>8.2f} {:>8.2f} {:>10.1f} {:>10.2f}\n", file.filename().string(), all.size(),
               quantile(all, &Errors::of_element, 0.5), quantile(all, &Errors::of_element, 0.9),
               quantile(all, &Errors::of_element, 0.99), quantile(all, &Errors::of_element, 1),
               quantile(all, &Errors::of_output, 1));
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"errors of artifacts in ULP, by operator"};
  std::string filter;
  int jobs = 2;
  app.add_option("--filter", filter, "a regular expression that names must contain");
  app.add_option("-j", jobs);
  CLI11_PARSE(app, argc, argv);
  std::string note;
  std::vector<Case> cases = find_cases(CAMEO_SHARED, CAMEO_BINARY_DIR "/suite", note);
  if (cases.empty()) {
    fmt::print("skipped: {}\n", note);
    return 77;
  }
  const std::regex pattern(filter);
  std::erase_if(cases, [&](const Case& c) { return !std::regex_search(c.name, pattern); });
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / fmt::format("ulp_table.{}", getpid());
  std::filesystem::create_directory(folder);
  test::warm_up_compiler();
  run_cases(cases, measuring(folder), jobs, std::chrono::seconds(120), [](const Case&, const Verdict&) {});
  print_table(folder);
  std::filesystem::remove_all(folder);
}
