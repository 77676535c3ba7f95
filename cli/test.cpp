// `test` of a model: the artifact is built into the cache, loaded into a child (so that a crash ends a case and not the
// tool) and compared with the golden values by the reference interpreter's measure of error. Models beyond 2 GFLOP,
// where that would take minutes, are compared with the golden values alone unless --reference asks for it.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstring>

#include "cli/artifact.h"
#include "cli/blame.h"
#include "cli/data.h"
#include "cli/loaded_model.h"
#include "cli/verbs.h"
#include "codegen/goldens.h"
#include "frontend/compare.h"

namespace cameo {
namespace fs = std::filesystem;
namespace {

constexpr double kDefaultShare = 1e-3, kAlwaysUlps = 32, kTimesReference = 4;

/// A model with all dims bound, and its artifact.
struct Built {
  Model model;
  Interface io;
  fs::path artifact;
  CompileOptions options;
};

struct Case {
  DataSet data;
  const Built* built;
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
    console_.print(fmt::format("{} of {} outputs in {} cases passed\n", checks_ - failures_, checks_, cases_.size()));
    const int code = failures_ ? kAccuracy : kOk;
    if (console_.json)
      console_.document({{"name", fs::path(cases_[0].built->options.called).stem().string()},
                         {"cases", cases},
                         {"checks", checks_},
                         {"failures", failures_},
                         {"passed", failures_ == 0}},
                        code);
    if (failures_ && !console_.json)
      fmt::print(stderr, "error: {} of {} outputs are outside their tolerance\n", failures_, checks_);
    return code;
  }

 private:
  std::vector<std::string> data_beside_model() const {
    const fs::path folder = options_.model.has_parent_path() ? options_.model.parent_path() : fs::path(".");
    if (fs::is_directory(folder / "test_data_set_0")) return {folder.string()};
    console_.note("note: no test data was named; random inputs, and the reference interpreter says what is expected");
    return {};
  }

  /// For the dims of a data set; models of equal dims are built once.
  const Built* build(const Model& unbound, const fs::path& set, Diagnostics& diagnostics) {
    CompileOptions options = options_;
    std::optional<Model> model = unbound;
    if (!set.empty() && !bind_from_data(model, options, shapes_of_data_set(set, unbound.graph), console_, diagnostics))
      return nullptr;
    for (const auto& b : built_)
      if (b->options.import.dims == options.import.dims) return b.get();
    auto b = std::make_unique<Built>();
    b->options = options;
    require_bound(*model, options, "test", diagnostics);
    if (diagnostics.has_errors()) return nullptr;
    b->model = std::move(*model);
    b->io = interface_of(b->model.graph);
    b->artifact = cached_artifact(b->model, options, console_, diagnostics);
    if (b->artifact.empty()) return nullptr;
    return built_.emplace_back(std::move(b)).get();
  }

  void add_case(const fs::path& set, const Built& built) {
    Case c{read_data_set(set, built.io), &built, false};
    for (const Tensor& t : c.data.outputs) c.has_outputs |= t.dtype() != DType::undefined;
    c.data.name = set.string();
    cases_.push_back(std::move(c));
  }
  void add_random_cases(const Built& built) {
    constexpr uint64_t kCases = 3;
    for (uint64_t seed = 0; seed < kCases; ++seed)
      cases_.push_back({{fmt::format("random:{}", seed), random_inputs(built.io, seed),
                         std::vector<Tensor>(built.io.outputs.size())},
                        &built,
                        false});
  }

  // ---- one case -----------------------------------------------------------------------------------------------------
  bool wants_reference(const Case& c) {
    if (run_.tolerance >= 0 && c.has_outputs) return false;
    if (run_.reference || run_.per_node || !c.has_outputs) return true;
    const double operations = estimate_operations(c.built->model.graph);
    if (operations <= kMostOperations) return true;
    console_.note(
        fmt::format("note: {:.1f} GFLOP a run; the tolerance is 1e-3 of each output's largest magnitude (--reference "
                    "computes a better one)",
                    operations / 1e9));
    return false;
  }

  Json run_case(const Case& c) {
    console_.begin("run");
    LoadedModel model(c.built->artifact, run_.threads);
    const std::vector<Tensor> got = model.run(c.data.inputs, c.built->io);
    std::optional<Interpretation> reference;
    if (wants_reference(c)) {
      console_.begin("reference");
      reference = interpret(c.built->model.graph, c.data.inputs);
    }
    console_.end();
    console_.print(printable(c.data.name) + "\n");
    Json outputs = Json::array();
    const int before = failures_;
    for (size_t i = 0; i < got.size(); ++i) {
      const Tensor& wanted = c.data.outputs[i];
      const bool given = wanted.dtype() != DType::undefined;
      if (!given && !reference) continue;
      outputs.push_back(reference ? check_by_rule(c, i, got[i], *reference, given ? &wanted : nullptr)
                                  : check_by_share(c, i, got[i], wanted));
    }
    Json j{{"name", c.data.name}, {"outputs", outputs}};
    if (run_.per_node) j["first_divergence"] = blame(c, model, failures_ > before);
    return j;
  }

