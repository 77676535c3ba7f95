// One node: its operator and version, its inputs by name, its attributes against the signature, and its outputs. A node
// that fails, or reads what failed, gives error values, so that each independent problem is reported once.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "frontend/import/import_internal.h"
#include "frontend/ir/differentiate.h"

namespace cameo::importing {

std::string Importer::at(uint32_t row) const { return where(*sources_, {row}); }

// ---- a list of nodes ----------------------------------------------------------------------------------------------

uint32_t Importer::add_rows(const NodeList& nodes, const Region& region) {
  auto first = static_cast<uint32_t>(sources_->size());
  for (const auto& n : nodes) {
    std::string output = n.output_size() ? n.output(0) : std::string();
    std::string name = region.prefix.empty() ? n.name() : region.prefix + (n.name().empty() ? output : n.name());
    sources_->push_back({n.op_type(), std::move(name), std::move(output)});
  }
  return first;
}

void Importer::import_nodes(NodeList& nodes, Scope& scope, uint32_t first_row, const std::set<std::string_view>& given,
                            const std::vector<bool>* needed) {
  Order order = order_nodes(nodes, given, free_names_);
  auto row = [&](int i) { return first_row + static_cast<uint32_t>(i); };
  for (auto& d : order.duplicates)
    report(Code::E0202, fmt::format("`{}` is made twice", printable(d.name)), at(row(d.node)));
  for (auto& l : order.late)
    report(Code::E0202, fmt::format("a body uses `{}`, which is made later", printable(l.name)), at(row(l.node)));
  if (!order.cycle.empty()) {
    std::string names;
    for (size_t i = 0; i < std::min<size_t>(order.cycle.size(), 8); ++i)
      names += fmt::format("{}`{}`", i ? ", which needs " : "", printable(nodes[order.cycle[i]].output(0)));
    report(Code::E0202,
           fmt::format("{} nodes form a cycle: {}{}", order.cycle.size(), names, order.cycle.size() > 8 ? ", .." : ""),
           at(row(order.cycle[0])));
    for (const auto& n : nodes) fail_outputs(n, scope);  // those on the cycle stay errors
  }
  if (!order.sorted && !unsorted_) {
    unsorted_ = true;
    report(Code::W0001, "the nodes do not stand in execution order; they are sorted");
  }
  for (int i : order.nodes)
    if (!needed || (*needed)[i]) import_node(nodes[i], scope, row(i));
}

// ---- operators ----------------------------------------------------------------------------------------------------

const Function* Importer::local_function(const onnx::NodeProto& n) const {
  if (functions_.empty()) return nullptr;
  auto it = functions_.find({std::string(plain_domain(n.domain())), n.op_type(), newer_string(n, 8)});
  return it == functions_.end() ? nullptr : &it->second;
}

void Importer::missing_operator(const onnx::NodeProto& n, std::string_view domain, int64_t opset, const Operator* op,
                                uint32_t row) {
  std::string title = printable(domain.empty() ? n.op_type() : fmt::format("{}.{}", domain, n.op_type()));
  Missing& m = tallies_.missing[title + (op ? fmt::format(" {}", opset) : "")];
  if (!count_problem(m.seen)) return;
  m.seen.first = at(row);
  m.message = op ? fmt::format("operator `{}` of opset {} is not supported", title, opset)
                 : fmt::format("operator `{}` is not supported", title);
  if (!op) m.help = "--custom FILE.cpp supplies an operator of your own";
  if (op)
    m.help = fmt::format("it is from opset {} on: onnx.version_converter can convert the model", op->since.front());
}

/// An experiment that the standard had until opset 9 (frontend/ops/removed), and with --lenient later; else null.
const Operator* Importer::removed_operator(const onnx::NodeProto& n, int64_t opset, uint32_t row) {
  constexpr int64_t kLast = 9;
  const Operator* op = find_operator(n.op_type(), "removed");
  if (!op || opset <= kLast) return op;
  if (!options_.lenient) return nullptr;
  report(Code::W0005, fmt::format("`{}` was an experiment until opset {}; it counts all the same", op->name, kLast),
         at(row));
  return op;
}

const Operator* Importer::custom_operator(std::string_view name, std::string_view domain) const {
  const auto& all = options_.custom;
  const auto found =
      std::ranges::find_if(all, [&](const Operator* op) { return op->name == name && op->domain == domain; });
  return found == all.end() ? nullptr : *found;
}

/// The operator and its version, or null after a report.
const Operator* Importer::known_operator(const onnx::NodeProto& n, const Region& region, uint32_t row, int& version) {
  std::string_view domain = plain_domain(n.domain());
  auto opset = region.opsets->find(domain);
  if (opset == region.opsets->end()) {
    Seen& s = tallies_.domains[std::string(domain)];
    if (count_problem(s)) s.first = at(row);
    return nullptr;
  }
  const Operator* op = find_operator(n.op_type(), domain);
  if (!op) op = custom_operator(n.op_type(), domain);
  if (!op && domain.empty()) op = removed_operator(n, opset->second, row);
  version = op ? version_at(*op, static_cast<int>(std::min<int64_t>(opset->second, INT32_MAX))) : 0;
  if (op && version) return op;
  missing_operator(n, domain, opset->second, op, row);
  return nullptr;
}

/// Lists unknown operators of bodies that are not imported, because their node reads an error.
void Importer::scan_operators(const onnx::NodeProto& n, const Region& region, uint32_t row) {
  for (const auto& a : n.attribute()) {
    if (!a.has_g()) continue;
    for (const auto& inner : a.g().node()) {
      int version;
      if (!local_function(inner) && inner.op_type() != "Constant") known_operator(inner, region, row, version);
      scan_operators(inner, region, row);
    }
  }
}

void Importer::import_node(onnx::NodeProto& n, Scope& scope, uint32_t row) {
  if (--nodes_left_ < 0) throw TooManyNodes();
  if (const Function* f = local_function(n)) return call(*f, n, scope, row);
  if (n.op_type() == "Constant" && plain_domain(n.domain()).empty()) return import_constant(n, scope, row);
  if (n.op_type() == "Gradient" && n.domain() == "ai.onnx.preview.training") return import_gradient(n, scope, row);
  int version;
  const Operator* op = known_operator(n, scope.region, row, version);
  if (op) {
    try {
      return import_operator(n, *op, version, scope, row);
    } catch (CompileError& e) {
      if (e.diagnostic.node.empty()) e.diagnostic.node = at(row);
      report(std::move(e.diagnostic));
    }
  } else {
    scan_operators(n, scope.region, row);
  }
  fail_outputs(n, scope);
}

std::vector<ValueId> Importer::read_inputs(const onnx::NodeProto& n, Scope& scope, uint32_t row, bool& ok) {
  std::vector<ValueId> inputs;
  for (const auto& name : n.input()) {
    if (name.empty()) {
      inputs.push_back({});
      continue;
    }
    std::optional<ValueId> v = scope.find(name);
    if (!v) {
      Seen& s = tallies_.undefined[name];
      if (count_problem(s)) s.first = at(row);
      scope.define(name, scope.graph.error_value(name));
      v = scope.names[name];
    }
    if (*v) ok &= scope.graph.type(*v).kind != Kind::Error;  // a function's input may be absent
    inputs.push_back(*v);
  }
  return inputs;
}

/// Negative pads take elements away: those are cut off in front of the node. False where that is not what they mean.
bool Importer::crop(NodeFacts& f, const onnx::NodeProto& n, Scope& scope) {
  constexpr std::string_view kWindows[] = {"Conv", "ConvInteger", "QLinearConv", "MaxPool", "AveragePool", "LpPool"};
  const auto pads = f.attrs.find("pads"), mode = f.attrs.find("auto_pad");
  if (std::ranges::find(kWindows, f.op->name) == std::end(kWindows) || pads == f.attrs.end() ||
      (mode != f.attrs.end() && std::get<std::string>(mode->second) != "NOTSET") || f.inputs.empty() || !f.inputs[0])
    return false;
  auto& amounts = std::get<std::vector<int64_t>>(pads->second);
  const size_t axes = amounts.size() / 2;
  const bool indices = f.op->name == "MaxPool" && n.output_size() > 1 && !n.output(1).empty();
  if (indices || std::ranges::none_of(amounts, [](int64_t a) { return a < 0; }) || amounts.size() % 2 != 0 ||
      scope.graph.type(f.inputs[0]).rank() != static_cast<int>(axes + 2))
    return false;
  std::vector<int64_t> begins, ends, along;
  for (size_t a = 0; a < axes; ++a) {
    along.push_back(static_cast<int64_t>(a + 2));
    begins.push_back(std::max<int64_t>(-amounts[a], 0));
    ends.push_back(amounts[a + axes] < 0 ? amounts[a + axes] : INT64_MAX);
  }
  for (int64_t& a : amounts) a = std::max<int64_t>(a, 0);
  auto list = [&](const std::vector<int64_t>& v) {
    return scope.graph.constant(Tensor::i64({static_cast<int64_t>(v.size())}, v));
  };
  f.inputs[0] =
      scope.graph.add(get_operator("Slice"), {f.inputs[0], list(begins), list(ends), list(along)}, {}, {f.row})[0];
  return true;
}

/// Pads of ConvTranspose take elements off its output, so negative ones add some that nothing but the bias reaches: at
/// the end as `output_padding` does; at the front as zeros in front of the input do, the odd ones taken off.
bool Importer::extend(NodeFacts& f, Scope& scope) {
  const auto list = [&](std::string_view name, std::vector<int64_t> otherwise) {
    auto a = f.attrs.find(name);
    return a == f.attrs.end() ? otherwise : std::get<std::vector<int64_t>>(a->second);
  };
  const auto within = [](const std::vector<int64_t>& v, int64_t least, int64_t most) {
    return std::ranges::all_of(v, [&](int64_t x) { return x >= least && x <= most; });
  };
  constexpr int64_t kMost = 1 << 20;
  const auto mode = f.attrs.find("auto_pad");
  std::vector<int64_t> pads = list("pads", {}), front(pads.size() + 4);
  const size_t axes = pads.size() / 2;
  std::vector<int64_t> strides = list("strides", std::vector<int64_t>(axes, 1)),
                       extra = list("output_padding", std::vector<int64_t>(axes));
  if (f.op->name != "ConvTranspose" || f.attrs.contains("output_shape") || f.inputs.empty() || !f.inputs[0] ||
      (mode != f.attrs.end() && std::get<std::string>(mode->second) != "NOTSET") || within(pads, 0, INT64_MAX) ||
      !within(pads, -kMost, kMost) || !within(strides, 1, kMost) || !within(extra, 0, kMost) || pads.size() % 2 != 0 ||
      strides.size() != axes || extra.size() != axes ||
      scope.graph.type(f.inputs[0]).rank() != static_cast<int>(axes + 2))
    return false;
  for (size_t a = 0; a < axes; ++a) {
    int64_t &begin = pads[a], &end = pads[a + axes];
    if (end < 0) extra[a] -= end, end = 0;
    if (begin < 0) front[2 + a] = (strides[a] - 1 - begin) / strides[a], begin += front[2 + a] * strides[a];
  }
  const ValueId zeros = scope.graph.constant(Tensor::i64({static_cast<int64_t>(front.size())}, front));
  f.inputs[0] = scope.graph.add(get_operator("Pad"), {f.inputs[0], zeros}, {}, {f.row})[0];
  f.attrs.insert_or_assign("pads", pads);
  f.attrs.insert_or_assign("output_padding", extra);
  return true;
}

/// With --lenient, what operators refuse though it is clear what is meant.
void Importer::repair(NodeFacts& f, const onnx::NodeProto& n, Scope& scope) {
  auto say = [&](std::string_view what) { report(Code::W0005, fmt::format("`{}` {}", f.op->name, what), at(f.row)); };
  if (auto perm = f.attrs.find("perm");
      f.op->name == "Transpose" && perm != f.attrs.end() && f.inputs.size() == 1 && f.inputs[0]) {
    auto& axes = std::get<std::vector<int64_t>>(perm->second);
    if (std::ranges::any_of(axes, [](int64_t a) { return a < 0; }))
      say("has negative axes in `perm`; they count from the end");
    for (int64_t& a : axes)
      if (a < 0) a += scope.graph.type(f.inputs[0]).rank();
  }
  constexpr size_t kScales = 2, kSizes = 3;
  if (f.op->name == "Resize" && f.inputs.size() > kSizes && f.inputs[kScales] && f.inputs[kSizes] &&
      !has_no_elements(scope.graph.type(f.inputs[kScales]).shape) &&
      !has_no_elements(scope.graph.type(f.inputs[kSizes]).shape)) {
    say("has both `scales` and `sizes`; `sizes` counts");
    f.inputs[kScales] = {};
  }
  if (crop(f, n, scope)) say("has negative `pads`; they take elements away");
  if (extend(f, scope)) say("has negative `pads`; they add to the output");
  if (f.op->name == "Split" && ((f.inputs.size() > 1 && f.inputs[1]) || f.attrs.contains("split")) &&
      f.attrs.erase("num_outputs"))
    say("has both `split` and `num_outputs`; `split` counts");
}

namespace {
/// Whether it draws numbers: those of nodes without a seed differ.
bool draws(const Operator& op) {
  return std::ranges::any_of(op.attributes, [](const AttrSpec& a) { return a.name == "stream"; });
}
bool is_list(const Operator& op) { return !op.outputs.empty() && op.outputs.back().presence == OutputSpec::Variadic; }
}  // namespace

void Importer::import_operator(onnx::NodeProto& n, const Operator& op, int version, Scope& scope, uint32_t row) {
  bool ok = true;
  NodeFacts facts{&op, version, row, read_inputs(n, scope, row, ok), {}, {}};
  std::vector<onnx::GraphProto*> graphs;
  facts.attrs = read_attributes(n, op, version, scope.region, row, graphs);
  if (!is_list(op) && n.output_size() > static_cast<int>(op.outputs.size()))
    throw CompileError(Code::E0203, fmt::format("`{}` has {} outputs, it gives at most {}", op.name, n.output_size(),
                                                op.outputs.size()));
  if (std::ranges::all_of(n.output(), [](auto& name) { return name.empty(); }))
    throw CompileError(Code::E0203, fmt::format("`{}` has no outputs", op.name));
  if (!ok) {
    scan_operators(n, scope.region, row);
    return fail_outputs(n, scope);
  }
  if (draws(op) && !facts.attrs.contains("seed")) facts.attrs["stream"] = int64_t{row};
  if (options_.lenient) repair(facts, n, scope);
  if (graphs.empty())
    add_node(n, std::move(facts), {}, scope);
  else
    import_control(n, std::move(facts), graphs, scope);
}

/// Adds the node; what its bodies capture are trailing inputs.
void Importer::add_node(const onnx::NodeProto& n, NodeFacts f, std::span<const std::string_view> captures,
                        Scope& scope) {
  for (std::string_view name : captures) f.inputs.push_back(*scope.find(name));
  int outputs = n.output_size();  // each of a list counts; of others, trailing ones without a name are not there
  while (!is_list(*f.op) && n.output(outputs - 1).empty()) --outputs;
  std::vector<ValueId> made =
      scope.graph.add(*f.op, std::move(f.inputs), std::move(f.attrs), {f.row}, f.version, outputs, std::move(f.bodies));
  define_outputs(n, scope, made);
}

void Importer::define_outputs(const onnx::NodeProto& n, Scope& scope, std::span<const ValueId> values) {
  for (int i = 0; i < n.output_size() && i < static_cast<int>(values.size()); ++i) {
    if (n.output(i).empty()) continue;
    if (values[i] && scope.graph[values[i]].name.empty()) scope.graph.set_name(values[i], n.output(i));
    if (trial_.deciding.contains(n.output(i)) && scope.graph[values[i]].producer) scope.graph.decide(values[i]);
    scope.define(n.output(i), values[i]);
  }
}
void Importer::fail_outputs(const onnx::NodeProto& n, Scope& scope) {
  for (const auto& name : n.output())
    if (!name.empty()) scope.define(name, scope.graph.error_value(name));
}

// ---- attributes ---------------------------------------------------------------------------------------------------
namespace {

using Proto = onnx::AttributeProto;

std::string_view kind_name(AttrKind k) {
  constexpr std::string_view names[] = {"an int",         "a float",          "a string",
                                        "a list of ints", "a list of floats", "a list of strings",
                                        "a tensor",       "a type",           "a graph"};
  return names[static_cast<int>(k)];
}
int proto_type(AttrKind k) {
  constexpr int types[] = {Proto::INT,     Proto::FLOAT,  Proto::STRING,     Proto::INTS, Proto::FLOATS,
                           Proto::STRINGS, Proto::TENSOR, Proto::TYPE_PROTO, Proto::GRAPH};
  return types[static_cast<int>(k)];
}

std::string_view proto_name(int type) {
  for (int k = 0; k <= static_cast<int>(AttrKind::Graph); ++k)
    if (proto_type(static_cast<AttrKind>(k)) == type) return kind_name(static_cast<AttrKind>(k));
  return type == Proto::SPARSE_TENSOR ? "a sparse tensor" : "something else";
}

/// The type that an attribute's fields show; UNDEFINED when none is set.
int shown_type(const Proto& a) {
  if (a.has_f()) return Proto::FLOAT;
  if (a.has_i()) return Proto::INT;
  if (a.has_s()) return Proto::STRING;
  if (a.has_t()) return Proto::TENSOR;
  if (a.has_g()) return Proto::GRAPH;
  if (a.has_sparse_tensor()) return Proto::SPARSE_TENSOR;
  if (a.has_tp()) return Proto::TYPE_PROTO;
  if (a.floats_size()) return Proto::FLOATS;
  if (a.ints_size()) return Proto::INTS;
  if (a.strings_size()) return Proto::STRINGS;
  return Proto::UNDEFINED;
}
bool shows(const Proto& a, int type) {
  switch (type) {
    case Proto::FLOAT: return a.has_f();
    case Proto::INT: return a.has_i();
    case Proto::STRING: return a.has_s();
    case Proto::TENSOR: return a.has_t();
    case Proto::GRAPH: return a.has_g();
    default: return shown_type(a) == type;
  }
}

}  // namespace

onnx::AttributeProto* resolve(onnx::AttributeProto& a, const Region& region) {
  if (a.ref_attr_name().empty()) return &a;
  if (!region.arguments)
    throw CompileError(Code::E0204, fmt::format("attribute `{}` refers to `{}`, which only works in a function",
                                                printable(a.name()), printable(a.ref_attr_name())));
  auto it = region.arguments->find(a.ref_attr_name());
  return it == region.arguments->end() ? nullptr : it->second;
}

/// The type that an attribute says it has, or, in old models, that its fields show; UNDEFINED for an empty one.
int Importer::type_of(const onnx::AttributeProto& a, const std::string& node) {
  const int shown = shown_type(a), said = a.type();
  if (said == Proto::UNDEFINED || shown == Proto::UNDEFINED || shows(a, said)) return said ? said : shown;
  tolerate(Code::E0204,
           fmt::format("attribute `{}` says that it is {}, but holds {}", printable(a.name()), proto_name(said),
                       proto_name(shown)),
           "what it holds counts", node);
  return shown;
}

Constant Importer::shared_tensor(onnx::TensorProto& t) {
  Constant& c = tensors_[&t];
  if (!c) c = std::make_shared<const Tensor>(read_tensor(t, reader_));
  return c;
}
Constant Importer::shared_sparse(onnx::SparseTensorProto& t) {
  Constant& c = tensors_[&t];
  if (!c) c = std::make_shared<const Tensor>(read_sparse(t, reader_));
  return c;
}

std::optional<Attr> Importer::read_attribute(onnx::AttributeProto& a, int type) {
  switch (type) {
    case Proto::INT: return Attr(int64_t{a.i()});
    case Proto::FLOAT: return Attr(double{a.f()});
    case Proto::STRING: return Attr(a.s());
    case Proto::INTS: return Attr(std::vector<int64_t>(a.ints().begin(), a.ints().end()));
    case Proto::FLOATS: return Attr(std::vector<double>(a.floats().begin(), a.floats().end()));
    case Proto::STRINGS: return Attr(std::vector<std::string>(a.strings().begin(), a.strings().end()));
    case Proto::TENSOR: return Attr(shared_tensor(*a.mutable_t()));
    case Proto::TYPE_PROTO: return Attr(std::make_shared<const Type>(type_of_element(a.tp())));
    default: return std::nullopt;
  }
}

namespace {
/// Of an attribute that has had several kinds, the one that is written; else the first, or null.
const AttrSpec* spec_of(const Operator& op, std::string_view name, const Proto& a) {
  const AttrSpec* found = nullptr;
  for (const AttrSpec& spec : op.attributes)
    if (spec.name == name && (!found || shows(a, proto_type(spec.kind)))) found = &spec;
  return found;
}
/// The type that `Cast` of version 1 names.
std::optional<int64_t> named_type(const Operator& op, int version, std::string_view name, const Proto& a) {
  if (op.name != "Cast" || version > 1 || name != "to" || !a.has_s()) return std::nullopt;
  const auto same = [](char x, char y) { return x == std::toupper(y); };
  for (int64_t t = 1; t < kDTypeCount; ++t)
    if (std::ranges::equal(a.s(), kDTypes[t].onnx, same)) return t;
  throw CompileError(Code::E0204, fmt::format("`to` is `{}`, which is no element type", printable(a.s())));
}
/// Which inputs a node may overwrite, as the first five opsets had it.
bool is_consumed_inputs(std::string_view name, int version) { return version < 6 && name == "consumed_inputs"; }
}  // namespace

Attrs Importer::read_attributes(onnx::NodeProto& n, const Operator& op, int version, const Region& region, uint32_t row,
                                std::vector<onnx::GraphProto*>& graphs) {
  Attrs attrs;
  std::set<std::string_view> seen;
  std::map<std::string_view, onnx::GraphProto*> bodies;
  for (auto& written : *n.mutable_attribute()) {
    if (!seen.insert(written.name()).second)
      throw CompileError(Code::E0204, fmt::format("attribute `{}` stands twice", printable(written.name())));
    Proto* a = resolve(written, region);
    if (!a) continue;
    if (is_consumed_inputs(written.name(), version)) continue;
    if (auto t = named_type(op, version, written.name(), *a)) {
      attrs["to"] = *t;
      continue;
    }
    const AttrSpec* spec = spec_of(op, written.name(), *a);
    if (!spec) {
      Seen& s =
          tallies_.unknown_attributes[fmt::format("`{}` has no attribute `{}`", op.name, printable(written.name()))];
      if (count(s)) s.first = at(row);
      continue;
    }
    const int wanted = proto_type(spec->kind);
    if (int type = type_of(*a, at(row)); type != wanted && type != Proto::UNDEFINED)
      throw CompileError(Code::E0204, fmt::format("attribute `{}` of `{}` is {}, it must be {}", spec->name, op.name,
                                                  proto_name(type), kind_name(spec->kind)));
    if (version < spec->since)
      tolerate(Code::E0204,
               fmt::format("`{}` has the attribute `{}` from opset {} on, this is the operator of opset {}", op.name,
                           spec->name, spec->since, version),
               "it counts all the same", at(row));
    if (spec->kind == AttrKind::Graph)
      bodies[spec->name] = a->mutable_g();
    else
      attrs[written.name()] = *read_attribute(*a, wanted);
  }
  for (const AttrSpec& spec : op.attributes) {
    if (spec.kind != AttrKind::Graph) continue;
    if (!bodies.count(spec.name) && !spec.fallback)
      throw CompileError(Code::E0204, fmt::format("attribute `{}` of `{}` is missing", spec.name, op.name));
    graphs.push_back(bodies[spec.name]);  // null: left out
  }
  return attrs;
}

// ---- Gradient -----------------------------------------------------------------------------------------------------

/// The value that an attribute of `Gradient` names: of the same graph, and computed.
ValueId Importer::named_value(const std::string& name, Scope& scope) {
  const auto found = scope.names.find(name);
  if (found == scope.names.end() || !found->second)
    throw CompileError(Code::E0202,
                       fmt::format("`Gradient` names `{}`, which is made by no node before it", printable(name)));
  if (scope.graph[found->second].constant)
    throw CompileError(Code::E0402, fmt::format("`Gradient` of `{}`, which is a constant", printable(name)));
  return found->second;
}

/// Nodes that compute the derivatives stand in its place; at the values that it names, not at others.
void Importer::import_gradient(onnx::NodeProto& n, Scope& scope, uint32_t row) {
  try {
    bool ok = true;
    const std::vector<ValueId> inputs = read_inputs(n, scope, row, ok);
    if (!ok) return fail_outputs(n, scope);
    std::vector<ValueId> xs, all;
    ValueId y;
    for (const auto& a : n.attribute()) {
      if (a.name() == "y") y = named_value(a.s(), scope);
      for (const auto& name : a.strings()) {
        all.push_back(named_value(name, scope));
        if (a.name() == "xs") xs.push_back(all.back());
      }
    }
    if (!y || xs.empty()) throw CompileError(Code::E0204, "`Gradient` needs `y` and `xs`");
    if (!std::ranges::is_permutation(inputs, all))
      throw CompileError(Code::E0402, "`Gradient` at other values than `xs` and `zs`");
    define_outputs(n, scope, differentiate(scope.graph, y, xs, {row}));
  } catch (CompileError& e) {
    if (e.diagnostic.node.empty()) e.diagnostic.node = at(row);
    report(std::move(e.diagnostic));
    fail_outputs(n, scope);
  }
}

// ---- Constant -----------------------------------------------------------------------------------------------------
namespace {

Tensor list_tensor(const Attr& a) {
  if (auto* v = std::get_if<int64_t>(&a)) return Tensor::i64({}, {v, 1});
  if (auto* v = std::get_if<double>(&a)) return Tensor::scalar(DType::f32, *v);
  if (auto* v = std::get_if<std::string>(&a)) return Tensor::of_strings({}, std::span(v, 1));
  if (auto* v = std::get_if<std::vector<int64_t>>(&a)) return Tensor::i64({static_cast<int64_t>(v->size())}, *v);
  if (auto* v = std::get_if<std::vector<std::string>>(&a))
    return Tensor::of_strings({static_cast<int64_t>(v->size())}, *v);
  auto& floats = std::get<std::vector<double>>(a);
  Tensor t(DType::f32, {static_cast<int64_t>(floats.size())});
  for (size_t i = 0; i < floats.size(); ++i) t.set(static_cast<int64_t>(i), floats[i]);
  return t;
}

struct ValueKind {
  std::string_view name;
  int type;
};
constexpr ValueKind kValues[] = {{"value", Proto::TENSOR},        {"sparse_value", Proto::SPARSE_TENSOR},
                                 {"value_float", Proto::FLOAT},   {"value_floats", Proto::FLOATS},
                                 {"value_int", Proto::INT},       {"value_ints", Proto::INTS},
                                 {"value_string", Proto::STRING}, {"value_strings", Proto::STRINGS}};

}  // namespace

void Importer::import_constant(onnx::NodeProto& n, Scope& scope, uint32_t row) {
  try {
    if (n.output_size() != 1 || n.input_size() != 0)
      throw CompileError(Code::E0203, "`Constant` has one output and no inputs");
    if (n.attribute_size() != 1)
      throw CompileError(Code::E0204, fmt::format("`Constant` has {} attributes, it takes one", n.attribute_size()));
    Proto* a = resolve(*n.mutable_attribute(0), scope.region);
    if (!a)
      throw CompileError(
          Code::E0204, fmt::format("attribute `{}` is missing at the call", printable(n.attribute(0).ref_attr_name())));
    auto kind = std::ranges::find(kValues, std::string_view(n.attribute(0).name()), &ValueKind::name);
    if (kind == std::end(kValues))
      throw CompileError(Code::E0204,
                         fmt::format("`Constant` has no attribute `{}`", printable(n.attribute(0).name())));
    if (int type = type_of(*a, at(row)); type != kind->type && type != Proto::UNDEFINED)
      throw CompileError(Code::E0204, fmt::format("attribute `{}` of `Constant` has the wrong type", kind->name));
    Constant c;
    if (kind->type == Proto::TENSOR)
      c = shared_tensor(*a->mutable_t());
    else if (kind->type == Proto::SPARSE_TENSOR)
      c = shared_sparse(*a->mutable_sparse_tensor());
    else
      c = std::make_shared<const Tensor>(list_tensor(*read_attribute(*a, kind->type)));
    scope.define(n.output(0), scope.graph.constant(c, n.output(0)));
  } catch (CompileError& e) {
    e.diagnostic.node = at(row);
    report(std::move(e.diagnostic));
    fail_outputs(n, scope);
  }
}

}  // namespace cameo::importing
