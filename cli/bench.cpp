// `bench` of two models or artifacts, or of one at several sizes: processes of their own, in turn, round by round, so
// that a busy hour of the machine falls on both; the ratio of their times is a mean of rounds with its 95% interval.
#include <fmt/format.h>

#include "cli/answer.h"
#include "cli/statistics.h"
#include "cli/verbs.h"

namespace cameo {
namespace {

/// The name of the outermost dim of its first input that a run decides; throws Failure where there is none.
std::string batch_dim(const Runnable& runnable) {
  const Json answer = answer_of(runnable, "inspect");
  for (const Json& input : answer.at("inputs"))
    if (input.contains("dim_names") && !input["dim_names"].empty() && input["dim_names"][0].is_string())
      return input["dim_names"][0].get<std::string>();
  throw Failure(kUsage,
                fmt::format("no input of `{}` has an outermost dim that a run decides", printable(runnable.title)),
                "a model is built for a range by `--dim NAME=1..32`");
}

class Contest {
 public:
  Contest(Console& console, const RunFlags& run) : console_(console), run_(run) {}

  void add(Runnable contender) {
    batches_.push_back(run_.batches.empty() ? "" : batch_dim(contender));
    contenders_.push_back(std::move(contender));
  }
  void run() {
    for (const int64_t batch : run_.batches.empty() ? std::vector<int64_t>{0} : run_.batches) measure(batch);
  }
  Json body() const { return {{"rounds", rounds_}, {"comparisons", comparisons_}}; }

 private:
  /// Nanoseconds of a run: the median of their latencies or, of several contexts, the time by their number.
  double time_of(size_t contender, int64_t batch) {
    std::vector<std::string> arguments = contenders_[contender].arguments;
    if (batch) arguments.insert(arguments.end(), {"--dim", fmt::format("{}={}", batches_[contender], batch)});
    const Json measured = answer_of(contenders_[contender], "bench", arguments).at("cases").at(0);
    contexts_ = measured.value("contexts", 1);
    if (contexts_ > 1) return 1e9 / measured.at("runs_per_second").get<double>();
    return measured.at("latency_ns").at("p50").get<double>();
  }

  void measure(int64_t batch) {
    std::vector<std::vector<double>> times(contenders_.size());
    for (int round = 0; round < rounds_; ++round)
      for (size_t i = 0; i < contenders_.size(); ++i) {  // each second round backwards
        const size_t contender = round % 2 ? contenders_.size() - 1 - i : i;
        console_.begin(fmt::format("round {} of {}", round + 1, rounds_));
        times[contender].push_back(time_of(contender, batch));
      }
    console_.end();
    report(batch, times);
  }

  void report(int64_t batch, const std::vector<std::vector<double>>& times) {
    Json j = Json::object();
    if (batch) console_.print(fmt::format("batch {}\n", batch)), j["batch"] = batch;
    Json& rows = j["contenders"] = Json::array();
    for (size_t i = 0; i < times.size(); ++i) {
      const double ns = median(times[i]);
      const std::string pace =
          contexts_ > 1 ? fmt::format("{:.1f} runs a second of {} contexts", 1e9 / ns, contexts_) : time_text(ns);
      std::string line = fmt::format("  {}  {}", printable(contenders_[i].title), pace);
      if (batch) line += fmt::format(", {} a sample", time_text(ns / static_cast<double>(batch)));
      console_.print(line + "\n");
      rows.push_back({{"name", contenders_[i].title}, {"ns", ns}, {"rounds_ns", times[i]}});
    }
    if (times.size() == 2) compare(times[0], times[1], j);
    comparisons_.push_back(std::move(j));
  }

  void compare(const std::vector<double>& first, const std::vector<double>& second, Json& j) {
    std::vector<double> ratios;
    for (size_t i = 0; i < first.size(); ++i) ratios.push_back(first[i] / second[i]);
    const RatioInterval r = interval_of(ratios);
    const int winner = r.low > 1 ? 1 : r.high < 1 ? 0 : -1;
    const std::string faster =
        winner < 0 ? "no difference is shown"
                   : fmt::format("`{}` is faster", printable(contenders_[static_cast<size_t>(winner)].title));
    console_.print(fmt::format(
        "  {}: the first takes {:.3f} times as long as the second ({}, {} rounds)\n", faster, r.mean,
        first.size() > 1 ? fmt::format("95%: {:.3f} to {:.3f}", r.low, r.high) : "no interval", first.size()));
    j["ratio"] = r.mean;
    j["interval"] = first.size() > 1 ? Json{r.low, r.high} : Json(nullptr);
    j["faster"] = winner < 0 ? "none" : winner ? "second" : "first";
  }

  Console& console_;
  const RunFlags& run_;
  std::vector<Runnable> contenders_;
  std::vector<std::string> batches_;  // the dim's name in each
  int contexts_ = 1;                  // that ran at the same time
  const int rounds_ = run_.rounds.value_or(7);
  Json comparisons_ = Json::array();
};

}  // namespace

int bench_verb(Console& console, const ModelFlags& flags, const RunFlags& run) {
  if (run.other.empty() && run.batches.empty()) {
    if (run.rounds) throw Failure(kUsage, "`--rounds` is of a comparison: name a second model, or sizes by `--batch`");
    return run_verb(console, "bench", flags, run);
  }
  Contest contest(console, run);
  for (const std::string& model : {flags.model, run.other}) {
    if (model.empty()) continue;
    ModelFlags one = flags;
    one.model = model;
    Diagnostics diagnostics;
    std::optional<Runnable> runnable = make_runnable(console, "bench", one, run, diagnostics);
    if (const int code = report_problems(console, one, diagnostics)) return code;
    contest.add(std::move(*runnable));
  }
  contest.run();
  if (console.json) console.document(contest.body(), kOk);
  return kOk;
}

}  // namespace cameo
