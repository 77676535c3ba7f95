// See family.h.
#include "optimizer/choose/family.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "frontend/ir/check.h"

namespace cameo {

double scaled(double seconds, double ratio, const Target& target) {
  return target.launch() + (seconds - target.launch()) * ratio;
}

double Family::price(const Kernel&, const KernelCost& cost, const Choice&, const Target& target) const {
  return target.launch() + cost.flops / (target.peak() * efficiency()) + target.seconds_to_move(cost.bytes);
}

void Family::apply(Kernel& k, const Choice& choice, const Target&) const { k.choice = choice; }

bool Family::writes(const Kernel& k, uint32_t operand) const {
  if (k.node) return operand < k.node->outputs().size();
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
  for (ValueId v : operands) in.push_back(!v ? v : g[v].constant ? one.constant(g[v].constant) : one.add_input(g[v]));
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

namespace {
int64_t chunks_for(double seconds, const MachineModel& machine, double few = 1) {
  const auto chunks = static_cast<int64_t>(std::clamp(seconds / machine.barrier, few, 1e9));
  return chunks <= 2 ? chunks : (chunks + 3) / 4 * 4;  // as many for each of two or four threads
}

/// Of one core, which computes or waits for what it moves: a row times a matrix is nothing but that.
double seconds_of(const Kernel& k, double operations, const Target& target) {
  constexpr double kOperations = 50. / 9;  // that a core does in a cycle, of all kinds, roughly
  const double computing = (k.cost.operations + operations) / (kOperations * target.machine.clock * 1e9);
  return std::max(computing, target.seconds_to_move(k.cost.bytes));
}
}  // namespace

int64_t chunks_of(const Kernel& k, const Target& target) {
  const int64_t told = k.choice.get(kChunks, 0);
  return std::max<int64_t>(told ? told : k.family->chunks(k, target), 1);
}

// The first few are shorter: a thread that is alone reads what others have made from their caches.
int64_t chunks_by_work(const Kernel& k, double operations, const Target& target) {
  constexpr double kFew = 4, kShare = 1. / 3;
  const double seconds = seconds_of(k, operations, target);
  return chunks_for(seconds, target.machine, std::clamp(seconds / (target.machine.barrier * kShare), 1.0, kFew));
}

int64_t chunks_by_products(const Kernel& k, int lanes, const Target& target) {
  const double products = static_cast<double>(points_of(k.axes)) * static_cast<double>(Product(k).terms());
  return chunks_for(seconds_of(k, products / lanes, target), target.machine);
}

std::string text_of_sum(const Product& p) {
  std::string text;
  for (Expr v : p.segments) text += to_string(v.extent()) + " x ";
  return text + to_string(p.k.extent());
}

Expr chunks_of_run(const Kernel& k, const Target& target, int64_t chunks, int64_t most) {
  Dim points = 1;
  for (Expr axis : k.axes) points = points * Dim(axis.extent());
  const int64_t likely = points_of(k.axes);
  if (points.is_static() || (chunks == 1 && points.upper() <= likely)) return {};
  // a power of two: the divisions are shifts, and layers of like sizes have the same number of chunks
  const auto of_one =
      static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::max<int64_t>(likely / chunks, 1))));
  const Expr share = floor_div(points.extent() + integer(of_one - 1), integer(of_one));
  const int64_t few = target.is_gpu() ? 0 : k.family->most_points_by_weights(k);
  const int64_t by_weights = chunks_for(target.seconds_to_move(k.cost.fixed_bytes), target.machine);
  Expr least = integer(few > 0 ? std::min(by_weights, most) : 1);
  if (few > 0 && few < Family::kAnyPoints)  // times 1 of so many points or fewer, of more times 0
    least = max(integer(1), least * floor_div(integer(few), max(integer(few), points.extent())));
  return simplify_index(max(least, min(integer(most), share)));
}

}  // namespace cameo
