// `test` of a model: the artifact is built into the cache, loaded into a child (so that a crash ends a case and not the
// tool) and compared with the golden values by the reference interpreter's measure of error. Models beyond 10 GFLOP,
// where that would take minutes, are compared with the golden values alone unless --reference asks for it.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

#include "cli/artifact.h"
#include "cli/blame.h"
#include "cli/data.h"
#include "cli/interrupt.h"
#include "cli/loaded_model.h"
#include "cli/sizes.h"
#include "cli/verbs.h"
#include "codegen/goldens.h"
#include "frontend/reference/compare.h"
#include "optimizer/work.h"

namespace cameo {
namespace fs = std::filesystem;
namespace {

enum Verdict { kPass, kFail, kWrongData, kVerdicts };
constexpr std::string_view kVerdictWords[] = {"PASS", "FAIL", "DATA"};
constexpr std::string_view kVerdictNames[] = {"pass", "fail", "wrong_data"};

/// A model whose dims all have values or ranges, and its artifact.
struct Built {
  std::shared_ptr<const Graph> graph;
  FileDescriptor artifact;
  CompileOptions options;
};

struct Case {
  DataSet data;
  const Built* built;
  std::shared_ptr<const Graph> graph;  // at the sizes of its data
  Interface io;
  bool has_outputs;  // else the interpreter's are what is expected
};

class Tester {
 public:
  Tester(Console& console, const ModelFlags& flags, const RunFlags& run)
      : console_(console), run_(run), options_(read_model_flags(flags)) {}

  /// Everything that can be wrong before the first run.
  bool prepare(Diagnostics& diagnostics) {
    std::optional<Model> model = load_model(options_, console_, diagnostics);
    if (!model) return false;
    std::vector<std::string> data = run_.data;
    if (data.empty()) data = data_beside_model();
    for (const std::string& folder : data)
      for (const fs::path& set : find_data_sets(folder)) {
        const Built* built = build(*model, set, diagnostics);
        if (!built) return false;
        add_case(set, *built);
      }
    if (!data.empty()) return true;
    const Built* built = build(*model, {}, diagnostics);
    if (built) add_random_cases(*built);
    return built;
  }

  /// In the child. Prints; gives the exit code.
  int run() {
    Json cases = Json::array();
    for (const Case& c : cases_) cases.push_back(run_case(c));
    console_.end();
    const int failed = counts_[kFail], wrong = counts_[kWrongData];
    console_.print(fmt::format("{} of {} outputs in {} cases passed\n", counts_[kPass], checks_, cases_.size()));
    const int code = failed || wrong ? kAccuracy : kOk;
    if (console_.json)
      console_.document({{"name", fs::path(cases_[0].built->options.model_title).stem().string()},
                         {"cases", cases},
                         {"checks", checks_},
                         {"failures", failed},
                         {"wrong_data", wrong},
                         {"passed", code == kOk}},
                        code);
    if (console_.json) return code;
    if (failed) fmt::print(stderr, "error: {} of {} outputs are outside their tolerance\n", failed, checks_);
    if (wrong)
      fmt::print(
          stderr,
          "error: the golden data of {} of {} outputs are wrong: the artifact has what the reference interpreter "
          "has, they do not\n",
          wrong, checks_);
    return code;
  }

 private:
  std::vector<std::string> data_beside_model() const {
    const fs::path folder = options_.model.has_parent_path() ? options_.model.parent_path() : fs::path(".");
    if (fs::is_directory(folder / "test_data_set_0")) return {folder.string()};
    console_.note("note: no test data was named; random inputs, and the reference interpreter says what is expected");
    return {};
  }

