// See join_rules.h.
#include "optimizer/clusters/join_rules.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "optimizer/clusters/blocks.h"
#include "optimizer/work.h"

namespace cameo {
namespace {

// What a kernel may grow to: beyond it compile time grows and nothing is gained.
constexpr size_t kMaxNodes = 48;
constexpr size_t kMaxReads = 64;  // values from outside, each a pointer that the kernel is called with
constexpr size_t kMaxFolds = 4;   // reductions of rows, each of which computes anew what stands before it

Refusal refusal_of(const Meaning& meaning) {
  struct {
    Refusal operator()(const Compute& c) {
      return c.outputs.size() == 1 ? "" : "what makes several tensors is a kernel of its own";
    }
    Refusal operator()(const View&) { return "what moves no bytes is no part of a kernel"; }
    Refusal operator()(const Scatter&) { return "what writes where its data say is a kernel of its own"; }
    Refusal operator()(const Composite&) { return "what is made of other operators is no kernel"; }
    Refusal operator()(const Control&) { return "control flow is no part of a kernel"; }
    Refusal operator()(const Opaque&) { return "what has a function of its own is a kernel of its own"; }
  } words;
  return std::visit(words, meaning);
}

bool same_index(Expr a, Expr b) { return a == b || (b.is_const(0) && a.extent().is_const(1)); }
bool same_but_last(const Shape& a, const Shape& b) {
  return a.size() == b.size() && !a.empty() && std::equal(a.begin(), a.end() - 1, b.begin());
}

struct FoldFacts {
  std::vector<Expr> vars;
  bool nested = false;
};
FoldFacts folds_of(Expr value) {
  FoldFacts f;
  std::vector<Expr> roots{value};
  visit(roots, [&](Expr e) {
    if (e.op() != Op::Fold) return;
    f.vars.push_back(e.arg(0));
    std::vector<Expr> body{e.arg(1)};
    visit(body, [&](Expr x) { f.nested |= x.op() == Op::Fold; });
  });
  return f;
}

}  // namespace

// ---- budgets --------------------------------------------------------------------------------------------------------

void KernelSize::add(const KernelSize& o) {
  nodes += o.nodes;
  folds += o.folds;
  made.insert(o.made.begin(), o.made.end());
  used.insert(o.used.begin(), o.used.end());
}
bool KernelSize::is_full() const { return nodes >= kMaxNodes; }

Refusal fit_together(const KernelSize& a, const KernelSize& b) {
  if (a.nodes + b.nodes > kMaxNodes) return "the kernel would have too many nodes";
  if (a.folds + b.folds > kMaxFolds) return "the kernel would have too many reductions";
  std::set<ValueId> reads;
  for (const KernelSize* size : {&a, &b})
    for (ValueId v : size->used) {
      if (!a.made.contains(v) && !b.made.contains(v)) reads.insert(v);
      if (reads.size() > kMaxReads) return "the kernel would read too many values";
    }
  return {};
}

KernelSize JoinRules::size_of(uint32_t node) const {
  const Node& n = g_.nodes()[node];
  KernelSize size{1, facts_[node].folds, {n.outputs.begin(), n.outputs.end()}, {n.inputs.begin(), n.inputs.end()}};
  size.used.erase(ValueId());
  return size;
}

// ---- facts ----------------------------------------------------------------------------------------------------------

JoinRules::JoinRules(const Graph& g, const Target& target)
    : g_(g),
      facts_(g.nodes().size()),
      readers_(g.values().size()),
      is_output_(g.values().size()),
      innermost_(g.values().size(), -1) {
  for (uint32_t i = 0; i < g.nodes().size(); ++i) {
    read_meaning(i);
    if (const ValueId v = g.nodes()[i].outputs[0]) innermost_[v.index] = innermost_axis(i);
    for (ValueId v : g.nodes()[i].inputs)
      if (v && (readers_[v.index].empty() || readers_[v.index].back() != i)) readers_[v.index].push_back(i);
  }
  for (const Port& p : g.outputs()) is_output_[p.value.index] = true;
  for (ValueId v : deciding_values(g)) is_output_[v.index] = true;  // the table of sizes takes it
  for (uint32_t i = 0; i < g.nodes().size(); ++i)
    facts_[i].widens =
        widens_for_products(i, target) || (dequantizes_for_readers(i) && is_for_others_too(i)) || is_one_number(i);
}
void JoinRules::read_meaning(uint32_t node) {
  const Node& n = g_.nodes()[node];
  const Meaning& meaning = meaning_of(g_, n);
  NodeFacts& facts = facts_[node];
  facts.refusal = refusal_of(meaning);
  if (facts.refusal.empty() && g_.type(n.outputs[0]).kind != Kind::Tensor)
    facts.refusal = "what makes no tensor is no part of a kernel";
  if (!facts.refusal.empty()) return;
  facts.out = &std::get<Compute>(meaning).outputs[0];
  facts.folds = !folds_of(facts.out->value).vars.empty();
  std::vector<Expr> roots{facts.out->value};
  visit(roots, [&](Expr e) {
    if (e.op() != Op::Load) return;
    facts.checks |= e.checked();
    facts.pads |= !e.checked() && !stays_within(e.index(), g_.type(n.inputs[e.operand()]).shape);
  });
}
/// What has become of the innermost axis of `from`, in a view of it that keeps the axis whole; -1: it does not.
int JoinRules::axis_of_view(ValueId from, ValueId to) const {
  const int axis = innermost_[from.index];
  if (axis < 0) return -1;
  const auto behind = [](const Shape& shape, int a) { return product(Shape(shape.begin() + a + 1, shape.end())); };
  const Shape &old = g_.type(from).shape, &shape = g_.type(to).shape;
  for (int a = 0; a < static_cast<int>(shape.size()); ++a)
    if (shape[static_cast<size_t>(a)] == old[static_cast<size_t>(axis)] && behind(shape, a) == behind(old, axis))
      return a + 1 == static_cast<int>(shape.size()) ? -1 : a;
  return -1;
}
/// A sum of products leaves the columns of its weights side by side (assign_orders.cpp); what reads it stands as it
/// does, along the axis by which that is indexed.
int JoinRules::innermost_axis(uint32_t node) const {
  const Node& n = g_.nodes()[node];
  if (const auto* view = std::get_if<View>(&meaning_of(g_, n)))
    return axis_of_view(n.inputs[view->input], n.outputs[0]);
  if (!facts_[node].out) return -1;
  const OutputExpr& out = *facts_[node].out;
  const int rank = static_cast<int>(out.index.size());
  if (folds(node)) {
    if (const auto product = match_contract(g_, {out.index, on_values(n, out.value)}))
      return product->n_axis == rank - 1 ? -1 : product->n_axis;
  }
  int found = -1;
  visit(std::vector<Expr>{out.value}, [&](Expr e) {
    const int axis = e.op() == Op::Load ? innermost_[n.inputs[e.operand()].index] : -1;
    for (int a = 0; axis >= 0 && found < 0 && a < rank; ++a)
      if (depends_on(e.index()[static_cast<size_t>(axis)], out.index[static_cast<size_t>(a)])) found = a;
  });
  return found == rank - 1 ? -1 : found;
}
bool JoinRules::widens_for_products(uint32_t node, const Target& target) const {
  if (!facts_[node].out) return false;
  const Expr value = facts_[node].out->value;
  if (value.op() != Op::Cast || value.type() != DType::f32 || value.arg(0).op() != Op::Load) return false;
  const Node& n = g_.nodes()[node];
  const DType narrow = value.arg(0).type();
  const ValueId v = n.outputs[0];
  if (is_output(v) || readers(v).empty()) return false;
  if (target.has_products_of(narrow))
    return std::ranges::all_of(readers(v), [&](uint32_t r) { return folds(r) && !reduces_rows(r); });
  if (!target.has_products_of_pairs() || narrow != DType::bf16 || g_[n.inputs[0]].constant) return false;
  return std::ranges::all_of(readers(v), [&](uint32_t r) {
    const auto product = product_of(r);
    return product ? multiplies_pairs(*product, v) : is_narrowed(n.inputs[0]) && may_fuse(r).empty();
  });
}
std::optional<ContractMatch> JoinRules::product_of(uint32_t node) const {
  if (!folds(node) || reduces_rows(node)) return std::nullopt;
  return match_contract(g_, {facts_[node].out->index, on_values(g_.nodes()[node], facts_[node].out->value)});
}
/// Whether it has been rounded to be stored in 16 bits.
bool JoinRules::is_narrowed(ValueId v) const {
  const NodeId made = g_[v].producer;
  return made && g_[made].op->name == "Cast" && g_.type(g_[made].inputs[0]).dtype == DType::f32;
}
/// Whether it sums products of `a`, which was bf16, and constants of bf16.
bool JoinRules::multiplies_pairs(const ContractMatch& product, ValueId a) const {
  const ValueId first{product.a.operand()}, second{product.b.operand()};  // not told apart: neither is a constant
  if (product.is_integer() || (a != first && a != second)) return false;
  const NodeId b = g_[a == first ? second : first].producer;
  return b && moves_constant(std::span(&b, 1)) && g_.type(g_[b].inputs[0]).dtype == DType::bf16;
}

bool JoinRules::dequantizes_for_readers(uint32_t node) const {
  const Node& n = g_.nodes()[node];
  const ValueId v = n.outputs[0];
  if (!facts_[node].out || folds(node) || g_.type(v).dtype != DType::f32 || is_output(v)) return false;
  ValueId narrow;
  bool is_element = true;
  std::vector<Expr> roots{facts_[node].out->value};
  visit(roots, [&](Expr e) {
    if (e.op() != Op::Load || g_[n.inputs[e.operand()]].constant) return;
    is_element &= !narrow && byte_size(e.type()) == 1 && std::ranges::equal(e.index(), facts_[node].out->index);
    narrow = n.inputs[e.operand()];
  });
  return narrow && is_element && g_[narrow].producer && !readers(v).empty() &&
         std::ranges::all_of(readers(v), [&](uint32_t r) { return may_fuse(r).empty() && !folds(r); });
}
/// Of what it reads that is no constant.
bool JoinRules::is_for_others_too(uint32_t node) const {
  return std::ranges::any_of(g_.nodes()[node].inputs,
                             [&](ValueId v) { return v && !g_[v].constant && readers(v).size() > 1; });
}

bool JoinRules::is_made_by_readers(uint32_t node) const {
  constexpr double kFewOf = 8;  // of the elements, those of what broadcasts
  const Node& n = g_.nodes()[node];
  const ValueId v = n.outputs[0];
  if (!facts_[node].out || is_output(v) || readers(v).size() < 2) return false;
  const Expr value = facts_[node].out->value;
  if (value.op() != Op::Add && value.op() != Op::Sub && value.op() != Op::Mul) return false;
  const Expr left = value.arg(0), right = value.arg(1);
  if (left.op() != Op::Load || right.op() != Op::Load || left.checked() || right.checked()) return false;
  const auto elements = [&](ValueId of) { return static_cast<double>(product(g_.type(of).shape).estimate()); };
  const auto read_by = [&](Expr load) { return n.inputs[load.operand()]; };
  const bool is_left = elements(read_by(left)) >= elements(read_by(right));
  const Expr whole = is_left ? left : right, other = is_left ? right : left;
  const ValueId x = read_by(whole);
  const bool is_element = std::ranges::equal(facts_[node].out->index, whole.index(), same_index);
  if (!is_element || g_.type(x).dtype != g_.type(v).dtype || (g_[x].producer && readers(x).size() < 2) ||
      elements(read_by(other)) * kFewOf > elements(v))
    return false;
  const auto once = [&](double reads) { return reads <= elements(v); };
  return std::ranges::all_of(readers(v), [&](uint32_t reader) {
    return may_fuse(reader).empty() && !widens(reader) && !facts_[reader].checks && !facts_[reader].pads &&
           std::ranges::all_of(reads_of(reader, v), once) && !product_of(reader);
  });
}

// ---- a reader joins what makes its operand --------------------------------------------------------------------------

/// Whether every element is the same number, of which a kernel that reads it needs no tensor.
bool JoinRules::is_one_number(uint32_t node) const {
  if (!facts_[node].out || !facts_[node].out->value.is_const()) return false;
  const ValueId v = g_.nodes()[node].outputs[0];
  return !is_output(v) && !readers(v).empty() && std::ranges::all_of(readers(v), [&](uint32_t r) {
    return may_fuse(r).empty() && !facts_[r].checks && !folds(r);
  });
}

bool JoinRules::reduces_rows(uint32_t node) const {
  const Node& n = g_.nodes()[node];
  const Shape& shape = g_.type(n.outputs[0]).shape;
  if (shape.empty() || !shape.back().is_static(1)) return false;
  if (std::ranges::any_of(n.inputs, [&](ValueId v) { return v && innermost_[v.index] >= 0; })) return false;
  const FoldFacts folds = folds_of(facts_[node].out->value);
  return folds.vars.size() == 1 && !folds.nested && loads_fit(node, nullptr, true, folds.vars).empty();
}

/// Which tensor an element is of depends on its place in the row: a concatenation along the last axis.
bool JoinRules::joins_pieces_of_rows(uint32_t node) const {
  const OutputExpr* out = facts_[node].out;
  if (!out || out->index.empty()) return false;
  bool found = false;
  visit(std::vector<Expr>{out->value}, [&](Expr e) {
    found |= e.op() == Op::Select && e.arg(0).op() == Op::Lt && depends_on(e.arg(0), out->index.back()) &&
             has_load(e.arg(1)) && has_load(e.arg(2)) && !has_load(e.arg(0));
  });
  return found;
}

/// Every Load of a value in `inside` (null: of any that the folds read) reads the element that is being computed;
/// with `rows`, also its row's one element, or under a fold of the last axis the elements of its row.
Refusal JoinRules::loads_fit(uint32_t node, const std::set<ValueId>* inside, bool rows,
                             const std::vector<Expr>& fold_vars) const {
  const Node& n = g_.nodes()[node];
  const OutputExpr& out = *facts_[node].out;
  const Shape& shape = g_.type(n.outputs[0]).shape;
  Refusal refusal;
  std::vector<Expr> roots{out.value};
  visit(roots, [&](Expr e) {
    if (e.op() != Op::Load) return;
    const ValueId v = n.inputs[e.operand()];
    const bool by_fold = std::ranges::any_of(fold_vars, [&](Expr f) { return depends_on(e, f); });
    if (inside ? !inside->count(v) : !by_fold) return;
    const Shape& from = g_.type(v).shape;
    const size_t rank = shape.size();
    if (e.checked()) refusal = "the reader takes elements whose index it has to check";
    if (e.checked() || (from.size() == rank && rank == 0)) return;
    bool fits = false;
    if (from.size() == rank && same_but_last(from, shape) &&
        std::equal(out.index.begin(), out.index.end() - 1, e.index().begin(), same_index)) {
      const Expr last = e.index()[rank - 1];
      const bool element = from.back() == shape.back() && same_index(out.index[rank - 1], last);
      const bool row_value = rows && from.back().is_static(1) && last.is_const(0);
      const bool folded =
          rows && shape.back().is_static(1) && by_fold && last.op() == Op::Var && last.extent() == from.back().extent();
      fits = element || row_value || folded;
    }
    if (!fits) refusal = "the reader takes other elements than the one that is there";
  });
  return refusal;
}

Refusal JoinRules::may_reduce_rows_of(uint32_t anchor) const {
  if (folds(anchor)) return reduces_rows(anchor) ? "" : "both have reductions, and not of rows alone";
  return joins_pieces_of_rows(anchor) ? "its rows are pieced together: a reduction reads them from memory" : "";
}
Refusal JoinRules::may_join(uint32_t node, const std::set<ValueId>& inside, Refusal against_rows) const {
  if (!may_fuse(node).empty()) return may_fuse(node);
  if (!folds(node)) return loads_fit(node, &inside, against_rows.empty(), {});
  if (!against_rows.empty()) return against_rows;
  if (!reduces_rows(node)) return "the reader has reductions of more than a row";
  return loads_fit(node, &inside, true, folds_of(facts_[node].out->value).vars);
}

// ---- a value is computed in its reader ------------------------------------------------------------------------------

/// How often the reader evaluates each of its Loads of `v`: its points times the extents of the folds around the Load.
std::vector<double> JoinRules::reads_of(uint32_t node, ValueId v) const {
  const Node& n = g_.nodes()[node];
  const double points = static_cast<double>(product(g_.type(n.outputs[0]).shape).estimate());
  std::vector<double> reads;
  for (const auto& [e, times] : evaluations(facts_[node].out->value, points))
    if (e.op() == Op::Load && n.inputs[e.operand()] == v) reads.push_back(times);
  return reads;
}
/// Whoever reads a constant that was moved or widened may as well read the constant.
bool JoinRules::moves_constant(std::span<const NodeId> nodes) const {
  if (nodes.size() != 1) return false;
  Expr value = facts_[nodes[0].index].out->value;
  if (value.op() == Op::Cast) value = value.arg(0);
  return value.op() == Op::Load && !value.checked() && g_[g_[nodes[0]].inputs[value.operand()]].constant;
}

/// It does nothing but move elements to the places of a block (DepthToSpace), so that channels that are enough for a
/// tile's columns stay neighbours. Each place is a region of what makes the elements then.
bool JoinRules::moves_blocks(uint32_t node) const {
  constexpr int64_t kFewColumns = 8;
  const OutputExpr& out = *facts_[node].out;
  if (out.value.op() != Op::Load || out.value.checked() || blocks_of(out).empty()) return false;
  return std::ranges::any_of(out.value.index(), [&](Expr index) {
    const Affine terms = affine(index);
    return terms.terms.size() > 1 && std::ranges::any_of(out.index, [&](Expr v) {
             return Dim(v.extent()).estimate() >= kFewColumns && !terms.stride_of(v).is_static(0);
           });
  });
}

Refusal JoinRules::may_substitute(std::span<const NodeId> nodes, ValueId v, std::span<const NodeId> others) const {
  if (is_output(v)) return "it is an output";
  if (readers(v).size() != 1) return "several nodes read it";
  for (NodeId n : nodes) {
    if (!may_fuse(n.index).empty()) return may_fuse(n.index);
  }
  const uint32_t reader = readers(v)[0];
  if (!may_fuse(reader).empty()) return may_fuse(reader);
  for (NodeId n : nodes)
    if (folds(n.index) && (reduces_rows(n.index) || divides(facts_[n.index].out->value) || !moves_blocks(reader)))
      return "a reduction makes it";
  // what is outside is not computed, but it is looked up
  if (std::ranges::any_of(nodes, [&](NodeId n) { return facts_[n.index].checks; }) &&
      std::ranges::any_of(others, [&](NodeId n) { return facts_[n.index].pads; }))
    return "its index has to be checked, and the reader's kernel has padding";
  const bool moved = moves_constant(nodes);
  if (widens(reader) && (!moved || readers(g_.nodes()[reader].outputs[0]).size() != 1))
    return "the reader widens it for products";
  bool checked = false;  // a Load that checks its index is never replaced by what it reads
  std::vector<Expr> roots{facts_[reader].out->value};
  visit(roots,
        [&](Expr e) { checked |= e.op() == Op::Load && e.checked() && g_.nodes()[reader].inputs[e.operand()] == v; });
  if (checked) return "the reader takes elements whose index it has to check";
  const std::vector<double> reads = reads_of(reader, v);
  if (!moved && std::reduce(reads.begin(), reads.end()) > static_cast<double>(product(g_.type(v).shape).estimate()))
    return "the reader would compute its elements more than once";
  return {};
}

}  // namespace cameo
