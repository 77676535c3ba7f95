// gpu_artifacts: the operator matrix and ONNX's backend suite as artifacts that carry their inputs, the interpreter's
// outputs and their tolerances, to be judged where there is a GPU and no compiler. OPS.CASE.so of every case that the
// matrix compiles; large.CASE.so of cases of real networks' sizes; SIZES.OPERATOR.so of the first case of an operator
// over sizes that only a run knows, half of them without an upper bound and as graphs; SUITE.NAME.so of a few of the
// suite's tests for each operator.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <regex>

#include "codegen/goldens.h"
#include "frontend/ir/limits.h"
#include "tests/suite/suite.h"
#include "tests/support/artifact.h"
#include "tests/support/case.h"
#include "tests/support/child.h"
#include "tests/support/sizes.h"

using namespace cameo;
namespace fs = std::filesystem;

namespace {

struct Packer {
  fs::path folder;
  Target target;

  void add(const std::string& file, const Graph& g, std::span<const Tensor> inputs) const {
    build(file, g, golden_case(g, "golden", {inputs.begin(), inputs.end()}), false);
  }
  /// In place of each extent a size that has its name.
  void add_over_sizes(const std::string& file, const Graph& g, std::span<const Tensor> inputs, bool open) const {
    GoldenCase golden = golden_case(g, "golden", {inputs.begin(), inputs.end()});
    const Graph over = test::over_sizes(g, [&](size_t, size_t, int64_t extent) {
      const std::string name = fmt::format("N{}", extent);
      golden.sizes[name] = extent;
      return Dim(open ? symbol(name, {0, most_of_open(4)}, true)
                      : symbol(name, {std::min<int64_t>(extent, 1), extent + 2}));
    });
    build(file, over, golden, open);
  }

 private:
  void build(const std::string& file, const Graph& g, const GoldenCase& golden, bool reduce_overhead) const {
    BuildOptions here;
    here.jobs = 0;
    test::build_graph(g, folder / (file + ".so"), here, target, {golden}, reduce_overhead);
  }
};

/// Nothing, or why there is no artifact of the case.
std::string write_case(const test::Case& c, const std::function<void()>& add) {
  if (!c.graph || c.fail) return "must fail";
  try {
    add();
  } catch (const CompileError& e) { return std::string(code_name(e.diagnostic.code)); }
  return "";
}

struct Counts {
  int written = 0;
  std::map<std::string, int> left_out;
  void add(const std::string& why) { why.empty() ? ++written : ++left_out[why]; }
  bool print(const char* what) const {
    fmt::print("{}: {} artifacts", what, written);
    for (auto& [why, n] : left_out) fmt::print(", {} without: {}", n, why);
    fmt::print("\n");
    return written > 0;
  }
};

/// Each case of a file as PREFIX.CASE.
void write_cases(const Packer& packer, const fs::path& file, const std::string& prefix, const std::regex& filter,
                 Counts& counts) {
  for (const test::Case& c : test::load_case_file(file)) {
    const std::string name = fmt::format("{}.{}", prefix, c.name);
    if (std::regex_search(name, filter))
      counts.add(test::in_child([&] { return write_case(c, [&] { packer.add(name, *c.graph, c.inputs); }); }));
  }
}

bool write_matrix(const Packer& packer, const std::regex& filter) {
  Counts counts;
  for (const fs::path& file : test::case_files(CAMEO_SOURCE_DIR "/tests/ops"))
    write_cases(packer, file, "ops." + test::operator_of(file), filter, counts);
  write_cases(packer, CAMEO_SOURCE_DIR "/tests/gpu/large.case", "large", filter, counts);
  return counts.print("operator matrix");
}

void write_sizes(const Packer& packer, const std::regex& filter) {
  Counts counts;
  bool open = false;
  for (const fs::path& file : test::case_files(CAMEO_SOURCE_DIR "/tests/ops")) {
    const std::vector<test::Case> cases = test::load_case_file(file);
    const std::string name = fmt::format("sizes.{}", test::operator_of(file));
    if (cases.empty() || cases[0].inputs.empty() || !std::regex_search(name, filter)) continue;
    open = !open;
    const auto add = [&] { packer.add_over_sizes(name, *cases[0].graph, cases[0].inputs, open); };
    counts.add(test::in_child([&] { return write_case(cases[0], add); }));
  }
  counts.print("operators over sizes");
}

bool write_suite(const Packer& packer, const std::regex& filter, int each) {
  std::string note;
  std::vector<suite::Case> cases = suite::find_cases(CAMEO_SHARED, CAMEO_BINARY_DIR "/suite", note);
  std::map<std::string, int> of_operator;
  std::erase_if(cases, [&](const suite::Case& c) {
    return !std::regex_search("suite." + c.name, filter) || ++of_operator[c.main_op] > each;
  });
  Counts counts;
  for (const suite::Case& c : cases) {
    const auto engine = [&](const Model& model) -> suite::Runner {
      return [&](std::span<const Tensor> inputs) {
        packer.add("suite." + c.name, model.graph, inputs);
        return interpret(model.graph, inputs).rounded;
      };
    };
    suite::run_cases({&c, 1}, engine, 1, std::chrono::seconds(120), [&](const suite::Case&, const suite::Verdict& v) {
      counts.add(v.kind == suite::Verdict::Pass ? "" : std::string(suite::name(v.kind)));
    });
  }
  return counts.print(note.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"the operator matrix and the backend suite as artifacts with golden cases"};
  std::string folder, filter;
  std::vector<std::string> architectures{"ptx"};
  int each = 2;
  app.add_option("folder", folder, "where they go")->required();
  app.add_option("--architectures", architectures, "of GPUs")->delimiter(',');
  app.add_option("--filter", filter, "a regular expression that names (ops.add.scalars, suite.test_add) must contain");
  app.add_option("--suite", each, "tests of the backend suite for each operator");
  CLI11_PARSE(app, argc, argv);
  const Packer packer{folder, gpu_target(architectures)};
  const std::regex pattern(filter);
  fs::create_directories(folder);
  test::warm_up_compiler();
  const bool some = write_matrix(packer, pattern);
  write_sizes(packer, pattern);
  if (each > 0) write_suite(packer, pattern, each);
  return some ? 0 : 1;
}
