// optimize: the ordered table of passes that takes an imported graph to the one that is planned.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "frontend/ir/graph.h"
#include "optimizer/plan/plan.h"
#include "optimizer/verify.h"

namespace cameo {

/// One application of a named rewrite, and the node that it touched.
struct Rewrite {
  std::string_view pass, rule;
  std::string node;
};

/// Why a node is computed as it is.
struct Remark {
  Provenance provenance;
  std::string text;
};

/// What folding constants may take for a model, all of its passes together, and what it has taken.
struct FoldBudget {
  double work = 0, most_work = -1;       // scalar evaluations
  int64_t growth = 0, most_growth = -1;  // bytes of constants beyond those that they are made of
};

struct PassContext {
  explicit PassContext(Target t) : target(std::move(t)) {}

  Target target;                                                  // that the graph is made for
  DType precision = DType::f32;                                   // --precision: of products of f32
  std::vector<std::string> keep_fp32;                             // --keep-fp32: nodes of which it does not hold
  std::vector<std::string> skip;                                  // --skip=PASS
  int64_t rewrite_limit = INT64_MAX;                              // --rewrite-limit=N: which one breaks a model?
  bool verify_each = false;                                       // --verify=each; else the last graph only
  std::function<void(const PassContext&, const Graph&)> after{};  // each pass: --print-after
  std::vector<Rewrite> log;                                       // what rewrites did, in order
  std::vector<Claim> claims;    // what became of the composite nodes that families claim
  std::vector<Remark> remarks;  // what rules decided against, for `explain`

  FoldBudget fold_budget;
  std::string_view pass;                  // that is running
  int64_t rewrites = 0;                   // that counted against the limit
  Waypoint reached = Waypoint::Imported;  // by the graph

  /// A rule asks before it rewrites a node, when nothing else keeps it from doing so; false: the limit is reached.
  bool apply(std::string_view rule, const Graph& g, const Provenance& provenance);
  /// A rewrite that compiling depends on: logged, not counted.
  void note(std::string_view rule, const Graph& g, const Provenance& provenance);
  /// Says why a rule leaves a node as it is.
  void remark(const Provenance& provenance, std::string text) { remarks.push_back({provenance, std::move(text)}); }
};

/// Bitwise equal; within tolerance of the unrounded run; or as far from it as the precision that was asked for.
enum class Exactness { Exact, Algebraic, Narrow };
struct Pass {
  std::string_view name;
  Graph (*run)(const Graph&, PassContext&);
  Exactness exactness;
  Waypoint reached = Waypoint::Replayed;  // from here on `verify` holds graphs to it
  bool asks_target = false;               // it, and the passes after it, run for each target of a build
};
std::span<const Pass> passes();
/// The passes before the first one that asks the target: what they make serves all targets of a build.
Graph optimize_for_all(Graph g, PassContext& context);
/// The others, on what `optimize_for_all` made.
Graph optimize_for_target(Graph g, PassContext& context);
/// Both.
Graph optimize(Graph g, PassContext& context);

inline constexpr int64_t kMostUnpacked = 1024;  // elements of a constant from which on it ships packed

// The passes, one file each in rewrites/.
Graph expand_domains(const Graph& g, PassContext& context);        // operators of other domains become ai.onnx's
Graph quantized_moves(const Graph& g, PassContext& context);       // before elements are dequantised
Graph known_lists(const Graph& g, PassContext& context);           // whose items are known when compiling
Graph integer_products(const Graph& g, PassContext& context);      // of quantised tensors, in i32
Graph crop_convolutions(const Graph& g, PassContext& context);     // which are sliced behind
Graph fold_scales(const Graph& g, PassContext& context);           // batch norm and scales into weights
Graph dequantized_products(const Graph& g, PassContext& context);  // of floats and quantised weights, as they are
Graph fold_constants(const Graph& g, PassContext& context);        // constant expressions of any size, within a budget
Graph claim_attention(const Graph& g, PassContext& context);       // written out as products around a softmax, likewise
Graph claim_composites(const Graph& g, PassContext& context);   // what a family computes whole for less stays one node
Graph expand_composites(const Graph& g, PassContext& context);  // what no family has claimed becomes its definition
Graph tabulate_bytes(const Graph& g, PassContext& context);     // functions of one tensor of 8 bits
Graph pack_constants(const Graph& g, PassContext& context);     // of 4- and 2-bit elements, which then share bytes
Graph narrow_products(const Graph& g, PassContext& context);    // to the precision that was asked for
Graph join_groups(const Graph& g, PassContext& context);        // of integers, that are narrower than a panel
Graph flush_denormals(const Graph& g, PassContext& context);    // of weights and biases, beside which they are nothing
Graph separate_pools(const Graph& g, PassContext& context);     // of many taps, into one along each axis
Graph split_reductions(const Graph& g, PassContext& context);   // of large maps, into those of rows
Graph widen_products(const Graph& g, PassContext& context);     // of narrow types, where the target has none
Graph merge_equal_nodes(const Graph& g, PassContext& context);  // common sub-expressions

}  // namespace cameo
