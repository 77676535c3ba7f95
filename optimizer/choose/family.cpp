// See family.h.
#include "optimizer/choose/family.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/ir/check.h"

namespace cameo {

double seconds_to_move(double bytes, const MachineModel& machine) {
  const double rate = bytes <= static_cast<double>(machine.l1_bytes)   ? 64
                      : bytes <= static_cast<double>(machine.l2_bytes) ? machine.l2_rate
                      : bytes <= static_cast<double>(machine.l3_bytes) ? machine.l3_rate
                                                                       : machine.memory_rate;
  return bytes / rate / (machine.clock * 1e9);
}

double Family::price(const Kernel&, const KernelCost& cost, const Choice&, const Target& target) const {
  const double peak = target.machine.clock * 1e9 * target.machine.fmas * 2 * target.vector_bytes / 4;
  return cost.flops / (peak * efficiency()) + seconds_to_move(cost.bytes, target.machine);
}

void Family::apply(Kernel& k, const Choice& choice, const Target&) const { k.choice = choice; }

bool Family::writes(const Kernel& k, uint32_t operand) const {
  return std::ranges::any_of(k.stores, [&](const Store& s) { return s.operand == operand; });
}

const Family& family(std::string_view name) {
  const auto all = all_families();
  const auto it = std::ranges::find(all, name, [](const Family* f) { return f->name(); });
  CAMEO_CHECK(it != all.end(), "a family");
  return **it;
}

Graph alone(const Graph& g, const Node& n, std::span<const ValueId> operands) {
  Graph one(g.shared_sources());
  std::vector<ValueId> in;
  for (ValueId v : operands)
    in.push_back(!v ? v : g[v].constant ? one.constant(g[v].constant) : one.add_input({}, g.type(v)));
  const auto out = one.add(*n.op, in, n.attrs, n.provenance, n.version, static_cast<int>(n.outputs.size()));
  for (size_t i = 0; i < n.outputs.size(); ++i)
    if (n.outputs[i]) one.add_output({}, out[i]);
  return one;
}

LoweredKernel kernel_of_node(const NodeProblem& p, const Family& family) {
  LoweredKernel l;
  l.kernel.family = &family;
  l.kernel.node = std::make_shared<const Graph>(alone(p.graph, p.node, p.node.inputs));
  for (const auto* list : {&p.node.outputs, &p.node.inputs})
    for (ValueId v : *list) {
      if (!v) continue;
      l.operands.push_back(plain_operand(p.graph, v));
      l.kernel.operands.push_back(p.graph.type(v).dtype);
    }
  return l;
}

std::string_view name(FoldKind kind) {
  constexpr std::string_view names[] = {"Sum", "Prod", "Min", "Max", "ArgMin", "ArgMax", "ArgMinLast", "ArgMaxLast"};
  return names[static_cast<int>(kind)];
}

// ---- chunks ---------------------------------------------------------------------------------------------------------

int chunks_by_work(const Kernel& k, double operations) {
  constexpr double kWorthAThread = 50'000, kMost = 64;  // operations, some 5 us; chunks
  return static_cast<int>(std::clamp((k.cost.operations + operations) / kWorthAThread, 1.0, kMost));
}

int chunks_by_units(int64_t units) {
  constexpr int64_t kMost = 65535;  // that a row can say; beyond, a block has several units
  return static_cast<int>(std::clamp<int64_t>(units, 1, kMost));
}

// ---- folds ----------------------------------------------------------------------------------------------------------

namespace {
/// Whether a Fold is shared by a team: all points of a row need it.
bool folds_by_team(const Kernel& k, Expr e) {
  if (k.choice.get("team", 1) == 1 || depends_on(e, k.axes.back())) return false;
  std::vector<Expr> vars, bound, roots{e};
  visit(roots, [&](Expr x) {
    if (x.op() == Op::Var) vars.push_back(x);
    if (x.op() == Op::Fold) bound.push_back(x.arg(0));
  });
  return std::ranges::all_of(vars, [&](Expr v) {
    return std::ranges::find(bound, v) != bound.end() || std::ranges::find(k.axes, v) != k.axes.end();
  });
}

/// Whether a Fold runs in `fold_lanes` lanes: its body does not depend on the kernel's lanes and reads memory in order.
bool folds_in_lanes(const Kernel& k, Expr e) {
  if (k.choice.get("fold_lanes", 1) == 1 || e.fold_kind() >= FoldKind::ArgMin) return false;
  if (k.choice.get("lanes", 1) > 1 && !k.axes.empty() && depends_on(e, k.axes.back())) return false;
  Expr v = e.arg(0);
  if (!v.extent().is_const() || v.extent().int_value() < k.choice.get("fold_lanes", 1)) return false;
  bool unit = false, nested = false;
  std::vector<Expr> body{e.arg(1)};
  visit(body, [&](Expr x) {
    if (x.op() == Op::Fold && depends_on(x, v)) nested = true;
    if (x.op() == Op::Read && affine(x.offset()).coefficient_of(v) == 1) unit = true;
  });
  return unit && !nested;
}
}  // namespace

std::string fold_function(const Kernel& k, Expr fold) {
  const std::string_view kind = name(fold.fold_kind());
  if (folds_in_lanes(k, fold)) return fmt::format("fold_lanes<rt::FoldKind::{}, {}>", kind, k.choice["fold_lanes"]);
  if (folds_by_team(k, fold)) return fmt::format("fold_team<rt::FoldKind::{}, {}>", kind, k.choice["team"]);
  return fmt::format("fold<rt::FoldKind::{}>", kind);
}

}  // namespace cameo