  /// For the dims of a data set that have no range; models of equal dims are built once.
  const Built* build(const Model& unbound, const fs::path& set, Diagnostics& diagnostics) {
    CompileOptions options = options_;
    std::optional<Model> model = unbound;
    if (!set.empty() && !bind_from_data(model, options, shapes_of_data_set(set, unbound.graph), console_, diagnostics))
      return nullptr;
    for (const auto& b : built_)
      if (b->options.import.dims == options.import.dims) return b.get();
    auto b = std::make_unique<Built>();
    b->options = options;
    leave_open(model, options, "test", console_, diagnostics);
    if (!model) return nullptr;
    b->artifact = cached_artifact(*model, options, console_, diagnostics);
    if (!b->artifact.valid()) return nullptr;
    b->graph = std::make_shared<const Graph>(std::move(model->graph));
    return built_.emplace_back(std::move(b)).get();
  }

  static std::shared_ptr<const Graph> graph_at(const Built& built, const DimBinding& sizes, const std::string& what) {
    return sizes.empty() ? built.graph : std::make_shared<const Graph>(at_sizes(*built.graph, sizes, what));
  }
  void add_case(const fs::path& set, const Built& built) {
    DataSet data = read_data_set(set, interface_of(*built.graph));
    data.name = set.string();
    const auto graph = graph_at(built, data.sizes, fmt::format("`{}`", printable(data.name)));
    const bool has_outputs =
        std::ranges::any_of(data.outputs, [](const Tensor& t) { return t.dtype() != DType::undefined; });
    cases_.push_back({std::move(data), &built, graph, interface_of(*graph), has_outputs});
  }
  void add_random_cases(const Built& built) {
    constexpr uint64_t kCases = 3;
    for (uint64_t seed = 0; seed < kCases; ++seed) {
      const DimBinding sizes = sizes_of_case(*built.graph, seed);
      const std::string at = sizes.empty() ? "" : " at " + to_string(sizes),
                        name = fmt::format("random:{}{}", seed, at);
      const auto graph = graph_at(built, sizes, name);
      const Interface io = interface_of(*graph);
      DataSet data{name, random_inputs(io, seed), std::vector<Tensor>(io.outputs.size()), sizes};
      cases_.push_back({std::move(data), &built, graph, io, false});
    }
  }

  // ---- one case -----------------------------------------------------------------------------------------------------
  bool wants_reference(const Case& c) {
    if (run_.tolerance >= 0 && c.has_outputs) return false;
    if (run_.reference || run_.per_node || !c.has_outputs) return true;
    const double operations = estimate_operations(*c.graph);
    if (operations <= kMostOperations) return true;
    console_.note(fmt::format(
        "note: {:.1f} GFLOP a run; the golden data alone say what is right, to {:g} of each output's largest magnitude "
        "(--reference asks the interpreter, which takes longer)",
        operations / 1e9, default_share(options_)));
    return false;
  }

  Json run_case(const Case& c) {
    console_.begin("run");
    LoadedModel model(fmt::format("/proc/self/fd/{}", c.built->artifact.get()), run_.threads);
    const std::vector<Tensor> got = model.run(c.data.inputs, c.io);
    std::optional<Interpretation> reference;
    const std::optional<Graph> narrow_graph = narrowed(*c.graph, c.built->options);
    std::vector<Tensor> narrow;  // what its rounding makes
    if (wants_reference(c)) {
      console_.begin("reference");
      reference = interpret(*c.graph, c.data.inputs);
      if (narrow_graph) narrow = interpret(*narrow_graph, c.data.inputs).rounded;
    }
    console_.end();
    console_.print(printable(c.data.name) + "\n");
    Json outputs = Json::array();
    const int before = counts_[kFail];
    for (size_t i = 0; i < got.size(); ++i) {
      const Tensor& wanted = c.data.outputs[i];
      const bool given = wanted.dtype() != DType::undefined;
      if (!given && !reference) continue;
      const Check check =
          reference ? check_by_rule(got[i], reference->rounded[i], narrow.empty() ? reference->rounded[i] : narrow[i],
                                    reference->unrounded[i], given ? &wanted : nullptr)
                    : check_by_share(got[i], wanted);
      outputs.push_back(record(c.io.outputs[i], got[i], check));
    }
    Json j{{"name", c.data.name}, {"outputs", outputs}};
    if (run_.per_node)
      j["first_divergence"] = blame(c, narrow_graph ? *narrow_graph : *c.graph, model, counts_[kFail] > before);
    return j;
  }

