// Clusters: which nodes become one kernel. Nothing is rewritten: a cluster's meaning is read by substituting each Load
// of a value made inside of it by its producer's Expr (`fuse`), and the loop form is read off the result.
#pragma once
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/ir/graph.h"
#include "frontend/ir/operator.h"
#include "optimizer/target.h"

namespace cameo {

struct Cluster {
  std::vector<NodeId> nodes;     // in execution order
  std::vector<ValueId> outputs;  // what other clusters, or the graph's outputs, read
  bool on_host = false;          // of a GPU's plan: the processor runs it
};

/// Why a node that reads a value is in another kernel than what makes it: why it did not join that, and why that was
/// not put in its place; empty where the other came first.
struct Apart {
  std::string_view join, absorb;
};
using Refusals = std::map<std::pair<ValueId, NodeId>, Apart>;
std::string to_string(const Apart& why);
bool are_fused(std::span<const Cluster> clusters, NodeId a, NodeId b);

/// Greedy from anchors; every node stands in exactly one cluster, but for those that join all their readers, and
/// clusters stand in execution order. `refusals`, where they are asked for: of all values and their readers.
std::vector<Cluster> form_clusters(const Graph& g, const Target& target, Refusals* refusals = nullptr);

/// The fused meaning of Computes and Views: one OutputExpr a cluster output. The operand of a Load is the number of a
/// value of the graph; constants of one element have become Consts.
std::vector<OutputExpr> fuse(const Graph& g, const Cluster& c);

/// Whether every element of a value that is indexed so exists, for all values of the index's variables.
bool stays_within(std::span<const Expr> index, const Shape& shape);
/// A meaning without the terms of its sums that are zero for every element.
Expr trim_folds(const Graph& g, Expr root);
/// A meaning in which what is rounded to u8 and read as a float again is no integer between.
Expr without_round_trips(Expr root);
/// A meaning whose softmax, SiLU and GELU have forms that cost less and make no denormals.
Expr simplify_activations(Expr root);
/// The Loads of a product that make it zero where they lie outside of their value; sums of products are looked into.
std::vector<Expr> zero_factors(Expr product);

/// A node's own Expr with the numbers of its inputs replaced by those of the graph's values.
Expr on_values(const Node& n, Expr e);

}  // namespace cameo
