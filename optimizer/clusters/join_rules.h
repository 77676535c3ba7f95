// The rules of fusion: what two nodes, or a node and a kernel that grows, have to be to become one kernel. They read
// meanings and budgets; in which order nodes are tried is `form_clusters`' business.
#pragma once
#include <set>
#include <string_view>

#include "optimizer/clusters/clusters.h"
#include "optimizer/layout/sum_of_products.h"

namespace cameo {

/// Why two things do not become one kernel, in words for `explain`; empty where nothing keeps them apart.
using Refusal = std::string_view;

/// What nodes take, as one kernel, of what a kernel may grow to.
struct KernelSize {
  size_t nodes = 0, folds = 0;
  std::set<ValueId> made = {}, used = {};

  void add(const KernelSize& o);
  bool is_full() const;
};
Refusal fit_together(const KernelSize& a, const KernelSize& b);

class JoinRules {
 public:
  JoinRules(const Graph& g, const Target& target);

  /// Whether a node makes one tensor by an expression; nothing else is fused.
  Refusal may_fuse(uint32_t node) const { return facts_[node].refusal; }
  bool folds(uint32_t node) const { return facts_[node].folds; }
  /// It is no part of what makes its operand, but of each node that reads it: a cast of 16-bit floats that the target
  /// multiplies as they stand, to f32, which nothing reads but folds that could not join what makes them, or, of what
  /// was rounded to be stored so, any node that is a kernel's; or what dequantises 8 bits that stand in memory for
  /// others too, read by nodes without a fold; or a number that is the same everywhere.
  bool widens(uint32_t node) const { return facts_[node].widens; }
  /// It dequantises 8 bits that a node makes, element by element, and nodes without a fold read nothing else of them.
  bool dequantizes_for_readers(uint32_t node) const;
  /// A difference, sum or product of elements that stand in memory for others too, and of what broadcasts to them: its
  /// readers have it for a read of these, where its own tensor would be written first. A norm's mean is subtracted so.
  bool is_made_by_readers(uint32_t node) const;
  const std::vector<uint32_t>& readers(ValueId v) const { return readers_[v.index]; }
  bool is_output(ValueId v) const { return is_output_[v.index]; }
  KernelSize size_of(uint32_t node) const;

  /// The node reduces the last axis of its operands, and nothing else; and the elements of a row are neighbours.
  bool reduces_rows(uint32_t node) const;
  /// Whether reductions of the last axis may join a cluster that grows from this node: if it holds no other folds, and
  /// the rows are not pieced together, which each reduction would tell apart at each element, in each piece anew.
  Refusal may_reduce_rows_of(uint32_t anchor) const;
  /// Whether a node may join a cluster that made the values `inside`; `against_rows`: why no reduction may.
  Refusal may_join(uint32_t node, const std::set<ValueId>& inside, Refusal against_rows) const;
  /// Whether what these nodes make, which is `v`, may be computed where its only reader, one of the `others`, wants an
  /// element of it.
  Refusal may_substitute(std::span<const NodeId> nodes, ValueId v, std::span<const NodeId> others) const;

 private:
  struct NodeFacts {
    Refusal refusal;
    const OutputExpr* out = nullptr;  // null if it is refused
    bool folds = false, widens = false;
    bool checks = false;  // takes elements whose index it has to check
    bool pads = false;    // takes what is not an element, where an index is outside
  };
  void read_meaning(uint32_t node);
  int innermost_axis(uint32_t node) const;
  int axis_of_view(ValueId from, ValueId to) const;
  bool widens_for_products(uint32_t node, const Target& target) const;
  std::optional<ContractMatch> product_of(uint32_t node) const;
  bool is_narrowed(ValueId v) const;
  bool multiplies_pairs(const ContractMatch& product, ValueId a) const;
  bool is_for_others_too(uint32_t node) const;
  bool is_one_number(uint32_t node) const;
  Refusal loads_fit(uint32_t node, const std::set<ValueId>* inside, bool rows,
                    const std::vector<Expr>& fold_vars) const;
  std::vector<double> reads_of(uint32_t node, ValueId v) const;
  bool joins_pieces_of_rows(uint32_t node) const;
  bool moves_blocks(uint32_t node) const;
  bool moves_constant(std::span<const NodeId> nodes) const;

  const Graph& g_;
  std::vector<NodeFacts> facts_;
  std::vector<std::vector<uint32_t>> readers_;  // by value: nodes, in order
  std::vector<bool> is_output_;                 // by value
  /// By value: the axis whose elements will be neighbours, as far as that is known to be another than the last; else
  /// -1.
  std::vector<int> innermost_;
};

}  // namespace cameo