  /// `graph`: what rounds as the artifact does.
  Json blame(const Case& c, const Graph& graph, LoadedModel& model, bool failed) {
    const Blame b = find_divergence(graph, c.io, model, c.data.inputs);
    console_.print("  " + b.sentence + "\n");
    if (!b.found && failed)
      console_.print(
          "  each value is right when it is written: it is overwritten too early, or is one that the model does not "
          "name\n");
    if (!b.found) return nullptr;
    return {{"node", b.node}, {"value", b.value}, {"max_error", b.error}, {"tolerance", b.tolerance}};
  }

  /// What one output came to, and by what it was judged.
  struct Check {
    Comparison result;
    std::optional<Comparison> golden;  // the golden data, from the reference
    std::string source;                // of the tolerance
    double share;                      // of the magnitude: the --tolerance that would pass
    Verdict verdict() const { return !result.pass ? kFail : golden && !golden->pass ? kWrongData : kPass; }
  };

  /// As --tolerance takes it, rounded up.
  static double share_of(double error, double magnitude) {
    return error == 0 ? 0 : magnitude > 0 ? error / magnitude * 1.001 : HUGE_VAL;
  }

  /// `rounded` is what the model's rounding makes, `narrow` what the artifact's does.
  static Check check_by_rule(const Tensor& got, const Tensor& rounded, const Tensor& narrow, const Tensor& exact,
                             const Tensor* golden) {
    Check c{{}, {}, "exact", 0};
    if (golden) c.golden = compare_golden(*golden, rounded, exact);
    const bool is_right = golden && c.golden->pass;
    c.result = compare(got, narrow, exact, is_right ? &*c.golden : nullptr);
    if (got.is_list()) return c;  // each element by the rule of its type
    const bool is_discrete = !is_float(got.dtype());
    if (is_discrete && is_right) c.result = compare_within(got, *golden, 0);  // more than either run of the interpreter
    if (is_discrete) return c;
    const double least = rt::tolerance_of(rt::kResultRule, static_cast<uint32_t>(got.dtype()), 0, magnitude_of(exact));
    const double data = is_right ? c.golden->max_error : 0, times = rt::kResultRule.times_error;
    c.source = c.result.tolerance <= least  ? fmt::format("{} ULP of the largest magnitude", rt::kResultRule.ulps)
               : c.result.tolerance <= data ? "the error of the golden data"
               : c.result.tolerance <= times * data ? fmt::format("{}x the error of the golden data", times)
                                                    : fmt::format("{}x the error of rounding", times);
    c.share = golden ? share_of(compare_within(got, *golden, 0).max_error, magnitude_of(*golden))
                     : share_of(c.result.max_error, magnitude_of(exact));
    return c;
  }

  Check check_by_share(const Tensor& got, const Tensor& wanted) const {
    const double magnitude = magnitude_of(wanted),
                 share = run_.tolerance >= 0 ? run_.tolerance : default_share(options_);
    if (got.is_list()) return {compare_within(got, wanted, share * magnitude), {}, "exact", 0};
    const bool by_the_rule = run_.tolerance < 0 && options_.precision == DType::f32;
    const rt::Tolerance tolerance{-1, by_the_rule ? -1 : share};
    Check c{compare_within(got, wanted, rt::tolerance_of(tolerance, static_cast<uint32_t>(got.dtype()), magnitude)),
            {},
            "exact",
            0};
    if (!is_float(got.dtype())) return c;
    c.share = share_of(c.result.max_error, magnitude);
    c.source = c.result.tolerance <= share * magnitude ? fmt::format("{:g} of the largest magnitude", share)
                                                       : "the least for golden data";
    return c;
  }

