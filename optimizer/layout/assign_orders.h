// The order of each value's axes in memory, assigned after clusters have formed and never back.
#pragma once
#include "frontend/ir/layout.h"
#include "optimizer/clusters/clusters.h"

namespace cameo {

struct FusedCluster {
  Cluster cluster;
  std::vector<OutputExpr> outputs;  // of Computes and Views; else empty
};

/// Anchors propose (a sum of products wants its column axis last in what it makes), the other clusters hand on the
/// order of what they read, through transposes too. The rest is row-major.
std::vector<Layout> assign_orders(const Graph& g, const std::vector<FusedCluster>& clusters, const Target& target);

}  // namespace cameo
