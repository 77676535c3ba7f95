// See tuner.h.
#include "cli/tuner.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace cameo {
namespace {

constexpr double kClearly = 0.98;      // of a time: what is not clearly faster is no better
constexpr double kTogether = 0.995;    // the same of a whole run
constexpr double kWorthwhile = 0.003;  // of a run's time: what takes less is not tried
constexpr size_t kLeastRounds = 4, kMostRounds = 10;
constexpr size_t kShownRounds = 6, kMostRoundsOfVerdict = 15;

double nanoseconds_of_nodes(const StepTimes& steps, const std::set<std::string>& nodes) {
  double sum = 0;
  for (const StepTime& s : steps)
    if (std::ranges::any_of(s.nodes, [&](const std::string& n) { return nodes.contains(n); })) sum += s.ns;
  return sum;
}

double nanoseconds_of_problems(const StepTimes& steps, const Trial& trial, const std::vector<std::string>& problems) {
  double sum = 0;
  for (const StepTime& s : steps) {
    const auto solved = trial.problems.find(s.kernel);
    if (solved != trial.problems.end() && std::ranges::find_first_of(solved->second, problems) != solved->second.end())
      sum += s.ns;
  }
  return sum;
}

/// These nodes and all that share a step with them in either build, where they are divided into other kernels.
std::set<std::string> computed_with(const std::vector<std::string>& nodes, const StepTimes& a, const StepTimes& b) {
  std::set<std::string> all(nodes.begin(), nodes.end());
  for (size_t before = 0; before != all.size();) {
    before = all.size();
    for (const StepTimes* steps : {&a, &b})
      for (const StepTime& s : *steps)
        if (std::ranges::any_of(s.nodes, [&](const std::string& n) { return all.contains(n); }))
          all.insert(s.nodes.begin(), s.nodes.end());
  }
  return all;
}

/// The times of two builds, by rounds.
struct Duel {
  std::vector<double> base, rival;

  static double least(const std::vector<double>& times, size_t first, size_t step) {
    double ns = HUGE_VAL;
    for (size_t i = first; i < times.size(); i += step) ns = std::min(ns, times[i]);
    return ns;
  }
  /// Each half of the rounds says so by itself.
  bool is_won(double share) const {
    for (size_t half : {0u, 1u})
      if (!(least(rival, half, 2) < share * least(base, half, 2))) return false;
    return true;
  }
};

class Tuner {
 public:
  Tuner(Workshop& workshop, const ChoiceLock& start, double budget)
      : workshop_(workshop), lock_(start), budget_(budget) {}

  Tuned tune() {
    const Trial first = build(lock_);
    tuned_.choices = first.choices;
    pace(first);
    try_rivals(first, first.claims);
    // where other nodes stay whole now, other kernels are to be tried
    if (const auto divided = found_better() ? rebuild() : std::nullopt)
      try_rivals(*divided, divided->kernels);
    else
      try_rivals(first, first.kernels);
    tuned_.interrupted = workshop_.is_stopped();
    if (found_better()) decide(first);
    return std::move(tuned_);
  }

 private:
  Trial build(const ChoiceLock& lock) {
    const double start = workshop_.seconds();
    Trial trial = workshop_.build(lock);
    build_seconds_ = std::max(build_seconds_, workshop_.seconds() - start);
    return trial;
  }
  /// Null where that fails, which `what` is dropped for.
  std::optional<Trial> try_build(const ChoiceLock& lock, const std::string& what) {
    try {
      return build(lock);
    } catch (const std::exception& e) { return drop(what, e), std::nullopt; }
  }
  std::optional<Trial> rebuild() { return has_time() ? try_build(lock_, "the claims that won") : std::nullopt; }
  void drop(const std::string& what, const std::exception& e) {
    if (!workshop_.is_stopped()) tuned_.dropped.push_back(fmt::format("{}: {}", what, e.what()));
  }

  /// How long a round takes, and so how many there are.
  void pace(const Trial& first) {
    workshop_.prepare(first);
    const double start = workshop_.seconds();
    workshop_.time_steps(first);
    round_seconds_ = 2 * (workshop_.seconds() - start);
    const double wanted = budget_ / 10 / std::max(round_seconds_, 1e-6);
    rounds_ = std::clamp(static_cast<size_t>(std::min(wanted, 1e3)), kLeastRounds, kMostRounds) / 2 * 2;
  }
  double seconds_of(size_t rounds) const { return build_seconds_ + static_cast<double>(rounds) * round_seconds_; }
  /// For a trial, and for the verdict behind it.
  bool has_time() const {
    return !workshop_.is_stopped() && workshop_.seconds() + seconds_of(rounds_) + seconds_of(kLeastRounds) <= budget_;
  }
  bool found_better() const {
    return std::ranges::any_of(tuned_.findings, [](const Finding& f) { return f.better.has_value(); });
  }

  // ---- trials
  void try_rivals(const Trial& base, const std::vector<Rivalry>& rivalries) {
    if (rivalries.empty()) return;
    const size_t before = tuned_.findings.size();
    for (const Rivalry& r : rivalries) tuned_.findings.push_back({r, 0, 0, 0, {}});
    const std::span<Finding> all = std::span(tuned_.findings).subspan(before);
    share_out(base, all);
    for (size_t turn = 0;; ++turn) {
      std::vector<Finding*> tried;
      for (Finding& f : all)
        if (turn < f.rivalry.rivals.size() && f.share >= kWorthwhile) tried.push_back(&f);
      if (tried.empty() || !has_time()) break;
      run_trial(base, tried, turn);
    }
    for (const Finding& f : all)
      if (f.better) take(lock_, base, f.rivalry, f.better->way);
  }

