// divide: which kernels of a chain run in strips, and in how many: those of the least price, or as a lock says.
#include <algorithm>
#include <utility>

#include "optimizer/choose/lock.h"
#include "optimizer/strips/strips.h"

namespace cameo::strips {
namespace {

constexpr int64_t kFewestStrips = 8, kMostStrips = 64;
constexpr size_t kMostWays = 4;        // numbers of strips that are looked at, the fewest that fit
constexpr size_t kLongest = 4;         // kernels of a part
constexpr double kClearly = 0.9;       // of the price of the kernels one after another
constexpr double kWorthCode = 0.0025;  // of the price of all steps: what equal strips must save

/// What becomes of kernels of a chain that could run in strips.
struct Decision {
  Claim claim;
  std::optional<Strips> strips;  // none: they run one after another
  bool is_told = false;          // by a lock
};

class Divider {
 public:
  Divider(Plan& plan, const std::vector<Chain>& chains) : plan_(plan) {
    for (const Chain& c : chains) kernels_.push_back(kernels_of(c));
    for (const Step& s : plan.steps)
      if (s.kind == StepKind::Kernel) seconds_ += plan.kernels[s.kernel].seconds;
  }

  /// Into parts of which each is one kernel by itself, or in strips: those of the least price.
  std::vector<Strips> divide(const Chain& chain) {
    const size_t n = chain.size();
    std::vector<double> least(n + 1, 0);  // of the members from here on
    std::vector<std::optional<Decision>> taken(n);
    std::vector<Decision> refused;
    for (size_t i = n; i-- > 0;) {
      least[i] = seconds_apart(chain.part(i, 1)) + seconds_behind(chain, i) + least[i + 1];
      for (size_t length = 2; length <= std::min(kLongest, n - i); ++length) {
        auto decision = decide(chain.part(i, length));
        if (!decision) continue;
        const double behind = seconds_behind(chain, i + length - 1) + least[i + length];
        const double seconds = decision->claim.won.seconds + behind;
        if (!decision->strips || (!decision->is_told && seconds >= least[i])) {
          refused.push_back(std::move(*decision));
        } else {
          least[i] = decision->is_told ? behind : seconds;
          taken[i] = std::move(decision);
        }
      }
    }
    const bool takes_any = std::ranges::any_of(taken, [](const auto& t) { return t.has_value(); });
    const Decision* nearest = takes_any || refused.empty() ? nullptr : &nearest_of(refused);
    for (const Decision& d : refused)
      if (d.is_told || &d == nearest) note(d.claim);
    std::vector<Strips> all;
    for (size_t i = 0; i < n;) {
      const size_t members = taken[i] ? taken[i]->strips->parts.size() : 1;
      if (taken[i]) {
        note(taken[i]->claim);
        all.push_back(std::move(*taken[i]->strips));
      }
      i += members;
    }
    return all;
  }

 private:
  /// Of some that lost, the one that came nearest.
  static const Decision& nearest_of(std::span<const Decision> refused) {
    return *std::ranges::min_element(refused, {}, [](const Decision& d) {
      const Alternative& strips = d.strips ? d.claim.won : d.claim.lost[0];
      return strips.seconds / (d.strips ? d.claim.lost[0] : d.claim.won).seconds;
    });
  }

