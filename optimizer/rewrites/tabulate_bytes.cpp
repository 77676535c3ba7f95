// tabulate_bytes: what nodes make of one tensor of 8 bits, element by element, and quantise again, is looked up in a
// table of its 256 values where computing it takes a function like exp: an activation between quantised layers. The
// interpreter makes the table, so an element is what the nodes say.
#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>

#include "frontend/ir/operator.h"
#include "frontend/reference/interpret.h"
#include "optimizer/pipeline.h"
#include "optimizer/rewrites/operands.h"
#include "optimizer/rewrites/uses.h"

namespace cameo {
namespace {

constexpr size_t kMostNodes = 32;
constexpr int64_t kFewest = 4096;  // elements that are worth a table
constexpr int64_t kCodes = 256;

bool is_lookup(const Graph& g, const Node& n) {
  return n.op->name == "Gather" && constant(g, n.inputs[0]) && constant(g, n.inputs[0])->dims() == std::vector{kCodes};
}
/// It computes an element of what it gives of the elements that stand there in its operands, and numbers, all alike.
bool is_elementwise(const Graph& g, const Node& n) {
  const auto* compute = std::get_if<Compute>(&meaning_of(g, n));
  if (!compute || compute->outputs.size() != 1) return false;
  const OutputExpr& out = compute->outputs[0];
  const auto is_same = [](Expr a, Expr b) { return a == b || (b.is_const(0) && a.extent().is_const(1)); };
  std::unordered_set<Expr, ExprHash> seen;
  std::vector<Expr> left{out.value};
  while (!left.empty()) {
    const Expr e = left.back();
    left.pop_back();
    if (!seen.insert(e).second) continue;
    if (e.op() == Op::Var || e.op() == Op::Fold) return false;
    if (e.op() != Op::Load) {
      left.insert(left.end(), e.args().begin(), e.args().end());
      continue;
    }
    const Tensor* known = constant(g, n.inputs[e.operand()]);
    if (known ? known->size() != 1 : !std::ranges::equal(out.index, e.index(), is_same)) return false;
  }
  return true;
}
bool takes_long(const Graph& g, const Node& n) {
  bool found = is_lookup(g, n);
  if (const auto* compute = std::get_if<Compute>(&meaning_of(g, n)))
    visit(std::vector<Expr>{compute->outputs[0].value}, [&](Expr e) { found |= e.op() >= Op::Exp; });
  return found;
}

/// How often values of the graph that is made are read, of those that it has readers of.
using Readers = std::map<ValueId, int>;

/// The nodes between a tensor of 8 bits and what is made of it alone. A table's result that has other readers is such a
/// tensor, too: it stands in memory, and what is made of it need not be looked up a second time.
class Region {
 public:
  Region(const Graph& g, const Readers& readers) : g_(g), readers_(readers) {}
  /// Whether it is made of the one tensor, too.
  bool take(ValueId v) {
    if (!v) return true;
    if (const Tensor* known = constant(g_, v)) return known->size() == 1;
    const NodeId made = g_[v].producer;
    if (is_8_bits(g_.type(v).dtype) && !(made && is_lookup(g_, g_[made]) && is_read_once(v))) {
      if (!source_) source_ = v;
      return source_ == v;
    }
    if (!made || nodes_.size() >= kMostNodes) return false;
    if (!nodes_.insert(made.index).second) return true;
    const Node& n = g_[made];
    takes_long_ |= cameo::takes_long(g_, n);
    if (is_lookup(g_, n)) return take(n.inputs[1]);
    const bool is_view = std::holds_alternative<View>(meaning_of(g_, n));
    if (is_view) return take(n.inputs[0]);
    return is_elementwise(g_, n) && std::ranges::all_of(n.inputs, [&](ValueId in) { return take(in); });
  }
  ValueId source() const { return source_; }
  bool takes_long() const { return takes_long_; }

