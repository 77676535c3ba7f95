// Claims: a family that would compute a composite node whole competes with the node's definition, by price.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/plan/plan.h"

namespace cameo {

/// The attribute of a node that a family computes whole, as text: the family's name.
inline constexpr std::string_view kClaimedBy = "claimed_by";
bool is_claimed(const Node& n);

/// Decides for the nodes of one graph and target; equal nodes are decided once, also where another pass has met them.
class Claims {
 public:
  /// `before`: what other passes have decided.
  Claims(const Target& target, std::vector<Claim>& before) : target_(target), before_(before) {}
  /// What wins for a node, alone in a graph; null where no family claims it. A row of the lock wins over the prices.
  const Claim* decide(const Graph& alone);
  /// Those that are new.
  std::vector<Claim> take();

 private:
  std::optional<Claim> compare(const Graph& alone, std::string problem) const;

  const Target& target_;
  std::vector<Claim>& before_;
  std::map<std::string, std::optional<Claim>> decided_;  // by problem
};

}  // namespace cameo