  std::optional<Decision> decide(const Chain& chain) const {
    std::vector<Strips> ways;
    const int64_t extent = chain.members.back().extent;
    for (int64_t count = kFewestStrips; count <= std::min(kMostStrips, extent) && ways.size() < kMostWays; ++count)
      if (extent % count == 0)
        if (auto strips = strips_of(plan_, chain, count)) ways.push_back(std::move(*strips));
    if (ways.empty()) return std::nullopt;
    std::ranges::stable_sort(ways, {}, &Strips::seconds);
    Decision d{claim_of(chain), std::nullopt, false};
    const Alternative apart{nullptr, {}, seconds_apart(chain), {}, kApart};
    for (const Strips& way : ways) d.claim.lost.push_back({nullptr, {{"count", way.count}}, way.seconds, {}, kStrips});
    const ChoiceLock* lock = plan_.target.lock.get();
    const ChoiceLock::Row* row = lock ? lock->find(plan_.target.name, d.claim.problem) : nullptr;
    d.is_told = row;
    const double saved = apart.seconds - ways[0].seconds;
    const bool pays = ways[0].seconds < kClearly * apart.seconds && saved * equal_ones(chain) > kWorthCode * seconds_;
    const size_t won = row ? told_by(*row, d.claim) : pays ? 0 : ways.size();
    if (won == ways.size()) {
      d.claim.won = apart;
    } else {
      d.claim.won = std::exchange(d.claim.lost[won], apart);
      d.strips = std::move(ways[won]);
    }
    std::ranges::stable_sort(d.claim.lost, {}, &Alternative::seconds);
    return d;
  }
  /// The number of the way that a lock wants, of those that the claim has; one past the last: one after another.
  static size_t told_by(const ChoiceLock::Row& row, const Claim& claim) {
    const auto text_of = [](const Alternative& way) { return way.choice.text(); };
    const auto way = std::ranges::find(claim.lost, row.choice, text_of);
    if (row.family == kStrips && way != claim.lost.end()) return static_cast<size_t>(way - claim.lost.begin());
    if (row.family == kApart) return claim.lost.size();
    throw no_way(claim.problem, row);
  }

  Claim claim_of(const Chain& chain) const {
    Claim c;
    std::vector<const Kernel*> kernels;
    for (const Member& m : chain.members) {
      kernels.push_back(&kernel_of(plan_, m.step));
      c.op += (c.op.empty() ? "" : ", ") + kernels.back()->title;
      c.provenance = merge(c.provenance, plan_.steps[m.step].provenance);
    }
    if (plan_.target.lock) c.problem = problem_of(kernels);
    return c;
  }
  /// Equal chains are one claim; without a lock no chain has a name.
  void note(Claim claim) {
    const auto known =
        claim.problem.empty() ? plan_.claims.end() : std::ranges::find(plan_.claims, claim.problem, &Claim::problem);
    if (known == plan_.claims.end())
      plan_.claims.push_back(std::move(claim));
    else
      known->provenance = merge(known->provenance, claim.provenance);
  }

  std::vector<uint32_t> kernels_of(const Chain& chain) const {
    std::vector<uint32_t> kernels;
    for (const Member& m : chain.members) kernels.push_back(plan_.steps[m.step].kernel);
    return kernels;
  }
  /// How often the same kernels follow each other in a chain.
  double equal_ones(const Chain& chain) const {
    const std::vector<uint32_t> wanted = kernels_of(chain);
    double count = 0;
    for (const std::vector<uint32_t>& all : kernels_)
      for (size_t i = 0; i + wanted.size() <= all.size(); ++i)
        count += std::equal(wanted.begin(), wanted.end(), all.begin() + static_cast<long>(i));
    return count;
  }
  /// Of kernels one after another.
  double seconds_apart(const Chain& chain) const {
    double seconds = 0;
    for (const Member& m : chain.members) seconds += kernel_of(plan_, m.step).seconds;
    for (const Link& link : chain.links) seconds += seconds_outside(link);
    return seconds;
  }
  /// Of what member i hands on to the next one through memory.
  double seconds_behind(const Chain& chain, size_t i) const {
    return i < chain.links.size() ? seconds_outside(chain.links[i]) : 0;
  }
  /// What prices leave out: of a buffer that takes more than half of the second cache, much is gone when it is read.
  double seconds_outside(const Link& link) const {
    const Target& target = plan_.target;
    const double bytes = static_cast<double>(plan_.buffers[link.buffer].bytes),
                 l2 = static_cast<double>(target.machine.l2_bytes);
    if (bytes <= l2 / 2 || bytes > l2) return 0;
    return 2 * (bytes / target.machine.l3_rate / (target.machine.clock * 1e9) - target.seconds_to_move(bytes));
  }

  Plan& plan_;
  std::vector<std::vector<uint32_t>> kernels_;  // of each chain
  double seconds_ = 0;                          // the price of all steps
};

}  // namespace

std::vector<Strips> divide(Plan& plan, const std::vector<Chain>& chains) {
  Divider divider(plan, chains);
  std::vector<Strips> all;
  for (const Chain& chain : chains)
    for (Strips& s : divider.divide(chain)) all.push_back(std::move(s));
  return all;
}

}  // namespace cameo::strips