  Json record(const Interface::Io& output, const Tensor& got, const Check& c) {
    const std::string type = to_string(got.is_list() ? output.type : type_of(got));
    const Verdict verdict = c.verdict();
    ++checks_;
    ++counts_[verdict];
    std::string line = fmt::format("  {}  {} {}", kVerdictWords[verdict], printable(output.name), type);
    if (is_float(got.dtype())) {
      line +=
          fmt::format("  max error {:.3g}  tolerance {:.3g} ({})", c.result.max_error, c.result.tolerance, c.source);
      if (c.golden) line += fmt::format("  golden data {:.3g} of {:.3g}", c.golden->max_error, c.golden->tolerance);
      line += fmt::format("  the tolerance that would pass {:.3g}", c.share);
    }
    if (!c.result.pass) line += "  " + c.result.why;
    if (c.golden && !c.golden->pass) line += "  the golden data are wrong: " + c.golden->why;
    console_.print(line + "\n");
    const auto number = [](double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); };
    Json j{{"name", printable(output.name)},
           {"dtype", got.is_list() ? type : std::string(name(got.dtype()))},
           {"passed", verdict == kPass},
           {"verdict", kVerdictNames[verdict]},
           {"max_error", number(c.result.max_error)},
           {"tolerance", number(c.result.tolerance)},
           {"tolerance_source", c.source},
           {"tolerance_that_would_pass", number(c.share)},
           {"worst_index", c.result.worst},
           {"why", c.result.why}};
    if (c.golden)
      j["golden"] = {{"error", number(c.golden->max_error)},
                     {"tolerance", number(c.golden->tolerance)},
                     {"worst_index", c.golden->worst},
                     {"why", c.golden->why}};
    return j;
  }

  Console& console_;
  const RunFlags& run_;
  CompileOptions options_;
  std::vector<std::unique_ptr<Built>> built_;
  std::vector<Case> cases_;
  int checks_ = 0, counts_[kVerdicts] = {};
};

int run_cases(Tester& tester, Console& console) {
  int code = kBug;
  try {
    return tester.run();
  } catch (const CompileError&) {  // of the interpreter: the model does not run on these data
    console.report_exception();
    code = kBadData;
  } catch (...) { code = console.report_exception(); }
  if (console.json) console.document({{"passed", false}}, code);
  return code;
}

/// Runs in a child, whose exit code or end by a signal is the answer.
int run_in_child(Tester& tester, Console& console) {
  std::fflush(nullptr);
  const pid_t child = fork_to_answer();
  if (child < 0) throw Failure(kMemory, fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (child == 0) ::_exit(console.finish(run_cases(tester, console)));
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  if (WIFSIGNALED(status))
    throw Failure(
        kBug, fmt::format("the artifact ended with signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status))),
        "this is a bug of cameo, not of your model");
  return WEXITSTATUS(status);
}

}  // namespace

int test_verb(Console& console, const ModelFlags& flags, const RunFlags& run) {
  if (is_artifact(flags.model)) {
    if (run.per_node || run.reference)
      throw Failure(kUsage,
                    "`--per-node` and `--reference` need the model: the interpreter reads it, not the artifact");
    return run_verb(console, "test", flags, run);
  }
  Tester tester(console, flags, run);
  Diagnostics diagnostics;
  bool ready = false;
  try {
    ready = tester.prepare(diagnostics);
  } catch (const CompileError& e) { diagnostics.add(e.diagnostic); }
  console.end();
  console.report(diagnostics);
  if (ready && !diagnostics.has_errors()) return run_in_child(tester, console);
  const int code = exit_code_of(diagnostics);
  if (console.json) console.document({{"passed", false}}, code);
  return code;
}

}  // namespace cameo
