// Graph: nodes in execution order over typed values. A graph is a value; it only grows, and every rewrite replays the
// old graph into a new one, so order, typing and dead-code removal are never a pass's own work.
#pragma once
#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "frontend/ir/diagnostic.h"
#include "frontend/ir/expr.h"
#include "frontend/ir/tensor.h"
#include "frontend/ir/type.h"

namespace cameo {

template <class Tag>
struct Id {
  uint32_t index = ~0u;
  auto operator<=>(const Id&) const = default;
  explicit operator bool() const { return index != ~0u; }
};
using NodeId = Id<struct NodeTag>;
using ValueId = Id<struct ValueTag>;  // a null ValueId is an optional input or output that is absent

enum class Kind : uint8_t { Tensor, Sequence, Optional, Map, Error };

/// Of what is no tensor, a list, `dtype` and `shape` say how it stands in memory: a scalar of kListInMemory.
struct Type {
  Kind kind = Kind::Tensor;
  DType dtype = DType::undefined;
  Shape shape;                     // the rank is always known, but for elements of lists
  bool ranked = true;              // false: of elements of a list, whose ranks nothing tells, or several
  DType key = DType::undefined;    // of a map
  std::shared_ptr<const Type> of;  // element type of a sequence or optional, value type of a map
  Type() = default;
  Type(DType d, Shape s) : dtype(d), shape(std::move(s)) {}
  static Type list(Kind kind, Type of, DType key = DType::undefined);
  bool is_list() const { return kind == Kind::Sequence || kind == Kind::Optional || kind == Kind::Map; }
  static Type error() {
    Type t;
    t.kind = Kind::Error;
    return t;
  }
  int rank() const { return static_cast<int>(shape.size()); }
  bool operator==(const Type& o) const;
};
std::string to_string(const Type& t);  // f32[1x3x224x224]
/// Of a value; of a list, which does not say what it is, as if it were a sequence.
Type type_of(const Tensor& t);
/// The extent, in the type of a list's elements, of an axis along which they may differ.
Dim any_extent();
/// What both are elements of a list of; nothing where they are of two kinds or element types.
std::optional<Type> common_element(const Type& a, const Type& b);
/// A tensor of integers or bools, as few as shapes are made of: a graph may know the elements of such a value.
bool has_few_integers(const Type& t);

/// The ONNX nodes that a node comes from: sorted numbers of rows in the graph's source list. Merging is a union.
using Provenance = std::vector<uint32_t>;
Provenance merge(const Provenance& a, const Provenance& b);
struct SourceNode {
  std::string op_type, name, output;  // any bytes; `output` is its first output's name
};
using Sources = std::vector<SourceNode>;

using Attr = std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
                          std::vector<std::string>, Constant, std::shared_ptr<const Type>>;
using Attrs = std::map<std::string, Attr, std::less<>>;

struct Operator;
struct Meaning;
class Graph;

struct Value {
  Type type;
  std::string name;           // of the model, any bytes; empty for values that a pass made
  NodeId producer;            // null for inputs and constants
  Constant constant;          // weights and folded values
  std::vector<Expr> content;  // elements of a small integer tensor, row-major; empty when not known (or of size 0)
  bool decides = false;       // its content is symbols of its own, one an element
};

struct Node {
  const Operator* op = nullptr;
  int version = 0;  // the operator's since-version in force
  Attrs attrs;
  std::vector<ValueId> inputs, outputs;
  std::vector<std::shared_ptr<const Graph>> bodies;  // control flow: captured outer values are explicit trailing inputs
  Provenance provenance;
  /// Made when `meaning_of` is first asked; nothing that it is made of changes while the node stands in its graph.
  mutable std::shared_ptr<const Meaning> meaning = {};
};

/// What must hold of sizes that only a run knows; where it does not, the model has no meaning.
struct Requirement {
  Expr condition;
  Provenance provenance;
};

/// E0304: the sizes of a run, or the data that they are made of, do not meet it.
CompileError misfit(const Sources& sources, const Requirement& r);

struct Port {
  std::string name;
  ValueId value;
};

class Graph {
 public:
  explicit Graph(std::shared_ptr<const Sources> sources = std::make_shared<const Sources>());

  ValueId add_input(std::string name, Type type);
  ValueId add_input(const Value& like);  // its name, its type, and what is known of its elements
  void add_output(std::string name, ValueId value) { outputs_.push_back({std::move(name), value}); }
  ValueId constant(Tensor t, std::string name = {});
  ValueId constant(Constant t, std::string name = {});
  /// A value of an unknown type, standing for the output of a node that could not be typed.
  ValueId error_value(std::string name = {});
  void set_content(ValueId v, std::vector<Expr> content) { values_[v.index].content = std::move(content); }
  /// Its elements become symbols: they decide shapes, and only a run knows them. Nothing where they are known.
  /// `bounds`: what they certainly lie within; `open`: for proofs alone, not for how much memory there has to be.
  void decide(ValueId v, std::optional<Interval> bounds = {}, bool open = false);
  /// The same with the symbols that it has in another graph.
  void keep_deciding(ValueId v, std::vector<Expr> symbols);
  void set_name(ValueId v, std::string name) { values_[v.index].name = std::move(name); }
  /// Where the node is the same as `like` of another graph, on operands of which as much is known, so is its meaning.
  void share_meaning(NodeId n, const Graph& other, const Node& like);
  /// The node also stands for another, which was found to be equal to it.
  void add_provenance(NodeId n, const Provenance& provenance) {
    nodes_[n.index].provenance = merge(nodes_[n.index].provenance, provenance);
  }

