// See tune.h.
#include "cli/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <sstream>

#include "cli/answer.h"
#include "cli/interrupt.h"
#include "cli/outputs.h"
#include "cli/processor.h"
#include "cli/tuner.h"
#include "codegen/paths.h"

namespace cameo {
namespace {

constexpr std::string_view kMode = "max-autotune";

double read_budget(const std::string& text) {
  constexpr std::pair<std::string_view, double> kUnits[] = {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}};
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  for (const auto& [unit, seconds] : kUnits)
    if (error == std::errc() && number > 0 && std::isfinite(number) && unit == end) return number * seconds;
  throw Failure(kUsage, fmt::format("`--budget={}` is no time", printable(text)), "--budget=60s, 2m, 500ms");
}

/// How wide a processor's instructions are, in the order of the named targets.
std::ptrdiff_t rank_of_processor(const Target& t) {
  return std::ranges::find(named_targets(), t.name, &Target::name) - named_targets().begin();
}

void require_measurable(const CompileOptions& options) {
  if (options.stop != Stop::Artifact)
    throw Failure(kUsage,
                  "`--mode=max-autotune` builds an artifact: `--emit` prints stages of a build that obeys its "
                  "lock");
  const bool runs_here = options.targets.size() == 1 && !options.targets[0].is_gpu() &&
                         rank_of_processor(options.targets[0]) <= rank_of_processor(native_target(DType::bf16));
  if (!runs_here)
    throw Failure(kUsage, "`--mode=max-autotune` measures one target, a processor's that this machine can run",
                  fmt::format("--target=cpu:{}", native_target(options.precision).name));
}

bool has_element(const Interface::Io& input, const std::string& symbol) {
  return std::ranges::any_of(input.content, [&](Expr element) {
    const auto size = symbol_of_element(element);
    return size && symbol_name(*size) == symbol;
  });
}

void require_one_size(const Model& model) {
  const Interface io = interface_of(model.graph);
  std::string size;
  visit_symbols(io, [&](Expr e) { size = size.empty() ? symbol_name(e) : size; });
  if (size.empty()) return;
  const std::string sentence = "`--mode=max-autotune` measures runs of one size, and ";
  for (const Interface::Io& input : io.inputs)
    if (has_element(input, size))
      throw Failure(kUsage, sentence + fmt::format("the elements of `{}` decide shapes", printable(input.name)),
                    fmt::format("--const {}", shell_word(input.name + (input.type.shape.empty() ? "=.." : "=[..]"))));
  throw Failure(kUsage, sentence + fmt::format("`{}` is any", printable(size)),
                fmt::format("--dim {}", shell_word(size + "=1")));
}

std::string text_of_file(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

/// Builds in memory, and processes that run what was built.
class ModelWorkshop final : public Workshop {
 public:
  ModelWorkshop(const Model& model, const CompileOptions& options, const TuneOptions& tuning, Console& console)
      : model_(model), options_(options), tuning_(tuning), console_(console) {
    quiet_.quiet = true;
    options_.with_program = true;  // it is what runs a trial
  }

  Trial build(const ChoiceLock& lock) override {
    show_progress();
    take_lock(options_.targets[0], std::make_shared<const ChoiceLock>(lock));
    Diagnostics diagnostics;
    const Planned planned = plan_model(model_, options_, quiet_, diagnostics);
    for (const Diagnostic& d : diagnostics.all())
      if (!is_warning(d.code)) throw CompileError(d);
    const Plan& plan = planned.module.plans.at(0);
    Trial trial{plan.target.name,
                rivalries_of_claims(plan, *planned.module.sources),
                rivalries_of_kernels(plan, *planned.module.sources),
                {},
                choices_text(plan),
                {}};
    for (const Kernel& k : plan.kernels) trial.problems[k.symbol] = k.problems;
    trial.artifact = {planned.module.name, build_in_memory(planned.module, options_, quiet_), {}};
    return trial;
  }

  /// As many runs as a small share of a second holds.
  void prepare(const Trial& first) override {
    show_progress();
    const Json answer = answer_of(first.artifact, "bench", arguments(1));
    const double ns = answer.at("cases").at(0).at("latency_ns").at("min").get<double>();
    runs_ = static_cast<int>(std::clamp(kRoundNs / std::max(ns, 1.0), 1.0, 1e4));
  }

  StepTimes time_steps(const Trial& trial) override {
    StepTimes steps;
    const Json profile = run(trial, "profile");
    for (const Json& node : profile.at("nodes")) {
      if (node.at("kernel").is_null()) continue;
      steps.push_back({node["kernel"], node["names"], node["ns"]});
    }
    return steps;
  }

  double time_run(const Trial& trial) override {
    return run(trial, "bench").at("cases").at(0).at("latency_ns").at("p50").get<double>();
  }
  double seconds() const override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - opened_).count();
  }
  bool is_stopped() const override { return interrupted(); }