  /// What `last` makes of it, for each code in order. Nothing where that fails, be it for codes that no run has.
  std::optional<Tensor> table(const Node& last, std::span<const ValueId> in) const {
    const DType type = g_.type(source_).dtype;
    Graph one(g_.shared_sources());
    std::map<ValueId, ValueId> made{{source_, one.add_input("codes", {type, {Dim(kCodes)}})}};
    const auto add = [&](const Node& n, std::span<const ValueId> operands) {
      std::vector<ValueId> inputs;
      for (ValueId v : operands) {
        const Tensor* known = constant(g_, v);
        inputs.push_back(!v ? v : known ? one.constant(known->size() == 1 ? known->reshaped({}) : *known) : made.at(v));
      }
      Attrs attrs = n.attrs;
      if (!is_lookup(g_, n))
        for (const char* of_scales : {"axis", "block_size"}) attrs.erase(of_scales);  // there is one scale
      return one.add(*n.op, std::move(inputs), std::move(attrs), n.provenance, n.version)[0];
    };
    for (uint32_t index : nodes_) {
      const Node& n = g_.nodes()[index];
      const bool is_view = std::holds_alternative<View>(meaning_of(g_, n));
      made[n.outputs[0]] = is_view ? made.at(n.inputs[0]) : add(n, n.inputs);
    }
    one.add_output("made", add(last, in));
    Tensor codes(type, {kCodes});
    for (int64_t i = 0; i < kCodes; ++i) codes.set_int(i, type == DType::i8 ? i - kCodes / 2 : i);
    try {
      return interpret(one, std::span(&codes, 1)).rounded[0];
    } catch (const CompileError&) { return std::nullopt; }
  }

 private:
  bool is_read_once(ValueId v) const {
    const auto found = readers_.find(v);
    return found == readers_.end() || found->second < 2;
  }

  const Graph& g_;
  const Readers& readers_;
  ValueId source_;
  std::set<uint32_t> nodes_;  // in order
  bool takes_long_ = false;
};

std::optional<ValueId> look_up(Graph& into, const Node& n, std::span<const ValueId> in, const Readers& readers,
                               PassContext& context) {
  if (n.op->name != "QuantizeLinear") return std::nullopt;
  const ValueId computed = into.add(*n.op, {in.begin(), in.end()}, n.attrs, n.provenance, n.version)[0];
  const Type type = into.type(computed);  // by value: nodes are added
  if (!is_8_bits(type.dtype) || product(type.shape).estimate() < kFewest) return computed;
  std::optional<Region> region;
  const auto is_of_one = [&](const Readers& of_tables) {
    region.emplace(into, of_tables);
    return std::ranges::all_of(in, [&](ValueId v) { return region->take(v); });
  };
  const Readers none;  // where it is of a tensor and of what was looked up by it
  if (!is_of_one(readers) && !is_of_one(none)) return computed;
  const ValueId x = region->source();
  if (!x || !region->takes_long()) return computed;
  const bool keeps_shape = into.type(x).shape == type.shape;
  if (!keeps_shape && !is_static(type.shape)) return computed;
  std::optional<Tensor> made = region->table(n, in);
  if (!made || !context.apply("tabulate", into, n.provenance)) return computed;
  const auto op = [&](std::string_view name, std::vector<ValueId> operands, Attrs attrs = {}) {
    return into.add(get_operator(name), std::move(operands), std::move(attrs), n.provenance)[0];
  };
  const ValueId table = into.constant(std::move(*made));
  ValueId at = op("Cast", {x}, {{"to", static_cast<int64_t>(DType::i32)}});
  if (into.type(x).dtype == DType::i8) at = op("Add", {at, into.constant(Tensor::scalar(DType::i32, kCodes / 2))});
  const ValueId y = op("Gather", {table, at});
  if (keeps_shape) return y;
  std::vector<int64_t> dims;
  for (const Dim& d : type.shape) dims.push_back(d.value());
  return op("Reshape", {y, into.constant(Tensor::i64({static_cast<int64_t>(dims.size())}, dims))});
}

}  // namespace

Graph tabulate_bytes(const Graph& g, PassContext& context) {
  if (context.target.is_gpu()) return g;
  const Uses uses(g);
  Readers readers;
  return replay(g, [&](Graph& into, const Node& n, std::span<const ValueId> in) -> std::optional<std::vector<ValueId>> {
    for (size_t i = 0; i < in.size() && uses.has(n); ++i)
      if (in[i]) readers[in[i]] = uses.of(n.inputs[i]);
    const auto y = look_up(into, n, in, readers, context);
    return y ? std::optional(std::vector<ValueId>{*y}) : std::nullopt;
  });
}

}  // namespace cameo