  /// Adds a node, runs its shape rule, and returns its outputs (all that the signature has, or `output_count`). A small
  /// node whose inputs are all constant becomes constants instead. Throws CompileError, located at the node.
  std::vector<ValueId> add(const Operator& op, std::vector<ValueId> inputs, Attrs attrs = {},
                           Provenance provenance = {}, int version = 0, int output_count = -1,
                           std::vector<std::shared_ptr<const Graph>> bodies = {});

  std::span<const Node> nodes() const { return nodes_; }
  std::span<const Value> values() const { return values_; }
  std::span<const ValueId> inputs() const { return inputs_; }
  std::span<const Port> outputs() const { return outputs_; }
  const Node& operator[](NodeId n) const { return nodes_[n.index]; }
  const Value& operator[](ValueId v) const { return values_[v.index]; }
  const Type& type(ValueId v) const { return values_[v.index].type; }
  /// Of all nodes that ever were in it, and in those that it is replayed from: a rewrite may drop the node that asks.
  std::span<const Requirement> requirements() const { return requirements_; }
  void require(const Requirement& r);  // kept once
  const Sources& sources() const { return *sources_; }
  std::shared_ptr<const Sources> shared_sources() const { return sources_; }
  /// Of a body that is being made: the graph that will have it, whose symbols and its own are different ones.
  void set_outside(const Graph* outside) { outside_ = outside; }
  /// Whether a node of it must.
  bool must_run() const { return must_run_; }
  /// Tells graphs that are being made apart, for tables that a rule keeps about each.
  uint64_t serial() const { return serial_; }
  /// The node that `add` made for these outputs; null when they all were known.
  NodeId maker_of(std::span<const ValueId> outputs) const;
  std::string input_name(int i) const { return values_[inputs_[i].index].name; }

 private:
  friend struct GraphSurgeon;  // of the tests, to make what `add` does not
  ValueId new_value(Type type, NodeId producer);
  std::string name_of_elements(const Value& value) const;  // other than those of symbols here, outside and in bodies
  bool has_symbols_of(const std::string& name) const;      // here or in bodies
  void become_constant(ValueId v, Tensor t);
  // The parts of `add`, of a node that is in `nodes_` when they are done.
  void type_outputs(Node& node, int output_count);
  /// Whether it is a little work of constants alone, and so done now.
  bool folds_at_once(const Node& node) const;
  void fold(const Node& node);
  /// Gives the small integer outputs their content; whether all outputs became constants.
  bool learn_contents(const Node& node);
  std::vector<Node> nodes_;
  std::vector<Value> values_;
  std::vector<ValueId> inputs_;
  std::vector<Port> outputs_;
  std::vector<Requirement> requirements_;
  std::shared_ptr<const Sources> sources_;
  uint64_t serial_;
  int64_t folded_bytes_ = 0;  // of constants that `add` made
  bool must_run_ = false;
  const Graph* outside_ = nullptr;  // of a body, while it is made by the graph that will have it
};

/// The values that decide shapes, but for inputs, in the order in which a run computes them; symbols that several have
/// are the first one's.
std::vector<ValueId> deciding_values(const Graph& g);
/// Whether a node, or one of its bodies, must run though nothing of what it gives is wanted.
bool must_run(const Node& n);
/// "node 57 `/up4/Resize` (Resize)" for the first ONNX node of a provenance.
std::string where(const Sources& sources, const Provenance& provenance);
/// The text form: one line a node, printed and never parsed.
std::string to_string(const Graph& g);

/// What a rule gives back: the new values for the node's outputs, or nothing to have the node copied as it is.
using Rule =
    std::function<std::optional<std::vector<ValueId>>(Graph& into, const Node& node, std::span<const ValueId> inputs)>;
/// What a value that is an output of the old graph is in the new one, where a node behind its own gives it; or null.
using OutputRule = std::function<ValueId(ValueId output)>;
/// Replays `g` into a new graph, node by node, through `rule`; only what an output needs or must run is replayed, and
/// what a rule has left unused goes. Bodies are replayed too.
Graph replay(const Graph& g, const Rule& rule, const OutputRule& outputs = {});
/// Copies the nodes of `body` into `into` with its inputs replaced by `inputs`; gives the values of its outputs.
std::vector<ValueId> inline_graph(Graph& into, const Graph& body, std::span<const ValueId> inputs,
                                  const Provenance& provenance, const Rule& rule = {});

}  // namespace cameo
