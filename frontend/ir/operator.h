// What an operator declares, in one file of ops/: signature and versions, shape rule, meaning. Everything else
// (reference, fusion, code for every target) is derived from the meaning. Adding an operator is one file that defines
// `Operator ops::declare_STEM()`, and its test case.
#pragma once
#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

#include "frontend/ir/graph.h"

namespace cameo {

// ---- meanings: closed ----------------------------------------------------------------------------------------------
/// One output: out[index] = value, over Loads and Folds; `index` holds one Var an axis whose extents are the output's
/// dims. The operand of a Load is the number of the node's input.
struct OutputExpr {
  std::vector<Expr> index;
  Expr value;
};
struct Compute {
  std::vector<OutputExpr> outputs;
};
/// The output's row-major elements are the input's, in the same order (Reshape and its kin): no bytes move.
struct View {
  int input = 0;
};
/// Starts as `start`; then, for each point of `over` in row-major order, out[to] = combine(out[to], update).
struct Scatter {
  OutputExpr start;
  std::vector<Expr> over;  // Vars
  std::vector<Expr> to;
  Expr update;
  enum { Assign, Add, Mul, Min, Max } combine = Assign;
};
/// A graph of other operators, over the node's inputs that are present; a family of kernels may claim the node, else it
/// is expanded.
struct Composite {
  std::shared_ptr<const Graph> definition;
};
struct Control {
  enum Form { If, Loop } form;
};
/// A kernel of its own with a reference function (Operator::reference).
struct Opaque {
  std::string_view kernel;         // the function rt::KERNEL of runtime/kernels/KERNEL.h
  std::vector<Expr> numbers = {};  // its arguments that are no operands: extents, modes
  int64_t units = 1;               // of work, that a GPU's threads share: an estimate where its extents are sizes
  double operations = 0;           // of a unit, where a processor's threads share them too
  bool host_only = false;
};
struct Meaning : std::variant<Compute, View, Scatter, Composite, Control, Opaque> {
  using variant::variant;
};

// ---- a node as its operator sees it --------------------------------------------------------------------------------
class NodeView {
 public:
  NodeView(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}
  const Graph& graph() const { return graph_; }
  const Node& node() const { return node_; }
  int version() const { return node_.version; }
  int input_count() const { return static_cast<int>(node_.inputs.size()); }
  int output_count() const;  // as many as the node has
  bool has(int input) const { return input < input_count() && node_.inputs[input]; }
  bool has_output(int i) const { return i < static_cast<int>(node_.outputs.size()) && node_.outputs[i]; }
  const Type& type(int input) const;
  DType dtype(int input = 0) const { return type(input).dtype; }
  int rank(int input = 0) const { return type(input).rank(); }
  const Shape& shape(int input = 0) const { return type(input).shape; }
  Dim dim(int input, int axis) const;  // a negative axis counts from the end
  const Graph& body(int i) const { return *node_.bodies[i]; }

  // Attributes: the node's, else the signature's default; asking for one that has neither throws E0204.
  bool has_attr(std::string_view name) const;  // written in the model
  int64_t attr_int(std::string_view name) const;
  double attr_float(std::string_view name) const;
  std::string attr_string(std::string_view name) const;
  std::vector<int64_t> attr_ints(std::string_view name) const;
  std::vector<double> attr_floats(std::string_view name) const;
  std::vector<std::string> attr_strings(std::string_view name) const;
  const Tensor& attr_tensor(std::string_view name) const;
  const Type& attr_type(std::string_view name) const;

  // Operands known when compiling.
  const Tensor* constant(int input) const;                    // null when computed
  std::optional<std::vector<Expr>> content(int input) const;  // integer elements, symbols included
  std::vector<int64_t> ints(int input) const;                 // E0404 when not known
  std::vector<double> floats(int input) const;                // likewise
  /// An axis counted from the front; E0304 when outside of [-rank, rank).
  static int axis(int64_t axis, int rank);
  static std::vector<int> axes(const std::vector<int64_t>& axes,
                               int rank);  // normalised, checked for duplicates, as given

