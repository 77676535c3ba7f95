// What the importer's files share. Only import_*.cpp include this, and with it protobuf.
#pragma once
#define ONNX_ML 1
#include <onnx/onnx_pb.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/import/import_onnx.h"
#include "frontend/ir/bind_dims.h"
#include "frontend/ir/operator.h"

namespace cameo::importing {

// ---- import_wire.cpp: bytes ---------------------------------------------------------------------------------------
enum class Message : uint8_t {
  Model,
  Graph,
  Node,
  Attribute,
  Tensor,
  Sparse,
  ValueInfo,
  Type,
  TensorType,
  Shape,
  Dim,
  Holder,
  Map,
  Function,
  Training,
  Annotation,
  Leaf,
};
/// Walks the wire form against the schema: lengths, varints, depth and the memory that parsing would take. Throws
/// E0102.
void check_wire(std::span<const std::byte> bytes, Message root);
/// Checks, then parses. Throws E0101 or E0102 with what the bytes look like instead.
void parse_message(std::span<const std::byte> bytes, Message root, google::protobuf::Message& into);
/// A singular length-delimited field that the installed headers may or may not know.
std::string newer_string(const google::protobuf::Message& m, int field);
std::vector<std::string> newer_strings(const google::protobuf::Message& m, int field);

// ---- import_external.cpp: files beside the model ------------------------------------------------------------------
/// Opens plain files under one folder and maps each once.
class DataFolder {
 public:
  explicit DataFolder(std::filesystem::path folder) : folder_(std::move(folder)) {}
  const MappedFile& open(const std::string& location);  // throws E0103
  const std::map<std::string, MappedFile>& opened() const { return files_; }

