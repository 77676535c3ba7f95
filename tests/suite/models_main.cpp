// golden_models: imports the real models of shared/models with the dims of golden/dims.tsv, runs them by the
// interpreter, by their plans or on an emulated GPU, and compares with ONNX Runtime's outputs. The tolerance is 1e-3 of
// the output's largest magnitude; what was needed is printed.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>

#include "optimizer/plan/run_plan.h"
#include "tests/suite/suite.h"
#include "tests/support/artifact.h"
#include "tests/support/child.h"
#include "tests/support/road.h"

using namespace cameo;
using namespace cameo::suite;
namespace fs = std::filesystem;

namespace {

// ONNX Runtime's sigmoid is off by 1e-7 of 1, so outputs that are all tiny say nothing.
constexpr double kNoise = 1e-3;

/// The largest difference, as a part of the largest magnitude; infinite where the types
/// or dims differ.
double difference(const Tensor& got, const Tensor& want) {
  if (got.is_list() != want.is_list()) return INFINITY;
  if (want.is_list()) {
    if (got.items().size() != want.items().size()) return INFINITY;
    double most = 0;
    for (size_t i = 0; i < want.items().size(); ++i) most = std::max(most, difference(got.items()[i], want.items()[i]));
    return most;
  }
  if (got.dtype() != want.dtype() || got.dims() != want.dims()) return INFINITY;
  if (!is_float(want.dtype())) return compare(got, want, {}).empty() ? 0 : INFINITY;
  double worst = 0, magnitude = 0;
  for (int64_t i = 0; i < want.size(); ++i) {
    double a = got.get(i), b = want.get(i);
    if (std::isfinite(b)) magnitude = std::max(magnitude, std::fabs(b));
    if (a != b && !(std::isnan(a) && std::isnan(b)))
      worst = std::isfinite(a - b) ? std::max(worst, std::fabs(a - b)) : INFINITY;
  }
  return worst / std::max(magnitude, kNoise);
}

std::vector<Tensor> in_order(const Graph& g, const std::vector<NamedTensor>& data, bool outputs) {
  std::vector<Tensor> r;
  size_t n = outputs ? g.outputs().size() : g.inputs().size();
  for (size_t i = 0; i < n; ++i) {
    std::string name = outputs ? g.outputs()[i].name : g.input_name(static_cast<int>(i));
    auto named = std::find_if(data.begin(), data.end(), [&](auto& t) { return t.name == name; });
    if (named != data.end())
      r.push_back(named->tensor);
    else if (i < data.size())
      r.push_back(data[i].tensor);
  }
  return r;
}

struct Options {
  bool import_only = false;
  std::string engine = "interpreter";
};

/// In a child, since it compiles and links in its own process; what comes back is bytes.
std::vector<Tensor> run_on_emulated_gpu(const Graph& g, const std::vector<Tensor>& inputs) {
  constexpr int kSeconds = 3600;
  const std::string bytes = test::in_child(
      [&] {
        std::string all;
        for (const Tensor& t : test::run_on_emulated_gpu(g, inputs))
          all.append(reinterpret_cast<const char*>(t.bytes().data()), t.bytes().size());
        return all;
      },
      kSeconds);
  std::vector<Tensor> outputs;
  size_t at = 0;
  for (const Port& p : g.outputs()) {
    Tensor& t = outputs.emplace_back(g.type(p.value).dtype, extents(g.type(p.value).shape));
    if (at + t.bytes().size() > bytes.size()) throw CompileError(Code::E0601, bytes);
    std::memcpy(t.mutable_bytes().data(), bytes.data() + at, t.bytes().size());
    at += t.bytes().size();
  }
  return outputs;
}

std::vector<Tensor> run(const Graph& g, const std::vector<Tensor>& inputs, const std::string& engine) {
  if (engine == "interpreter") return interpret(g, inputs).rounded;
  if (engine == "cuda") return run_on_emulated_gpu(g, inputs);
  Module m = test::plan_graph(g);
  return run_plan(m, m.plans[0], inputs);
}

/// True when all data sets of the model pass.
bool run_model(const std::string& model_name, const fs::path& models, const ImportOptions& options,
               const Options& how) {
  auto start = std::chrono::steady_clock::now();
  auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  Diagnostics diagnostics;
  Model model = import_onnx(models / (model_name + ".onnx"), options, diagnostics);
  double imported = seconds();
  for (auto& d : diagnostics.all()) fmt::print("{}", to_string(d));
  for (auto& u : model.unbound) fmt::print("unbound: {}[{}] = {}\n", u.input, u.axis, u.dim);
  if (diagnostics.has_errors()) {
    fmt::print("{:<36} REFUSED  ({} errors, import {:.2f} s)\n", model_name, diagnostics.errors(), imported);
    return false;
  }
  if (how.import_only) {
    fmt::print("{:<36} imported {} nodes in {:.2f} s\n", model_name, model.graph.nodes().size(), imported);
    return true;
  }
  double worst = 0;
  for (int set = 0;; ++set) {
    fs::path folder = models / "golden" / model_name / fmt::format("test_data_set_{}", set);
    if (!fs::exists(folder)) break;
    const DeclaredTypes declared = declared_types(models / (model_name + ".onnx"));
    auto inputs = read_tensors(folder, "input_", declared.inputs),
         outputs = read_tensors(folder, "output_", declared.outputs);
    if (!inputs || !outputs) {
      fmt::print("{:<36} has data that cannot be read\n", model_name);
      return false;
    }
    try {
      std::vector<Tensor> in = in_order(model.graph, *inputs, false), want = in_order(model.graph, *outputs, true);
      std::vector<Tensor> got = run(model.graph, in, how.engine);
      for (size_t i = 0; i < got.size(); ++i) {
        double d = i < want.size() ? difference(got[i], want[i]) : INFINITY;
        if (d > 1e-3)
          fmt::print("  set {} output `{}`: {:.3g}  {}\n", set, printable(model.graph.outputs()[i].name), d,
                     i < want.size() ? compare(got[i], want[i], {}) : "no golden value");
        worst = std::max(worst, d);
      }
    } catch (CompileError& e) {
      fmt::print("{}{:<36} REFUSED while running\n", to_string(e.diagnostic), model_name);
      return false;
    }
  }
  fmt::print("{:<36} {}  difference {:.2e}  nodes {}  import {:.2f} s  all {:.1f} s\n", model_name,
             worst <= 1e-3 ? "pass " : "WRONG", worst, model.graph.nodes().size(), imported, seconds());
  return worst <= 1e-3;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"the real models, against ONNX Runtime's outputs"};
  std::vector<std::string> names;
  Options how;
  app.add_option("names", names, "models; all without one");
  app.add_option("--engine", how.engine)->check(CLI::IsMember({"interpreter", "plan", "cuda"}));
  app.add_flag("--import-only", how.import_only);
  CLI11_PARSE(app, argc, argv);
  fs::path models = fs::path(CAMEO_SHARED) / "models";
  if (!fs::exists(models / "golden/dims.tsv")) {
    fmt::print("skipped: {} is not here\n", (models / "golden").string());
    return 77;
  }
  auto table = golden_models(CAMEO_SHARED);
  if (names.empty())
    for (auto& [name, options] : table) names.push_back(name);
  int bad = 0;
  for (auto& name : names) bad += !run_model(name, models, table[name], how);
  fmt::print("{} of {} pass\n", names.size() - static_cast<size_t>(bad), names.size());
  return bad ? 1 : 0;
}