  /// What must hold of sizes that only a run knows; `Infer` keeps it, and a run that it does not hold for is refused.
  void require(Expr condition) const;
  /// Whether it may hold. False where it is known not to; where only a run knows, it is required.
  bool may_hold(Expr condition) const;
  bool agree(Dim a, Dim b) const;                // whether extents may be equal
  bool fits(Dim a, Dim most) const;              // whether one may be at most the other
  bool divides(int64_t parts, Dim whole) const;  // whether one may be a multiple of the other
  /// The extent; one that may be any number, one of `count` such in its shape, gets a bound for proofs, which a run is
  /// held to.
  Dim bounded(Dim extent, size_t count) const;

  [[noreturn]] void fail(Code code, std::string message, std::string help = {}) const;

 protected:
  const Graph& graph_;
  const Node& node_;
  std::vector<Expr>* required_ = nullptr;
  const Attr* find_attr(std::string_view name) const;
};

/// Whether it may be any number, as an element of data may: a size is not negative, and products of sizes stay below.
inline bool is_any(Expr element) {
  constexpr Wide kMostOfSizes = Wide{1} << 60;
  return is_open(element) && (range_of(element).low < -kMaxStep || range_of(element).high > kMostOfSizes);
}

/// For shape rules: sets the outputs' types.
class Infer : public NodeView {
 public:
  Infer(const Graph& graph, const Node& node, int outputs) : NodeView(graph, node), types(outputs) {
    required_ = &requirements;
  }
  Infer(const Infer&) = delete;
  void output(int i, Type t);
  void output(int i, DType t, Shape s) { output(i, Type(t, std::move(s))); }
  bool wants(int i) const { return i < static_cast<int>(types.size()); }
  /// An extent that only the data tells, at most `upper`.
  Dim fresh(int64_t upper = kOpen);
  std::vector<std::optional<Type>> types;
  std::vector<Expr> requirements;
};

/// For meanings: the types of the outputs are known, and Vars and Loads can be made.
class MeaningView : public NodeView {
 public:
  using NodeView::NodeView;
  const Type& out_type(int i = 0) const;
  DType out_dtype(int i = 0) const { return out_type(i).dtype; }
  const Shape& out_shape(int i = 0) const { return out_type(i).shape; }
  std::vector<Expr> index(int output = 0) const { return index_of(out_shape(output)); }  // fresh Vars, one an axis
  static std::vector<Expr> index_of(const Shape& shape);
  /// The element of an input; outside of it `outside` (zero by default). `checked` makes that a run-time error.
  Expr load(int input, std::span<const Expr> index, Expr outside = {}) const;
  Expr load(int input, std::initializer_list<Expr> index, Expr outside = {}) const;
  Expr load_checked(int input, std::span<const Expr> index) const;
  /// The element that broadcasts to `index` of a shape of at least the input's rank: axes of extent 1 read 0.
  Expr load_broadcast(int input, std::span<const Expr> index) const;
};

// ---- signatures ----------------------------------------------------------------------------------------------------
struct InputSpec {
  std::string_view name;
  DTypes types = kTensors;
  enum Presence { Required, Optional, Variadic /* one or more */, Any /* number of them */ } presence = Required;
  int same_as = -1;  // its element type must equal that of this input
  enum Takes { Tensors, Lists /* sequences, optionals, maps */, Both } takes = Tensors;
};
struct OutputSpec {
  std::string_view name;
  enum Presence { Required, Optional, Variadic } presence = Required;
};
enum class AttrKind : uint8_t { Int, Float, String, Ints, Floats, Strings, Tensor, Type, Graph };
struct AttrSpec {
  std::string_view name;
  AttrKind kind;
  int since;                       // the opset that introduced it; 0: as old as the operator
  std::optional<Attr> fallback{};  // the default, if it has one
  AttrSpec(std::string_view n, int v, int s = 0) : name(n), kind(AttrKind::Int), since(s), fallback(int64_t{v}) {}
  AttrSpec(std::string_view n, float v, int s = 0) : name(n), kind(AttrKind::Float), since(s), fallback(double{v}) {}
  AttrSpec(std::string_view n, const char* v, int s = 0)
      : name(n), kind(AttrKind::String), since(s), fallback(std::string(v)) {}
  AttrSpec(std::string_view n, AttrKind k, int s = 0) : name(n), kind(k), since(s) {}  // no default
  enum NoGraph { kNoGraph };
  AttrSpec(std::string_view n, NoGraph) : name(n), kind(AttrKind::Graph), since(0), fallback(int64_t{0}) {}
};

struct Operator {
  std::string_view name;
  std::string_view domain = "";
  std::vector<int> since = {};  // versions of the schema that this declaration covers, oldest first
  std::vector<InputSpec> inputs = {};
  std::vector<OutputSpec> outputs = {{"Y"}};
  std::vector<AttrSpec> attributes = {};
  void (*infer)(Infer&) = nullptr;
  Meaning (*meaning)(const MeaningView&) = nullptr;
  std::vector<Tensor> (*reference)(const MeaningView&, std::span<const Tensor>) = nullptr;  // Opaque only
  bool foldable = true;     // false for random operators
  bool folds_late = false;  // matrices wait for fold_constants: a pass before it asks what they are made of
  bool must_run = false;    // whether or not its outputs are wanted: it may end the run
};

/// All operators, by domain and name.
std::span<const Operator> all_operators();
const Operator* find_operator(std::string_view name, std::string_view domain = "");
/// Like find_operator for names that this program itself wrote: missing is a bug.
const Operator& get_operator(std::string_view name, std::string_view domain = "");
/// The since-version in force at `opset`; 0 when the opset is older than the first one covered.
int version_at(const Operator& op, int opset);

/// What a node of `g` computes, made once.
const Meaning& meaning_of(const Graph& g, const Node& n);
/// How many of a node's inputs, the last ones, are outer values that its bodies capture: what the attribute `captures`
/// says, and for If all but the condition.
size_t captures_of(const Graph& g, const Node& n);

// ---- shape rules and meanings that many operators share
// --------------------------------------------------------------
namespace infer {
void same_as_first(Infer& n);   // output 0 is like input 0
void broadcast(Infer& n);       // all inputs broadcast; type of input 0
void broadcast_bool(Infer& n);  // comparisons
/// The common shape; E0302 when two extents differ and neither is 1.
Shape broadcast_shapes(const NodeView& n, std::span<const Shape> shapes);
}  // namespace infer

/// The index into an axis of this extent that broadcasts to `i`.
Expr broadcast_index(const Dim& extent, Expr i);
Meaning elementwise_meaning(const MeaningView& n, const std::function<Expr(std::span<const Expr>)>& f);

namespace detail {
template <class F, size_t... I>
Expr call(F f, const MeaningView& n, std::span<const Expr> x, std::index_sequence<I...>) {
  return f(n, x[I]...);
}
template <class F>
constexpr int arity() {
  if constexpr (std::is_invocable_v<F, const MeaningView&, Expr>)
    return 1;
  else if constexpr (std::is_invocable_v<F, const MeaningView&, Expr, Expr>)
    return 2;
  else
    return 3;
}
}  // namespace detail

/// The meaning out = f(node, x, ..) element by element with broadcasting; `f` is a lambda that captures nothing.
template <class F>
constexpr auto elementwise(F) {
  return +[](const MeaningView& n) -> Meaning {
    return elementwise_meaning(n, [&](std::span<const Expr> x) {
      return detail::call(F{}, n, x, std::make_index_sequence<detail::arity<F>()>{});
    });
  };
}

}  // namespace cameo