  void share_out(const Trial& base, std::span<Finding> findings) {
    const StepTimes steps = workshop_.time_steps(base);
    double all = 0;
    for (const StepTime& s : steps) all += s.ns;
    for (Finding& f : findings) {
      f.ns = f.rivalry.of_claim ? nanoseconds_of_nodes(steps, {f.rivalry.nodes.begin(), f.rivalry.nodes.end()})
                                : nanoseconds_of_problems(steps, base, f.rivalry.problems);
      f.share = all > 0 ? f.ns / all : 0;
    }
  }

  static void take(ChoiceLock& lock, const Trial& base, const Rivalry& r, const Alternative& way) {
    for (const std::string& problem : r.problems)
      lock.set(base.target, problem, {std::string(name_of_family(way)), way.choice.text()});
  }

  /// All of these take the rival whose turn it is.
  void run_trial(const Trial& base, const std::vector<Finding*>& tried, size_t turn) {
    ChoiceLock lock = lock_;
    for (const Finding* f : tried) take(lock, base, f->rivalry, f->rivalry.rivals[turn]);
    const std::string what = fmt::format("trial {}", ++tuned_.trials);
    const auto trial = try_build(lock, what);
    if (!trial) return;
    try {
      const std::vector<Duel> duels = duel(base, *trial, tried);
      for (size_t i = 0; i < tried.size(); ++i) note(*tried[i], duels[i], turn);
    } catch (const std::exception& e) { drop(what, e); }
  }

  std::vector<Duel> duel(const Trial& base, const Trial& trial, const std::vector<Finding*>& tried) {
    std::vector<Duel> duels(tried.size());
    for (size_t round = 0; round < rounds_ && !workshop_.is_stopped(); ++round) {
      StepTimes of_base, of_trial;
      if (round % 2 == 0) of_base = workshop_.time_steps(base);
      of_trial = workshop_.time_steps(trial);
      if (round % 2 == 1) of_base = workshop_.time_steps(base);
      for (size_t i = 0; i < tried.size(); ++i) {
        const Rivalry& r = tried[i]->rivalry;
        if (r.of_claim) {
          const auto nodes = computed_with(r.nodes, of_base, of_trial);
          duels[i].base.push_back(nanoseconds_of_nodes(of_base, nodes));
          duels[i].rival.push_back(nanoseconds_of_nodes(of_trial, nodes));
        } else {
          duels[i].base.push_back(nanoseconds_of_problems(of_base, base, r.problems));
          duels[i].rival.push_back(nanoseconds_of_problems(of_trial, trial, r.problems));
        }
      }
    }
    return duels;
  }

  static void note(Finding& f, const Duel& d, size_t turn) {
    if (d.base.size() < 2) return;  // interrupted
    f.tried = turn + 1;
    // of a claim the nodes that are compared may be more than its own
    f.ns = std::min(f.rivalry.of_claim ? HUGE_VAL : f.ns, Duel::least(d.base, 0, 1));
    const double ns = Duel::least(d.rival, 0, 1);
    const bool is_made = ns > 0;  // in strips the rival may be no way
    if (is_made && d.is_won(kClearly) && (!f.better || ns < f.better->ns)) f.better = {f.rivalry.rivals[turn], ns};
    // the choice may have had a better hour in one trial than in another
    if (f.better && !(f.better->ns < kClearly * f.ns)) f.better.reset();
  }

  // ---- the verdict
  /// Whether all that was found to be better by itself is better together.
  void decide(const Trial& first) {
    const auto best = tuned_.interrupted ? std::nullopt : try_build(lock_, "what won");
    if (tuned_.interrupted) tuned_.choices = with_rows(first.choices, lock_.text());
    if (!best) return;
    try {
      tuned_.verdict = verdict(first, *best);
    } catch (const std::exception& e) { drop("what won", e); }
    if (tuned_.verdict && tuned_.verdict->is_kept) tuned_.choices = best->choices;
  }

  Tuned::Verdict verdict(const Trial& first, const Trial& best) {
    Duel runs;
    std::vector<double> ratios;
    Tuned::Verdict v;
    for (; v.rounds < kMostRoundsOfVerdict && !workshop_.is_stopped(); ++v.rounds) {
      const bool is_shown = v.ratio.high < 1 || v.ratio.low > 1;
      if (v.rounds >= kShownRounds && is_shown) break;
      if (v.rounds >= kLeastRounds && workshop_.seconds() + round_seconds_ > budget_) break;
      if (v.rounds % 2 == 0) runs.base.push_back(workshop_.time_run(first));
      runs.rival.push_back(workshop_.time_run(best));
      if (v.rounds % 2 == 1) runs.base.push_back(workshop_.time_run(first));
      ratios.push_back(runs.rival.back() / runs.base.back());
      v.ratio = interval_of(ratios);
    }
    v.before_ns = Duel::least(runs.base, 0, 1), v.after_ns = Duel::least(runs.rival, 0, 1);
    // an uneasy machine widens the interval more than it moves the least times
    v.is_kept =
        v.rounds >= 2 && v.after_ns < v.before_ns && (v.ratio.high < 1 || (v.ratio.low <= 1 && runs.is_won(kTogether)));
    return v;
  }

  Workshop& workshop_;
  ChoiceLock lock_;  // with what was found to be better
  const double budget_;
  double build_seconds_ = 0, round_seconds_ = 0;  // the longest; of one run of both
  size_t rounds_ = kLeastRounds;                  // of a trial
  Tuned tuned_;
};

}  // namespace

Tuned tune(Workshop& workshop, const ChoiceLock& start, double budget_seconds) {
  return Tuner(workshop, start, budget_seconds).tune();
}

}  // namespace cameo
