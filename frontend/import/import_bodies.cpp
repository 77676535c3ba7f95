// Bodies of If, Loop and Scan: each becomes a graph whose inputs are the operator's, then what it captures. Constants
// are shared into a body instead of captured; an If with a known condition is replaced by its branch. A loop's body is
// first typed with the initial values; an extent that an iteration changes is opened, and the body typed again.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/import/import_internal.h"

namespace cameo::importing {
namespace {

std::set<std::string_view> given_names(const onnx::GraphProto& g) {
  std::set<std::string_view> names;
  for (const auto& v : g.input()) names.insert(v.name());
  for (const auto& t : g.initializer()) names.insert(t.name());
  for (const auto& t : g.sparse_initializer()) names.insert(t.values().name());
  return names;
}

Shape without_axis(Shape shape, int axis) {
  shape.erase(shape.begin() + axis);
  return shape;
}

/// Of an If, whose branch a known condition chooses before there is a node.
void check_condition(const Type& t) {
  bool one = t.kind == Kind::Tensor && (!is_static(t.shape) || product(t.shape).is_static(1));
  if (t.dtype != DType::b1 || !one)
    throw CompileError(Code::E0301, fmt::format("the condition of `If` is {}, it must be one bool", to_string(t)));
}

Dim fresh_dim() {
  static uint64_t serial = 0;
  return Dim(symbol(fmt::format("?loop{}", serial++)));
}

/// Makes the extents of `in` open that `out` changes; true when there were any. `opened` remembers them. A number that
/// becomes another one stays where the operator `keeps_shapes`, whose rule refuses it.
bool open_changed(Type& in, const Type& out, std::set<Expr, bool (*)(Expr, Expr)>& opened, bool keeps_shapes) {
  bool changed = false;
  for (size_t d = 0; d < in.shape.size() && out.rank() == in.rank(); ++d) {
    if (in.shape[d] == out.shape[d] || opened.count(in.shape[d].extent())) continue;
    if (keeps_shapes && in.shape[d].is_static() && out.shape[d].is_static()) continue;
    in.shape[d] = fresh_dim();
    opened.insert(in.shape[d].extent());
    changed = true;
  }
  return changed;
}

/// Makes the list `in` one of the elements of both; true when it was another. One that no rank is known of may become
/// ranked, once.
bool widen(Type& in, const Type& out) {
  const auto both = common_element(in, out);
  if (!both || *both == in) return false;
  in = *both;
  return true;
}

/// A value that is the next of an optional one: it is there.
ValueId as_carried(Graph& body, const Type& in, ValueId value, uint32_t row) {
  const bool is_there = in.kind == Kind::Optional && body.type(value).kind == in.of->kind;
  return is_there ? body.add(get_operator("Optional"), {value}, {}, {row})[0] : value;
}

CompileError never_made(const onnx::GraphProto& body, const std::string& output) {
  return CompileError(
      Code::E0202, fmt::format("the body `{}` never makes its output `{}`", printable(body.name()), printable(output)));
}

}  // namespace

Importer::Body Importer::import_body(onnx::GraphProto& g, Scope& outer, std::span<const Type> inputs,
                                     std::span<const std::string_view> seed, const GiveOutput& give) {
  if (outer.depth >= kMaxDepth)
    throw CompileError(Code::E0201, fmt::format("bodies and functions are nested more than {} deep", kMaxDepth));
  if (g.input_size() != static_cast<int>(inputs.size()))
    throw CompileError(Code::E0203, fmt::format("the body `{}` has {} inputs, here it needs {}", printable(g.name()),
                                                g.input_size(), inputs.size()));
  Body body{std::make_shared<Graph>(sources_), {}, true};
  Scope scope{*body.graph, outer.region, nodes_left_, &outer, outer.depth + 1};
  std::set<std::string_view> seen;
  for (int i = 0; i < g.input_size(); ++i) {
    if (!seen.insert(g.input(i).name()).second)
      throw CompileError(Code::E0202, fmt::format("a body has two inputs `{}`", printable(g.input(i).name())));
    scope.define(g.input(i).name(), body.graph->add_input(g.input(i).name(), inputs[i]));
  }
  for (std::string_view name : seed) scope.find(name);
  import_initializers(g, scope);
  import_nodes(*g.mutable_node(), scope, add_rows(g.node(), scope.region), given_names(g));
  for (const auto& o : g.output()) {
    auto v = scope.find(o.name());
    if (!v || !*v) throw never_made(g, o.name());
    body.ok &= body.graph->type(*v).kind != Kind::Error;
    if (give) v = give(*body.graph, static_cast<int>(body.graph->outputs().size()), *v);
    body.graph->add_output(o.name(), *v);
  }
  for (auto& c : scope.captures) body.captures.push_back(c.name);
  return body;
}

// ---- If -----------------------------------------------------------------------------------------------------------

void Importer::inline_branch(onnx::NodeProto& n, onnx::GraphProto& g, Scope& outer) {
  if (outer.depth >= kMaxDepth)
    throw CompileError(Code::E0201, fmt::format("bodies and functions are nested more than {} deep", kMaxDepth));
  Scope scope{outer.graph, outer.region, nodes_left_, &outer, outer.depth + 1};
  import_initializers(g, scope);
  import_nodes(*g.mutable_node(), scope, add_rows(g.node(), scope.region), given_names(g));
  std::vector<ValueId> outputs;
  for (const auto& o : g.output()) {
    auto v = scope.find(o.name());
    if (!v || !*v) throw never_made(g, o.name());
    outputs.push_back(*v);
  }
  define_outputs(n, outer, outputs);
}

bool Importer::fits_other_dims(const Mark& before) const {
  if (hidden_ != before.hidden || tallies_.problems != before.problems) return false;
  return std::all_of(
      reports_.begin() + static_cast<ptrdiff_t>(before.reports), reports_.end(),
      [](const Diagnostic& d) { return is_warning(d.code) || d.code == Code::E0302 || d.code == Code::E0304; });
}

Importer::Branch Importer::import_branch(onnx::GraphProto& g, Scope& scope, std::span<const std::string_view> seed) {
  Mark before = save();
  Branch branch{import_body(g, scope, {}, seed), before.reports, {}};
  auto problem = std::find_if(reports_.begin() + static_cast<ptrdiff_t>(before.reports), reports_.end(),
                              [](const Diagnostic& d) { return !is_warning(d.code); });
  if (problem != reports_.end() && fits_other_dims(before)) branch.problem = *problem;
  branch.body.ok &= problem == reports_.end();
  return branch;
}

/// A branch that cannot be computed gives values of the other's types, which end a run that takes it. Values may be
/// empty, so that nothing of them is ever computed: one element more, which no one reads, ends the run all the same.
Importer::Body Importer::fault_like(const Body& other, uint32_t row) {
  Body body{std::make_shared<Graph>(sources_), other.captures, true};
  for (ValueId v : other.graph->inputs()) body.graph->add_input((*other.graph)[v]);
  auto add = [&](const std::string& name, DType t, const std::vector<int64_t>& dims) {
    ValueId like = body.graph->constant(Tensor(t, {1}));
    body.graph->add_output(name, body.graph->add(get_operator("Fault", "cameo"), {like}, {{"shape", dims}}, {row})[0]);
  };
  for (const Port& p : other.graph->outputs()) {
    const Type& t = other.graph->type(p.value);
    std::vector<int64_t> dims;
    for (const Dim& d : t.shape) dims.push_back(d.is_static() ? d.value() : 1);
    add(p.name, t.dtype, dims);
  }
  add({}, DType::b1, {1});
  other.graph->add_output({}, other.graph->constant(Tensor(DType::b1, {1})));
  return body;
}

void Importer::import_if(onnx::NodeProto& n, NodeFacts facts, onnx::GraphProto& yes, onnx::GraphProto& no,
                         Scope& scope) {
  for (onnx::GraphProto* g : {&yes, &no})
    if (g->input_size() > 0 || g->output_size() < n.output_size())
      throw CompileError(Code::E0203,
                         fmt::format("a branch of `If` has {} inputs and {} outputs, here it needs 0 and {}",
                                     g->input_size(), g->output_size(), n.output_size()));
  if (facts.inputs.size() != 1 || !facts.inputs[0])
    throw CompileError(Code::E0203, "`If` takes one input, the condition");
  check_condition(scope.graph.type(facts.inputs[0]));
  if (const Constant& condition = scope.graph[facts.inputs[0]].constant;
      condition && condition->size() == 1 && condition->dtype() == DType::b1)
    return inline_branch(n, condition->get_int(0) ? yes : no, scope);
  Branch first = import_branch(yes, scope, {});
  Branch second = import_branch(no, scope, first.body.captures);
  Body &a = first.body, &b = second.body;
  for (auto [bad, good] : {std::pair{&first, &second}, std::pair{&second, &first}}) {
    if (!bad->problem || !good->body.ok) continue;
    auto begin = reports_.begin() + static_cast<ptrdiff_t>(bad->reports);
    reports_.erase(begin, bad == &first ? reports_.begin() + static_cast<ptrdiff_t>(good->reports) : reports_.end());
    Diagnostic d = *bad->problem;
    d.message = fmt::format("a branch of `If` cannot be computed with these dims: {}", d.message);
    d.code = Code::W0006;
    report(std::move(d));
    bad->body = fault_like(good->body, facts.row);
  }
  for (size_t i = a.captures.size(); i < b.captures.size(); ++i)  // both take the same list
    a.graph->add_input(std::string(b.captures[i]), scope.graph.type(*scope.find(b.captures[i])));
  if (!a.ok || !b.ok) return fail_outputs(n, scope);
  facts.bodies = {a.graph, b.graph};
  add_node(n, std::move(facts), a.captures.size() > b.captures.size() ? a.captures : b.captures, scope);
}

// ---- Loop and Scan ------------------------------------------------------------------------------------------------

Importer::Body Importer::import_repeated(onnx::GraphProto& g, Scope& scope, std::vector<Type> inputs, int first_carried,
                                         int carried, int first_out, bool keeps_shapes, uint32_t row) {
  std::set<Expr, bool (*)(Expr, Expr)> opened([](Expr a, Expr b) { return a.id() < b.id(); });
  const auto give = [&](Graph& body, int output, ValueId value) {
    const int number = output - first_out;
    const bool is_carried = number >= 0 && number < carried;
    return is_carried ? as_carried(body, inputs[static_cast<size_t>(first_carried + number)], value, row) : value;
  };
  for (;;) {
    Mark mark = save();
    Body body = import_body(g, scope, inputs, {}, give);
    bool changed = false;
    for (int i = 0; i < carried && first_out + i < g.output_size(); ++i) {
      const Type& out = body.graph->type(body.graph->outputs()[first_out + i].value);
      if (out.kind == Kind::Tensor && inputs[first_carried + i].kind == Kind::Tensor)
        changed |= open_changed(inputs[first_carried + i], out, opened, keeps_shapes);
      else if (out.is_list())
        changed |= widen(inputs[first_carried + i], out);
    }
    if (!changed) return body;
    restore(mark);
  }
}

void Importer::import_loop(onnx::NodeProto& n, NodeFacts facts, onnx::GraphProto& g, Scope& scope) {
  facts.inputs.resize(std::max<size_t>(facts.inputs.size(), 2));
  int carried = static_cast<int>(facts.inputs.size()) - 2;
  const auto counter = [&](int input, DType type) {  // of one element in old models, where ONNX has a scalar
    const bool has_axis = input < g.input_size() && g.input(input).type().tensor_type().shape().dim_size() == 1;
    return Type(type, has_axis ? Shape{1} : Shape{});
  };
  std::vector<Type> types{counter(0, DType::i64), counter(1, DType::b1)};
  for (int i = 0; i < carried; ++i) {
    if (!facts.inputs[2 + i])
      throw CompileError(Code::E0203, fmt::format("`Loop` lacks the initial value of its carried value {}", i));
    types.push_back(scope.graph.type(facts.inputs[2 + i]));
  }
  if (g.output_size() < 1 + carried || n.output_size() > g.output_size() - 1)
    throw CompileError(
        Code::E0203,
        fmt::format("the body of `Loop` has {} outputs: a condition, {} carried values and {} scans are needed",
                    g.output_size(), carried, std::max(0, n.output_size() - carried)));
  Body body = import_repeated(g, scope, std::move(types), 2, carried, 1, false, facts.row);
  finish_repeated(n, std::move(facts), std::move(body), scope);
}

/// Version 8 has lengths of sequences in front, which are none of the body's, and a batch axis before all others.
void Importer::import_scan(onnx::NodeProto& n, NodeFacts facts, onnx::GraphProto& g, Scope& scope) {
  auto* count =
      facts.attrs.count("num_scan_inputs") ? std::get_if<int64_t>(&facts.attrs.at("num_scan_inputs")) : nullptr;
  const int first = facts.version == 8;
  const auto total = static_cast<int64_t>(facts.inputs.size());
  if (!count || *count < 0 || *count > total - first)
    throw CompileError(Code::E0204, "`Scan` needs `num_scan_inputs` between 0 and its number of inputs");
  const int carried = static_cast<int>(total - *count) - first;
  std::vector<int64_t> axes(static_cast<size_t>(*count), 0);
  if (auto it = facts.attrs.find("scan_input_axes"); it != facts.attrs.end())
    axes = std::get<std::vector<int64_t>>(it->second);
  if (axes.size() != static_cast<size_t>(*count))
    throw CompileError(Code::E0204,
                       fmt::format("`scan_input_axes` has {} entries for {} scanned inputs", axes.size(), *count));
  std::vector<Type> types;
  for (int64_t i = first; i < total; ++i) {
    if (!facts.inputs[i]) throw CompileError(Code::E0203, fmt::format("`Scan` lacks its input {}", i));
    Type t = scope.graph.type(facts.inputs[i]);
    if (first) t.shape = without_axis(t.shape, NodeView::axis(0, t.rank()));
    const int64_t scanned = i - first - carried;
    if (scanned >= 0) t.shape = without_axis(t.shape, NodeView::axis(axes[scanned], t.rank()));
    types.push_back(std::move(t));
  }
  if (g.output_size() < carried || n.output_size() > g.output_size())
    throw CompileError(Code::E0203,
                       fmt::format("the body of `Scan` has {} outputs: {} carried values and {} scans are needed",
                                   g.output_size(), carried, std::max(0, n.output_size() - carried)));
  Body body = import_repeated(g, scope, std::move(types), 0, carried, 0, true, facts.row);
  finish_repeated(n, std::move(facts), std::move(body), scope);
}

/// `captures` tells the captured values behind the carried ones, as the operators declare it.
void Importer::finish_repeated(onnx::NodeProto& n, NodeFacts facts, Body body, Scope& scope) {
  if (!body.ok) return fail_outputs(n, scope);
  facts.attrs["captures"] = static_cast<int64_t>(body.captures.size());  // trailing inputs
  facts.bodies = {body.graph};
  add_node(n, std::move(facts), body.captures, scope);
}

// ---- SequenceMap --------------------------------------------------------------------------------------------------

/// Its body takes elements of sequences, and tensors as they are.
void Importer::import_sequence_map(onnx::NodeProto& n, NodeFacts facts, onnx::GraphProto& g, Scope& scope) {
  std::vector<Type> types;
  for (ValueId v : facts.inputs) {
    if (!v) throw CompileError(Code::E0203, "`SequenceMap` lacks an input");
    Type t = scope.graph.type(v);
    if (t.kind == Kind::Sequence) t = Type(*t.of);
    if (!t.ranked)
      throw CompileError(Code::E0404, fmt::format("the rank of the elements of {} is not known when compiling",
                                                  to_string(scope.graph.type(v))));
    for (Dim& d : t.shape)
      if (d == any_extent()) d = fresh_dim();
    types.push_back(std::move(t));
  }
  if (g.output_size() < n.output_size())
    throw CompileError(Code::E0203, fmt::format("the body of `SequenceMap` has {} outputs, here it needs {}",
                                                g.output_size(), n.output_size()));
  finish_repeated(n, std::move(facts), import_body(g, scope, types, {}), scope);
}

// ---- FlexAttention ------------------------------------------------------------------------------------------------

/// What the bodies take and give: a score for each query and key, in the type of the softmax.
Type Importer::scores_of(const NodeFacts& facts, const Scope& scope) {
  if (facts.inputs.size() < 2 || !facts.inputs[0] || !facts.inputs[1])
    throw CompileError(Code::E0203, "`FlexAttention` takes Q, K and V");
  const Type &q = scope.graph.type(facts.inputs[0]), &k = scope.graph.type(facts.inputs[1]);
  if (q.rank() != 4 || k.rank() != 4)
    throw CompileError(Code::E0302, fmt::format("Q is {} and K {}: ranks of 4 are needed", to_string(q), to_string(k)));
  const auto given = facts.attrs.find("softmax_precision");
  const DType by_default = q.dtype == DType::f64 ? DType::f64 : DType::f32;
  const DType t = given == facts.attrs.end() ? by_default : static_cast<DType>(std::get<int64_t>(given->second));
  return Type(t, {q.shape[0], q.shape[1], q.shape[2], k.shape[2]});
}

/// What changes scores and what changes probabilities, either of which may be left out; both take the same captures.
void Importer::import_flex_attention(onnx::NodeProto& n, NodeFacts facts, std::span<onnx::GraphProto* const> graphs,
                                     Scope& scope) {
  const Type scores = scores_of(facts, scope);
  std::vector<Body> bodies;
  std::vector<std::string_view> captures;
  std::vector<int64_t> stages;
  for (size_t i = 0; i < graphs.size(); ++i) {
    if (!graphs[i]) continue;
    bodies.push_back(import_body(*graphs[i], scope, {&scores, 1}, captures));
    if (!bodies.back().ok) return fail_outputs(n, scope);
    captures = bodies.back().captures;
    stages.push_back(static_cast<int64_t>(i));
  }
  for (Body& body : bodies) {
    for (size_t c = body.captures.size(); c < captures.size(); ++c)
      body.graph->add_input(std::string(captures[c]), scope.graph.type(*scope.find(captures[c])));
    facts.bodies.push_back(body.graph);
  }
  facts.attrs["captures"] = static_cast<int64_t>(captures.size());
  facts.attrs["stages"] = std::move(stages);
  add_node(n, std::move(facts), captures, scope);
}

void Importer::import_control(onnx::NodeProto& n, NodeFacts facts, std::span<onnx::GraphProto* const> graphs,
                              Scope& scope) {
  std::string_view name = facts.op->name;
  if (name == "Loop") return import_loop(n, std::move(facts), *graphs[0], scope);
  if (name == "Scan") return import_scan(n, std::move(facts), *graphs[0], scope);
  if (name == "SequenceMap") return import_sequence_map(n, std::move(facts), *graphs[0], scope);
  if (name == "FlexAttention") return import_flex_attention(n, std::move(facts), graphs, scope);
  if (name != "If") throw CompileError(Code::E0402, fmt::format("`{}` with a body is not supported", name));
  bool then_first = facts.op->attributes[0].name == "then_branch";
  import_if(n, std::move(facts), *graphs[then_first ? 0 : 1], *graphs[then_first ? 1 : 0], scope);
}

}  // namespace cameo::importing