 private:
  Json run(const Trial& trial, const std::string& verb) {
    show_progress();
    const double start = seconds();
    Json answer = answer_of(trial.artifact, verb, arguments(runs_), limit_);
    if (std::isinf(limit_)) limit_ = kMostTimes * (seconds() - start) + kLimitSeconds;
    return answer;
  }
  /// Of a slow model also the first run of a process is timed, and none before it.
  std::vector<std::string> arguments(int runs) const {
    std::vector<std::string> words{"--runs", fmt::format("{}", runs), "--warmup", runs > 1 ? "1" : "0"};
    if (!tuning_.threads.empty()) words.insert(words.end(), {"--threads", tuning_.threads});
    return words;
  }
  void show_progress() {
    console_.progress("tune", static_cast<size_t>(seconds()), static_cast<size_t>(tuning_.budget_seconds));
  }

  static constexpr double kRoundNs = 1.5e8, kMostTimes = 10, kLimitSeconds = 5;
  const Model& model_;
  CompileOptions options_;
  const TuneOptions& tuning_;
  Console& console_;
  Console quiet_;
  const std::chrono::steady_clock::time_point opened_ = std::chrono::steady_clock::now();
  int runs_ = 1;             // of a process
  double limit_ = HUGE_VAL;  // seconds of one: many times what the first one took
};

// ---- the lock

/// What was measured of a problem, behind its row.
std::string comment_of(const std::string& problem, const Tuned& tuned, const std::string& machine) {
  const bool kept = tuned.interrupted || (tuned.verdict && tuned.verdict->is_kept);
  for (const Finding& f : tuned.findings) {
    if (!f.tried || std::ranges::find(f.rivalry.problems, problem) == f.rivalry.problems.end()) continue;
    if (!f.better || !kept) return fmt::format("  # {}: {}", machine, time_text(f.ns));
    return fmt::format("  # {}: {}, not {} by {} {}", machine, time_text(f.better->ns), time_text(f.ns),
                       name_of_family(f.rivalry.won), f.rivalry.won.choice.text());
  }
  return "";
}

std::string lock_text(const std::string& before, const Tuned& tuned, const std::string& machine) {
  std::string rows;
  std::istringstream lines(tuned.choices);
  for (std::string line; std::getline(lines, line);)
    rows += line + comment_of(problem_of_row(line), tuned, machine) + "\n";
  const std::string title =
      "# Choices of kernels, as `cameo build --tune-lock=FILE` takes them: TARGET PROBLEM AXES FAMILY CHOICE\n";
  return with_rows(before.empty() ? title : before, rows);
}

// ---- the report

std::string way_text(const Alternative& a) {
  const std::string choice = a.choice.text();
  return fmt::format("{}{}{}", name_of_family(a), choice.empty() ? "" : " ", choice);
}

std::string line_of(const Finding& f) {
  const Finding::Better& b = *f.better;
  std::string names = f.rivalry.nodes.empty() ? "" : printable(f.rivalry.nodes[0]);
  if (f.rivalry.nodes.size() > 1) names += fmt::format(" and {} more", f.rivalry.nodes.size() - 1);
  return fmt::format("{:10.2f} {:10.2f} {:6.1f}% {:6.1f}%  {}: {}, not {}; prices {:.4g} and {:.4g} us\n", f.ns / 1e3,
                     b.ns / 1e3, 100 * (1 - b.ns / f.ns), 100 * f.share, names, way_text(b.way),
                     way_text(f.rivalry.won), b.way.seconds * 1e6, f.rivalry.won.seconds * 1e6);
}

Json json_of(const Finding& f) {
  Json j{{"nodes", f.rivalry.nodes},
         {"problems", f.rivalry.problems},
         {"share", f.share},
         {"ns", f.ns},
         {"choice", way_text(f.rivalry.won)},
         {"price_ns", f.rivalry.won.seconds * 1e9},
         {"rivals", f.rivalry.rivals.size()},
         {"tried", f.tried}};
  if (f.better)
    j["better"] = {
        {"choice", way_text(f.better->way)}, {"price_ns", f.better->way.seconds * 1e9}, {"ns", f.better->ns}};
  return j;
}

std::string verdict_text(const Tuned& tuned) {
  if (!tuned.verdict && !tuned.trials) return "there was no time to try anything; a larger `--budget` gives some\n";
  if (!tuned.verdict) return "nothing was found to be clearly faster than what it began with\n";
  const Tuned::Verdict& v = *tuned.verdict;
  const std::string times =
      fmt::format("{:.3f} of its time (95%: {:.3f} to {:.3f}, {} rounds), at best {} in place of {}\n", v.ratio.mean,
                  v.ratio.low, v.ratio.high, v.rounds, time_text(v.after_ns), time_text(v.before_ns));
  return (v.is_kept ? "a run now takes " : "what is faster by itself is not kept, for together it takes ") + times;
}

