// See cost.h.
#include "optimizer/choose/cost.h"

#include <algorithm>
#include <map>

#include "optimizer/work.h"

namespace cameo {
namespace {

class Counter {
 public:
  explicit Counter(const Kernel& k) : accesses_(k.operands.size()) {
    double points = 1;
    for (Expr axis : k.axes) points *= take(axis);
    std::vector<Expr> roots;
    const auto whole = [&](Expr e) { return e.op() == Op::Acc ? k.accumulated : e; };
    for (const Store& s : k.stores) roots.insert(roots.end(), {rewrite(s.value, whole), s.offset, s.guard});
    visit(roots, [&](Expr e) {
      if (e.op() == Op::Fold) take(e.arg(0));
    });
    for (const Store& s : k.stores) access(s.operand, s.offset);
    visit(roots, [&](Expr e) { count(e); });
    for (const Store& s : k.stores)
      for (const auto& [e, times] : evaluations(s.value, points)) cost_.operations += times;
    for (size_t i = 0; i < accesses_.size(); ++i) {
      const double bytes = accesses_[i].elements() * static_cast<double>(byte_size(k.operands[i]));
      cost_.bytes += bytes;
      if (!accesses_[i].sized) cost_.fixed_bytes += bytes;
    }
  }
  KernelCost cost() const { return cost_; }

 private:
  struct Access {
    Wide low = 0, high = -1;  // of all offsets
    bool known = true;        // or they come out of data
    bool sized = false;       // which elements, or how many, is a matter of a run's sizes
    double times = 0;
    double elements() const {
      const double span = static_cast<double>(high - low + 1);
      return known && high >= low ? std::min(span, times) : times;
    }
  };

  static double extent_of(Expr variable) { return static_cast<double>(Dim(variable.extent()).estimate()); }
  double take(Expr variable) {
    if (is_symbolic(variable.extent())) sized_.insert(variable.var_number());
    return extents_[variable.var_number()] = extent_of(variable);
  }
  double times(Expr e) {
    double product = 1;
    for (uint64_t v : variables_.of(e)) product *= extents_.contains(v) ? extents_[v] : 1;
    return product;
  }
  static double terms_of(Expr e) { return e.op() == Op::Fold ? extent_of(e.arg(0)) : 1; }
  void access(uint32_t operand, Expr offset) {
    Access& a = accesses_[operand];
    const Interval range = range_of(offset);
    if (range.known()) {
      a.low = a.high < a.low ? range.low : std::min(a.low, range.low);
      a.high = std::max(a.high, range.high);
    } else {
      a.known = false;
    }
    a.sized |= is_symbolic(offset) ||
               std::ranges::any_of(variables_.of(offset), [&](uint64_t v) { return sized_.contains(v); });
    a.times += times(offset);
  }
  void count(Expr e) {
    if (e.op() == Op::Read) access(e.operand(), e.offset());
    const bool counts = is_float(e.type()) || e.type() == DType::i32;  // which sums of 8-bit products are
    if (counts && is_operation(e)) cost_.flops += times(e) * terms_of(e);
  }

  std::map<uint64_t, double> extents_;  // by a variable's number
  std::set<uint64_t> sized_;            // variables whose extents only a run knows
  FreeVariables variables_;
  std::vector<Access> accesses_;  // by operand
  KernelCost cost_;
};

/// Of a kernel that has a node instead of expressions: what its definition takes, and the tensors that it reads and
/// makes.
KernelCost cost_of_node(const Graph& g) {
  KernelCost cost;
  cost.flops = estimate_operations(g);
  const Node& n = g.nodes()[0];
  for (const auto* list : {&n.inputs, &n.outputs})
    for (ValueId v : *list)
      if (v) cost.bytes += static_cast<double>(product(g.type(v).shape).estimate() * byte_size(g.type(v).dtype));
  return cost;
}

}  // namespace

const std::set<uint64_t>& FreeVariables::of(Expr root) {
  if (const auto it = known_.find(root); it != known_.end()) return it->second;
  visit(std::vector<Expr>{root}, [&](Expr e) {
    if (known_.contains(e)) return;
    std::set<uint64_t> all;
    if (e.op() == Op::Var) all.insert(e.var_number());
    for (Expr a : e.args()) all.insert(known_.at(a).begin(), known_.at(a).end());
    if (e.op() == Op::Fold) all.erase(e.arg(0).var_number());
    known_[e] = std::move(all);
  });
  return known_.at(root);
}

KernelCost cost_of(const Kernel& k) { return k.node ? cost_of_node(*k.node) : Counter(k).cost(); }

}  // namespace cameo
