// See rivals.h.
#include "optimizer/choose/rivals.h"

#include <algorithm>
#include <set>

namespace cameo {
namespace {

constexpr double kHopeless = 3;  // times the price of what won

std::vector<std::string> names_of_nodes(const Provenance& provenance, const Sources& sources) {
  std::vector<std::string> names;
  for (uint32_t number : provenance)
    if (number < sources.size())
      names.push_back(sources[number].name.empty() ? sources[number].output : sources[number].name);
  return names;
}

bool has_hope(const Alternative& a, const Alternative& won) {
  return a.why_not.empty() && a.seconds <= kHopeless * won.seconds;
}

/// The best way of each other family, then all others by their prices: another algorithm may win more than another
/// tile.
std::vector<Alternative> in_order_of_promise(const std::vector<Alternative>& lost, const Alternative& won) {
  std::vector<Alternative> first, then;
  std::set<const Family*> seen{won.family};
  for (const Alternative& a : lost) {
    if (!a.family || !has_hope(a, won)) continue;
    (seen.insert(a.family).second ? first : then).push_back(a);
  }
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

}  // namespace

std::vector<Rivalry> rivalries_of_claims(const Plan& plan, const Sources& sources) {
  std::vector<Rivalry> all;
  for (const Claim& c : plan.claims) {
    std::vector<Alternative> rivals;
    for (const Alternative& a : c.lost) {
      const bool has_one = a.family && std::ranges::any_of(rivals, [](const Alternative& r) { return r.family; });
      if (has_hope(a, c.won) && !has_one && (!a.family || !c.won.family)) rivals.push_back(a);
    }
    if (!rivals.empty()) all.push_back({{c.problem}, names_of_nodes(c.provenance, sources), true, c.won, rivals});
  }
  return all;
}

std::vector<Rivalry> rivalries_of_kernels(const Plan& plan, const Sources& sources) {
  std::vector<Rivalry> all;
  std::set<std::string> seen;
  for (const Kernel& k : plan.kernels) {
    if (k.problems.empty() || seen.contains(k.problems[0])) continue;
    seen.insert(k.problems.begin(), k.problems.end());
    const Alternative won{k.family, k.choice, k.seconds, {}};
    std::vector<Alternative> rivals = in_order_of_promise(k.alternatives, won);
    if (!rivals.empty())
      all.push_back({k.problems, names_of_nodes(k.provenance, sources), false, won, std::move(rivals)});
  }
  return all;
}

}  // namespace cameo
