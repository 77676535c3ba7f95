// fold_constants: nodes whose inputs are all constant are evaluated by the interpreter, within a budget of work and of
// bytes that grows with the model's own constants; what it does not cover stays a kernel that runs. Packed weights are
// dequantised where they are read. A large constant
// that is read as it is and transposed too (a tied embedding) stays one: its readers walk it either way. A body gets
// the constants that it captures as its own, so that what its kernels read is known there: recurrent weights are packed
// like any others.
#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "frontend/ir/operator.h"
#include "frontend/reference/interpret.h"
#include "optimizer/pipeline.h"
#include "optimizer/work.h"

namespace cameo {
namespace {
constexpr double kWork = 1 << 28;       // scalar evaluations: some seconds
constexpr double kWorkOfElement = 256;  // and so many for each element of the model's constants
constexpr int64_t kGrowth = 16 << 20;   // bytes
constexpr int64_t kGrowthOfByte = 4;    // and so many for each byte of them
constexpr int64_t kWorthSharing = 1 << 18;

/// Weights of 4- and 2-bit elements ship as they are: what they stand for would take up several times as much.
bool stays_packed(const Graph& g, const Node& n, ValueId v) {
  constexpr std::string_view kWiden[] = {"Cast", "CastLike", "DequantizeLinear"};
  return is_packed(g.type(v).dtype) && g[v].constant->size() >= kMostUnpacked &&
         std::ranges::find(kWiden, n.op->name) != std::end(kWiden);
}

bool worth_folding(const Graph& g, const Node& n, std::span<const ValueId> inputs) {
  if (!n.op->foldable || n.op->meaning == nullptr) return false;
  for (ValueId v : inputs)
    if (v && (!g[v].constant || stays_packed(g, n, v))) return false;
  return true;
}

int64_t bytes_of(const Graph& g, ValueId v) {
  const Type& t = g.type(v);
  return product(t.shape).value() * byte_size(t.dtype);
}

/// The elements and bytes of a graph's constants, and of those of its bodies.
void measure(const Graph& g, std::set<const Tensor*>& seen, FoldBudget& budget) {
  for (const Value& v : g.values())
    if (v.constant && seen.insert(v.constant.get()).second) {
      budget.most_work += kWorkOfElement * static_cast<double>(v.constant->size());
      budget.most_growth += kGrowthOfByte * static_cast<int64_t>(v.constant->bytes().size());
    }
  for (const Node& n : g.nodes())
    for (const auto& body : n.bodies) measure(*body, seen, budget);
}

/// Takes what evaluating a node costs out of the budget, where it is covered.
bool afford(FoldBudget& budget, const Graph& g, const Node& n) {
  const double work = budget.work + work_of(g, n);
  int64_t growth = budget.growth;
  for (ValueId v : n.outputs) growth += bytes_of(g, v);
  for (ValueId v : n.inputs)
    if (v) growth -= bytes_of(g, v);
  if (work > budget.most_work || growth > budget.most_growth) return false;
  budget.work = work;
  budget.growth = std::max(growth, budget.growth);  // a smaller constant does not pay for a larger one: both are made
  return true;
}

/// Constants of more than a few elements that several nodes read.
std::set<const Tensor*> shared_constants(const Graph& g) {
  std::map<const Tensor*, int> readers;
  for (const Node& n : g.nodes())
    for (ValueId v : n.inputs)
      if (v && g[v].constant && g[v].constant->size() >= kWorthSharing) ++readers[g[v].constant.get()];
  std::set<const Tensor*> shared;
  for (auto [tensor, count] : readers)
    if (count > 1) shared.insert(tensor);
  return shared;
}

Graph with_constants(const Graph& body, const Graph& outer, std::span<const ValueId> captures, const Rule& rule) {
  Graph into(body.shared_sources());
  for (const Requirement& r : body.requirements()) into.require(r);
  const size_t own = body.inputs().size() - captures.size();
  std::vector<ValueId> values;
  for (size_t i = 0; i < body.inputs().size(); ++i) {
    const Value& v = body[body.inputs()[i]];
    const Constant known = i < own ? nullptr : outer[captures[i - own]].constant;
    values.push_back(known ? into.constant(known, v.name) : into.add_input(v));
  }
  const std::vector<ValueId> results = inline_graph(into, body, values, {}, rule);
  for (size_t i = 0; i < results.size(); ++i) into.add_output(body.outputs()[i].name, results[i]);
  return into;
}

/// A node with bodies, with the constants that its bodies capture inside of them; nothing where they capture none.
std::optional<std::vector<ValueId>> sink_constants(Graph& into, const Node& n, std::span<const ValueId> inputs,
                                                   const Rule& rule, PassContext& context) {
  const std::span<const ValueId> captures = inputs.last(captures_of(into, n));
  if (std::ranges::none_of(captures, [&](ValueId v) { return static_cast<bool>(into[v].constant); }))
    return std::nullopt;
  if (!context.apply("sink_constant", into, n.provenance)) return std::nullopt;
  std::vector<std::shared_ptr<const Graph>> bodies;
  for (const auto& body : n.bodies)
    bodies.push_back(std::make_shared<const Graph>(with_constants(*body, into, captures, rule)));
  std::vector<ValueId> left(inputs.begin(), inputs.end() - static_cast<std::ptrdiff_t>(captures.size()));
  const size_t own = left.size();
  std::ranges::copy_if(captures, std::back_inserter(left), [&](ValueId v) { return !into[v].constant; });
  Attrs attrs = n.attrs;
  if (attrs.contains("captures")) attrs["captures"] = static_cast<int64_t>(left.size() - own);
  return into.add(*n.op, left, attrs, n.provenance, n.version, static_cast<int>(n.outputs.size()), std::move(bodies));
}
}  // namespace

Graph fold_constants(const Graph& g, PassContext& context) {
  if (context.fold_budget.most_growth < 0) {  // the first time: what folding made counts for no more
    context.fold_budget = {0, kWork, 0, kGrowth};
    std::set<const Tensor*> seen;
    measure(g, seen, context.fold_budget);
  }
  const std::set<const Tensor*> shared = shared_constants(g);
  Rule rule = [&](Graph& into, const Node& n, std::span<const ValueId> inputs) -> std::optional<std::vector<ValueId>> {
    if (!n.bodies.empty()) return sink_constants(into, n, inputs, rule, context);
    if (!worth_folding(into, n, inputs)) return std::nullopt;
    if (n.op->name == "Transpose" && shared.contains(into[inputs[0]].constant.get())) return std::nullopt;
    std::vector<ValueId> outs = into.add(*n.op, {inputs.begin(), inputs.end()}, n.attrs, n.provenance, n.version,
                                         static_cast<int>(n.outputs.size()));
    NodeId made = into.maker_of(outs);
    if (!made) return outs;  // small: folded when it was added
    for (ValueId v : outs)
      if (!is_static(into.type(v).shape)) return outs;
    if (!afford(context.fold_budget, into, into[made])) return outs;
    if (!context.apply("fold_constant", into, n.provenance)) return outs;
    std::vector<Tensor> in;
    for (ValueId v : inputs) in.push_back(v ? *into[v].constant : Tensor());
    std::vector<ValueId> folded;
    for (Tensor& t : interpret_node(into, into[made], in)) folded.push_back(into.constant(std::move(t)));
    return folded;
  };
  return replay(g, rule);
}

}  // namespace cameo