 private:
  std::filesystem::path folder_;
  std::map<std::string, MappedFile> files_;
};

// ---- import_tensor.cpp --------------------------------------------------------------------------------------------
struct TensorReader {
  DataFolder* folder = nullptr;            // null: external data is refused
  int64_t dense_bytes = int64_t{1} << 27;  // what sparse tensors may still grow to
};
/// Takes the payload out of `t`. Throws E0103, E0104.
Tensor read_tensor(onnx::TensorProto& t, TensorReader& reader);
Tensor read_sparse(onnx::SparseTensorProto& t, TensorReader& reader);
std::string tensor_title(const onnx::TensorProto& t);

// ---- import_types.cpp ---------------------------------------------------------------------------------------------
DType dtype_of(int32_t onnx_type);  // undefined when unknown
/// The dim that `dim_param` stands for: sums and products of names and numbers, else one opaque name.
Expr parse_dim(std::string_view text);
/// `past` of `past + 1`; "" if it is no sum that begins with a name.
std::string first_summand(std::string_view text);
/// The symbols of an expression, in order of making.
std::vector<std::string> symbols_of(Expr e);
/// An extent and what it is said to be.
struct DimClaim {
  Expr extent;
  int64_t value;
  enum { Open /* several symbols are unbound */, Holds, Fails } state = Open;
};
/// Adds to `dims` what the claims say about symbols, each claim as soon as one unbound symbol is left in it.
void solve_dims(std::vector<DimClaim>& claims, std::map<std::string, int64_t>& dims);
/// Of a list, or of what one holds, with `any_extent` where no number is written. Throws E0403.
Type type_of_element(const onnx::TypeProto& t);
bool is_list(const onnx::TypeProto& t);
std::string describe(const onnx::TypeProto& t);
/// Reads `16000` or `[[1,2],[3,4]]` as a tensor of the type; throws E0503.
Tensor parse_constant(std::string_view text, const std::string& input, const Type& type);

// ---- import_inputs.cpp --------------------------------------------------------------------------------------------
struct Input {
  const onnx::ValueInfoProto* proto;
  Type type;
};
/// What proofs take for granted of sizes without an end.
struct SizeBounds {
  int64_t most_of_open = 0;                       // 0: by their number
  std::map<std::string, Interval> required = {};  // by name: what the model's nodes leave of them
  bool known = false;                             // an import of the model told better
  bool operator==(const SizeBounds&) const = default;
};
/// The types of the graph's own inputs with the options' dims bound; fills `model.unbound`. Reports E0302, E0403,
/// E0502. `bounds.most_of_open` becomes what was taken for it, 0 where no size is open.
std::vector<Input> type_inputs(const std::vector<const onnx::ValueInfoProto*>& inputs, const ImportOptions& options,
                               SizeBounds& bounds, Model& model, const std::function<void(Diagnostic)>& report);

// ---- size_bounds.cpp ----------------------------------------------------------------------------------------------
/// What a graph tells, which was imported with these; the same where it is no better.
SizeBounds bounds_of(const Graph& g, const SizeBounds& taken);
/// What is tried where an extent of the model is too large at these; the same where that is the least.
SizeBounds narrower(SizeBounds bounds);

// ---- the importer -------------------------------------------------------------------------------------------------
using Opsets = std::map<std::string, int64_t, std::less<>>;
using Arguments = std::map<std::string, onnx::AttributeProto*, std::less<>>;
using FunctionKey = std::tuple<std::string, std::string, std::string>;  // domain, name, overload
using NodeList = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

struct Function {
  onnx::FunctionProto* proto;
  Opsets opsets;
  std::vector<std::shared_ptr<onnx::AttributeProto>> defaults;
  uint64_t expanded = 0;  // nodes, everything inlined
  enum { Unseen, Open, Done, Refused } state = Unseen;
};

/// Where a node's text stands: the main graph, or one call of a local function.
struct Region {
  const Opsets* opsets;
  const Arguments* arguments = nullptr;
  std::string prefix;  // "caller/"
};

struct TooManyNodes {};  // ends the import at once

/// The names that can be seen at a node. A scope with an outer scope of another graph captures what it finds there.
struct Scope {
  Graph& graph;
  const Region& region;
  int64_t& budget;  // of nodes and captures
  Scope* outer = nullptr;
  int depth = 0;
  std::unordered_map<std::string_view, ValueId> names = {};
  struct Capture {
    std::string_view name;
    ValueId inner;
  };
  std::vector<Capture> captures = {};
  std::optional<ValueId> find(std::string_view name);
  void define(std::string_view name, ValueId v) { names[name] = v; }
};

/// Execution order of a node list, and what is wrong with its names.
struct Order {
  std::vector<int> nodes;
  bool sorted = true;      // the file's order already
  std::vector<int> cycle;  // nodes of one cycle
  struct Duplicate {
    int node;
    std::string_view name;
  };
  std::vector<Duplicate> duplicates;
  struct Late {
    int node;
    std::string_view name;
  };
  std::vector<Late> late;  // a body captures what a later node makes
};
/// A function's attribute stands for the call's; null when the call leaves it out.
onnx::AttributeProto* resolve(onnx::AttributeProto& a, const Region& region);

class FreeNames {
 public:
  const std::vector<std::string_view>& of(
      const onnx::GraphProto& g);  // what its nodes take from outside, in order of first use
  void visit(const onnx::NodeProto& n, const std::function<void(std::string_view)>& captured);

 private:
  std::unordered_map<const onnx::GraphProto*, std::vector<std::string_view>> known_;
  int64_t names_left_ = 4'000'000;  // of all lists together
};
Order order_nodes(const NodeList& nodes, const std::set<std::string_view>& given, FreeNames& free);

class Importer {
 public:
  /// What one import takes for granted, and the next one knows better.
  struct Trial {
    std::set<std::string> deciding;  // inputs, and other values, whose elements are symbols, for they decide shapes
    SizeBounds bounds = {};
    bool operator==(const Trial&) const = default;
  };
  Importer(onnx::ModelProto& proto, std::filesystem::path folder, const ImportOptions& options, Trial trial);
  Model run(Diagnostics& out);
  /// After a run: the trial again where nothing better is known.
  const Trial& next() const { return next_; }