/// What the budget was spent on, and what it did not reach.
std::string account_of(const Tuned& tuned, double seconds, double budget) {
  size_t tried = 0, left = 0, kernels = 0;
  for (const Finding& f : tuned.findings) {
    tried += f.tried;
    left += f.rivalry.rivals.size() - f.tried;
    kernels += f.tried < f.rivalry.rivals.size();
  }
  std::string text = fmt::format("{} other ways were measured in {} build{}, in {:.1f} of {:.4g} s", tried,
                                 tuned.trials, tuned.trials == 1 ? "" : "s", seconds, budget);
  if (left)
    text += fmt::format("; {} ways to compute {} kernels were not: no time was left, or the kernels take next to none",
                        left, kernels);
  return text + "\n";
}

/// What builds the same again, beside the other flags of this build.
std::string flags_of_lock(const TuneOptions& tuning, const CompileOptions& options) {
  return fmt::format("--target=cpu:{} --tune-lock={}", options.targets[0].name, shell_word(tuning.lock.string()));
}

TuneReport report_of(const Tuned& tuned, const TuneOptions& tuning, const std::string& machine, double seconds,
                     const std::string& flags) {
  TuneReport report;
  std::vector<const Finding*> changed;
  for (const Finding& f : tuned.findings)
    if (f.better) changed.push_back(&f);
  std::ranges::stable_sort(changed, std::greater(), [](const Finding* f) { return f->ns - f->better->ns; });
  std::string table;
  for (const Finding* f : changed) table += line_of(*f);
  if (!table.empty()) table = "    was us      is us    gain  of run\n" + table;
  for (const std::string& d : tuned.dropped) table += "  dropped " + d + "\n";
  report.text =
      fmt::format("  tuned on {}: {}{}  {}  its lock: `{}` with the other flags as here builds the same\n", machine,
                  verdict_text(tuned), table, account_of(tuned, seconds, tuning.budget_seconds), flags);
  Json& j = report.json;
  j = {{"machine", machine},
       {"lock", tuning.lock.string()},
       {"seconds", seconds},
       {"budget_seconds", tuning.budget_seconds},
       {"trials", tuned.trials},
       {"dropped", tuned.dropped},
       {"kept", tuned.verdict && tuned.verdict->is_kept}};
  if (const auto& v = tuned.verdict)
    j["verdict"] = {{"before_ns", v->before_ns},
                    {"after_ns", v->after_ns},
                    {"ratio", v->ratio.mean},
                    {"interval", {v->ratio.low, v->ratio.high}},
                    {"rounds", v->rounds}};
  Json& findings = j["problems"] = Json::array();
  for (const Finding& f : tuned.findings) findings.push_back(json_of(f));
  return report;
}

std::string machine_text(const TuneOptions& tuning) {
  return processor_name() +
         (tuning.threads.empty() ? "" : fmt::format(", {} thread{}", tuning.threads, tuning.threads == "1" ? "" : "s"));
}

}  // namespace

std::optional<TuneOptions> take_tuning(ModelFlags& flags, const BuildFlags& build) {
  if (flags.mode != kMode) {
    if (!build.budget.empty() || !build.threads.empty())
      throw Failure(kUsage,
                    fmt::format("`--{}` is of `--mode=max-autotune`", build.budget.empty() ? "threads" : "budget"));
    return std::nullopt;
  }
  TuneOptions tuning;
  if (!build.budget.empty()) tuning.budget_seconds = read_budget(build.budget);
  tuning.threads = build.threads;
  tuning.lock = flags.tune_lock;
  flags.mode.clear();
  if (!std::filesystem::exists(tuning.lock)) flags.tune_lock.clear();
  return tuning;
}

void place_lock(TuneOptions& tuning, const CompileOptions& options) {
  require_measurable(options);
  if (tuning.lock.empty() && is_no_file(options))
    throw Failure(kUsage,
                  fmt::format("`-o {}` is no file that a lock could lie beside", printable(options.output.string())),
                  "--tune-lock=FILE");
  if (tuning.lock.empty()) tuning.lock = beside_output(options, ".lock");
  require_kept(options, tuning.lock, fmt::format("the lock, `{}`", printable(tuning.lock.string())));
  Status status;
  OutputFile::create(tuning.lock.string(), false, status);
  require_written(status);
}

TuneReport tune_model(const Model& model, CompileOptions& options, const TuneOptions& tuning, Console& console) {
  require_one_size(model);
  const std::string before = text_of_file(tuning.lock), machine = machine_text(tuning);
  const DeferInterrupts defer;
  ModelWorkshop workshop(model, options, tuning, console);
  const Tuned tuned = tune(workshop, ChoiceLock(before), tuning.budget_seconds);
  console.end();
  const std::string lock = lock_text(before, tuned, machine);
  require_written(write_file(tuning.lock.string(), {as_bytes(lock)}));
  if (tuned.interrupted)
    throw Failure(kInterrupted,
                  fmt::format("interrupted; what was found until then is in `{}`", printable(tuning.lock.string())));
  take_lock(options.targets[0], std::make_shared<const ChoiceLock>(lock));
  return report_of(tuned, tuning, machine, workshop.seconds(), flags_of_lock(tuning, options));
}

}  // namespace cameo
