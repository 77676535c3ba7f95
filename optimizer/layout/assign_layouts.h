// Layouts, assigned to the values that clusters make, after clusters have formed and never back.
#pragma once
#include "frontend/layout.h"
#include "optimizer/clusters/clusters.h"

namespace cameo {

/// A sum of products of two Loads in a fused meaning. Read off the expression, never declared.
struct ProductMatch {
  Expr sum;                 // the outermost Fold
  std::vector<Expr> folds;  // its variables, outermost first
  Expr a, b;                // the Loads; `b` is the constant one, if one is
};
std::optional<ProductMatch> match_product(const Graph& g, const OutputExpr& out);
bool reads_axis(Expr load, Expr axis);  // whether an index does
/// One of which an operand has an axis of its own: that is `b`.
struct ContractMatch : ProductMatch {
  int n_axis = -1;  // axis of the output that only `b` reads
};
std::optional<ContractMatch> match_contract(const Graph& g, const OutputExpr& out);

struct FusedCluster {
  Cluster cluster;
  std::vector<OutputExpr> outputs;  // of Computes and Views; else empty
};

/// Anchors propose (a Contract wants its summed axis last in what it reads and its N axis last in what it makes), the
/// other clusters hand on the order of what they read, through transposes too. The rest is row-major.
std::vector<Layout> assign_layouts(const Graph& g, const std::vector<FusedCluster>& clusters);

}  // namespace cameo