 private:
  struct Seen {
    int count = 0;
    std::string first;
  };
  struct Missing {
    Seen seen;
    std::string message, help;
  };
  /// What is reported once for all the nodes it concerns.
  struct Tallies {
    std::map<std::string, Missing> missing;  // operators, by what names them
    std::map<std::string, Seen> unknown_attributes, undefined, domains, external;
    std::vector<Seen*> counted;  // in order, so that what a trial counted can be taken back
    int problems = 0;            // counts of all but unknown attributes
  };
  /// Where reports stood before a trial.
  struct Mark {
    size_t reports, rows, counted;
    int problems, hidden, hidden_warnings;
  };
  /// What the outputs asked for need, when the graph is cut.
  struct Needed {
    std::vector<bool> nodes;
    std::set<std::string_view> names;
  };
  struct NodeFacts {
    const Operator* op;
    int version;
    uint32_t row;
    std::vector<ValueId> inputs;
    Attrs attrs;
    std::vector<std::shared_ptr<const Graph>> bodies;
  };
  struct Body {
    std::shared_ptr<Graph> graph;
    std::vector<std::string_view> captures;  // names, in order of first use
    bool ok = true;
  };

  /// Of an If: where its reports begin, and the first that only the dims cause, if there are no others.
  struct Branch {
    Body body;
    size_t reports;
    std::optional<Diagnostic> problem;
  };

  // import_model.cpp
  void read_header();
  Opsets read_opsets(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports,
                     const std::string& whose);
  void import_main();
  void import_inputs(onnx::GraphProto& g, Scope& scope, const Needed* needed);
  void add_input(const Input& input, Scope& scope);
  /// Of values whose elements have to be known: the inputs that they are made of, or they themselves.
  void find_deciding();
  void find_size_bounds();
  void import_initializers(onnx::GraphProto& g, Scope& scope);
  void unwrap_outputs(const onnx::GraphProto& g, Scope& scope);
  void import_outputs(const onnx::GraphProto& g, Scope& scope);
  Needed needed_by_outputs(const NodeList& nodes);
  bool is_open(const std::string& input) const;
  void check_initializer(const onnx::ValueInfoProto& input, const Type& type);
  void check_declared(const onnx::GraphProto& g, Scope& scope);
  void report(Diagnostic d);
  void report(Code code, std::string message, std::string node = {}, std::string help = {});
  void report_tallies();
  void report_constant_inputs();
  /// A broken rule of which the meaning is clear: throws, or with --lenient warns and goes on. `meaning` completes
  /// "with --lenient ..".
  void tolerate(Code code, const std::string& message, const std::string& meaning, const std::string& node = {});
  /// One more of what is reported once; true for the first.
  bool count(Seen& seen);
  bool count_problem(Seen& seen);
  Mark save() const;
  void restore(const Mark& mark);

  // import_node.cpp
  std::string at(uint32_t row) const;
  uint32_t add_rows(const NodeList& nodes, const Region& region);
  void import_nodes(NodeList& nodes, Scope& scope, uint32_t first_row, const std::set<std::string_view>& given,
                    const std::vector<bool>* needed = nullptr);
  void import_node(onnx::NodeProto& n, Scope& scope, uint32_t row);
  void import_operator(onnx::NodeProto& n, const Operator& op, int version, Scope& scope, uint32_t row);
  void import_constant(onnx::NodeProto& n, Scope& scope, uint32_t row);
  const Function* local_function(const onnx::NodeProto& n) const;
  const Operator* known_operator(const onnx::NodeProto& n, const Region& region, uint32_t row, int& version);
  const Operator* removed_operator(const onnx::NodeProto& n, int64_t opset, uint32_t row);
  const Operator* custom_operator(std::string_view name, std::string_view domain) const;  // of a file of the user's
  void missing_operator(const onnx::NodeProto& n, std::string_view domain, int64_t opset, const Operator* op,
                        uint32_t row);
  void scan_operators(const onnx::NodeProto& n, const Region& region, uint32_t row);
  void repair(NodeFacts& facts, const onnx::NodeProto& n, Scope& scope);
  bool crop(NodeFacts& facts, const onnx::NodeProto& n, Scope& scope);
  bool extend(NodeFacts& facts, Scope& scope);
  std::vector<ValueId> read_inputs(const onnx::NodeProto& n, Scope& scope, uint32_t row, bool& ok);
  static ValueId named_value(const std::string& name, Scope& scope);
  void import_gradient(onnx::NodeProto& n, Scope& scope, uint32_t row);
  Attrs read_attributes(onnx::NodeProto& n, const Operator& op, int version, const Region& region, uint32_t row,
                        std::vector<onnx::GraphProto*>& graphs);
  int type_of(const onnx::AttributeProto& a, const std::string& node);
  std::optional<Attr> read_attribute(onnx::AttributeProto& a, int type);
  Constant shared_tensor(onnx::TensorProto& t);
  Constant shared_sparse(onnx::SparseTensorProto& t);
  void add_node(const onnx::NodeProto& n, NodeFacts facts, std::span<const std::string_view> captures, Scope& scope);
  void define_outputs(const onnx::NodeProto& n, Scope& scope, std::span<const ValueId> values);
  void fail_outputs(const onnx::NodeProto& n, Scope& scope);