  Json blame(const Case& c, LoadedModel& model, bool failed) {
    const Blame b = find_divergence(c.built->model.graph, c.built->io, model, c.data.inputs);
    console_.print("  " + b.sentence + "\n");
    if (!b.found && failed)
      console_.print(
          "  each value is right when it is written: it is overwritten too early, or is one that the model does not "
          "name\n");
    if (!b.found) return nullptr;
    return {{"node", b.node}, {"value", b.value}, {"max_error", b.error}, {"tolerance", b.tolerance}};
  }

  static double magnitude_of(const Tensor& t) {
    double largest = 0;
    for (int64_t i = 0; i < t.size(); ++i)
      if (const double v = std::fabs(t.get(i)); std::isfinite(v)) largest = std::max(largest, v);
    return largest;
  }

  /// What the tolerance came from.
  static std::string source_of(const Comparison& c, const Tensor& rounded, const Tensor& unrounded,
                               const Tensor* golden) {
    if (c.tolerance <= kAlwaysUlps * ulp_of(rounded.dtype(), magnitude_of(unrounded)))
      return "32 ULP of the largest magnitude";
    const double own = compare(rounded, rounded, unrounded).max_error;
    if (!golden || kTimesReference * own >= c.tolerance) return "4x the error of rounding";
    return "4x the error of the golden values";
  }

  Json check_by_rule(const Case& c, size_t i, const Tensor& got, const Interpretation& r, const Tensor* golden) {
    const Comparison result = compare(got, r.rounded[i], r.unrounded[i], golden);
    const std::string source =
        is_float(got.dtype()) ? source_of(result, r.rounded[i], r.unrounded[i], golden) : "exact";
    return record(c, i, result, magnitude_of(r.unrounded[i]), source);
  }

  Json check_by_share(const Case& c, size_t i, const Tensor& got, const Tensor& wanted) {
    Comparison result = compare(got, wanted, wanted);
    const double magnitude = magnitude_of(wanted), ulps = kAlwaysUlps * ulp_of(got.dtype(), magnitude);
    const double share = run_.tolerance >= 0 ? run_.tolerance : kDefaultShare;
    if (is_float(got.dtype())) {
      result.tolerance = run_.tolerance >= 0 ? share * magnitude : std::max(share * magnitude, ulps);
      result.pass = result.max_error <= result.tolerance;
    }
    return record(c, i, result, magnitude,
                  is_float(got.dtype()) ? fmt::format("{:g} of the largest magnitude", share) : "exact");
  }

  Json record(const Case& c, size_t i, const Comparison& result, double magnitude, const std::string& source) {
    const Interface::Io& io = c.built->io.outputs[i];
    ++checks_;
    failures_ += !result.pass;
    // as --tolerance takes it: a share of the magnitude, rounded up
    const double would_pass = result.max_error == 0 ? 0
                              : magnitude > 0       ? result.would_pass / magnitude * 1.001
                                                    : HUGE_VAL;
    std::string line =
        fmt::format("  {}  {} {}", result.pass ? "PASS" : "FAIL", printable(io.name), to_string(io.type));
    if (is_float(io.type.dtype))
      line += fmt::format("  max error {:.3g}  tolerance {:.3g} ({})  the tolerance that would pass {:.3g}",
                          result.max_error, result.tolerance, source, would_pass);
    if (!result.pass) line += "  " + result.why;
    console_.print(line + "\n");
    const auto number = [](double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); };
    return {{"name", printable(io.name)},  {"dtype", name(io.type.dtype)},
            {"passed", result.pass},       {"max_error", number(result.max_error)},
            {"magnitude", magnitude},      {"tolerance", number(result.tolerance)},
            {"tolerance_source", source},  {"tolerance_that_would_pass", number(would_pass)},
            {"worst_index", result.worst}, {"why", result.why}};
  }

  Console& console_;
  const RunFlags& run_;
  CompileOptions options_;
  std::vector<std::unique_ptr<Built>> built_;
  std::vector<Case> cases_;
  int checks_ = 0, failures_ = 0;
};

/// Runs in a child, whose exit code or end by a signal is the answer.
int run_in_child(Tester& tester, Console& console) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw Failure(kMemory, fmt::format("cannot start a process: {}", std::strerror(errno)));
  if (child == 0) {
    int code = kBug;
    try {
      code = tester.run();
    } catch (const Failure& f) {
      console.report(f);
      code = f.code;
      if (console.json) console.document({{"passed", false}}, code);
    } catch (const CompileError& e) {
      Diagnostics d;
      d.add(e.diagnostic);
      console.report(d);
      code = kBadData;
      if (console.json) console.document({{"passed", false}}, code);
    } catch (const std::bad_alloc&) {
      console.report(Failure(kMemory, "out of memory"));
      code = kMemory;
    }
    ::_exit(console.finish(code));
  }
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