  // import_functions.cpp
  void read_functions();
  void measure(Function& f, int depth);
  uint64_t measure(const NodeList& nodes, int depth);
  void call(const Function& f, onnx::NodeProto& n, Scope& scope, uint32_t row);
  void call_checked(const Function& f, onnx::NodeProto& n, Scope& scope, uint32_t row);

  // import_bodies.cpp
  /// What stands for the output of this number, made of the value that has its name.
  using GiveOutput = std::function<ValueId(Graph& body, int output, ValueId value)>;
  Body import_body(onnx::GraphProto& g, Scope& outer, std::span<const Type> inputs,
                   std::span<const std::string_view> seed, const GiveOutput& give = {});
  Body import_repeated(onnx::GraphProto& g, Scope& scope, std::vector<Type> inputs, int first_carried, int carried,
                       int first_out, bool keeps_shapes, uint32_t row);
  void import_control(onnx::NodeProto& n, NodeFacts facts, std::span<onnx::GraphProto* const> graphs, Scope& scope);
  bool fits_other_dims(const Mark& before) const;
  Branch import_branch(onnx::GraphProto& g, Scope& scope, std::span<const std::string_view> seed);
  Body fault_like(const Body& other, uint32_t row);
  void import_if(onnx::NodeProto& n, NodeFacts facts, onnx::GraphProto& yes, onnx::GraphProto& no, Scope& scope);
  void import_loop(onnx::NodeProto& n, NodeFacts facts, onnx::GraphProto& g, Scope& scope);
  void import_scan(onnx::NodeProto& n, NodeFacts facts, onnx::GraphProto& g, Scope& scope);
  void import_sequence_map(onnx::NodeProto& n, NodeFacts facts, onnx::GraphProto& g, Scope& scope);
  static Type scores_of(const NodeFacts& facts, const Scope& scope);
  void import_flex_attention(onnx::NodeProto& n, NodeFacts facts, std::span<onnx::GraphProto* const> graphs,
                             Scope& scope);
  void inline_branch(onnx::NodeProto& n, onnx::GraphProto& g, Scope& outer);
  void finish_repeated(onnx::NodeProto& n, NodeFacts facts, Body body, Scope& scope);

  onnx::ModelProto& proto_;
  const ImportOptions& options_;
  Trial trial_, next_;
  SizeBounds bounds_;  // taken
  DataFolder folder_;
  TensorReader reader_;
  Model model_;
  std::shared_ptr<Sources> sources_ = std::make_shared<Sources>();
  Opsets opsets_;
  std::map<FunctionKey, Function> functions_;
  FreeNames free_names_;
  std::unordered_map<const void*, Constant> tensors_;  // of each proto, once: its payload is moved out
  int64_t nodes_left_ = 0;                             // the budget that stops exponential expansion
  std::vector<Diagnostic> reports_;
  int hidden_ = 0, hidden_warnings_ = 0;  // reports beyond the limit
  Tallies tallies_;
  bool unsorted_ = false;
};

/// More nesting of bodies and calls than this is refused.
inline constexpr int kMaxDepth = 200;
inline constexpr size_t kMaxReports = 200;
inline constexpr int64_t kNewestOpset = 28;
inline constexpr int64_t kNewestIr = 14;
inline std::string_view plain_domain(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }

}  // namespace cameo::importing
