// The importer's main graph: header, inputs, initializers, nodes, outputs, and what is reported once for a whole model.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/import/import_internal.h"

namespace cameo::importing {

Importer::Importer(onnx::ModelProto& proto, std::filesystem::path folder, const ImportOptions& options, Trial trial)
    : proto_(proto),
      options_(options),
      trial_(std::move(trial)),
      next_(trial_),
      bounds_(trial_.bounds),
      folder_(std::move(folder)) {
  reader_.folder = &folder_;
}

void Importer::report(Diagnostic d) {
  if (reports_.size() < kMaxReports)
    reports_.push_back(std::move(d));
  else
    ++(is_warning(d.code) ? hidden_warnings_ : hidden_);
}
void Importer::report(Code code, std::string message, std::string node, std::string help) {
  report({code, std::move(message), {}, std::move(node), {}, std::move(help)});
}

void Importer::tolerate(Code code, const std::string& message, const std::string& meaning, const std::string& node) {
  if (!options_.lenient) throw CompileError({code, message, {}, node, {}, fmt::format("with --lenient {}", meaning)});
  report(Code::W0005, fmt::format("{}; {}", message, meaning), node);
}

bool Importer::count(Seen& seen) {
  tallies_.counted.push_back(&seen);
  return !seen.count++;
}
bool Importer::count_problem(Seen& seen) {
  ++tallies_.problems;
  return count(seen);
}

Importer::Mark Importer::save() const {
  return {reports_.size(), sources_->size(), tallies_.counted.size(), tallies_.problems, hidden_, hidden_warnings_};
}
void Importer::restore(const Mark& mark) {
  reports_.resize(mark.reports);
  sources_->resize(mark.rows);
  for (auto& counted = tallies_.counted; counted.size() > mark.counted; counted.pop_back()) --counted.back()->count;
  tallies_.problems = mark.problems;
  hidden_ = mark.hidden;
  hidden_warnings_ = mark.hidden_warnings;
}

// ---- header -------------------------------------------------------------------------------------------------------

Opsets Importer::read_opsets(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& imports,
                             const std::string& whose) {
  Opsets opsets;
  for (const auto& o : imports) {
    std::string domain(plain_domain(o.domain()));
    std::string title = domain.empty() ? "ai.onnx" : printable(domain);
    int64_t& version = opsets[domain];
    version = std::max(version, o.version());  // of several the newest
    if (o.version() < 1)
      report(Code::E0201, fmt::format("{} imports opset `{}` of version {}", whose, title, o.version()));
    else if (domain.empty() && o.version() > kNewestOpset)
      report(Code::W0003,
             fmt::format("{} imports opset {}; this cameo knows opsets up to {}", whose, o.version(), kNewestOpset));
  }
  if (opsets.empty()) report(Code::E0201, fmt::format("{} imports no opset: its operators have no meaning", whose));
  return opsets;
}

void Importer::read_header() {
  model_.ir_version = proto_.ir_version();
  model_.producer = proto_.producer_name();
  model_.graph_name = proto_.graph().name();
  if (model_.ir_version < 1 || model_.ir_version > 2 * kNewestIr)
    report(Code::E0201, fmt::format("the model's IR version is {}; 1 to {} are known", model_.ir_version, kNewestIr));
  opsets_ = read_opsets(proto_.opset_import(), "the model");
  model_.opsets = {opsets_.begin(), opsets_.end()};
  const int64_t by_nodes = 8 * int64_t{proto_.graph().node_size()}, by_size = proto_.ByteSizeLong() / 250;
  nodes_left_ = std::max({int64_t{200'000}, by_nodes, by_size});
}

// ---- the main graph -----------------------------------------------------------------------------------------------

void Importer::import_initializers(onnx::GraphProto& g, Scope& scope) {
  if (scope.depth > 0 && (nodes_left_ -= g.initializer_size()) < 0) throw TooManyNodes();  // bodies may be read often
  std::map<std::string_view, const onnx::ValueInfoProto*> declared;
  for (const auto& input : g.input()) declared.emplace(input.name(), &input);
  auto define = [&](const onnx::TensorProto& title, auto read) {
    const std::string& name = title.name();
    if (name.empty()) return report(Code::E0202, "an initializer has no name");
    if (scope.depth == 0 && is_open(name)) return;
    try {
      ValueId v = scope.graph.constant(read(), name);
      if (auto input = declared.find(name); input != declared.end())
        check_initializer(*input->second, scope.graph.type(v));
      scope.define(name, v);
    } catch (CompileError& e) {
      bool file = e.diagnostic.code == Code::E0103;  // one file lacks for many tensors
      Seen* s = file ? &tallies_.external[e.diagnostic.message] : nullptr;
      if (s && count_problem(*s)) s->first = fmt::format("tensor `{}`", printable(name));
      if (!s) report(std::move(e.diagnostic));
      scope.define(name, scope.graph.error_value(name));
    }
  };
  std::set<std::string_view> seen;
  auto twice = [&](const std::string& name) {
    bool again = !name.empty() && !seen.insert(name).second;
    if (again) report(Code::E0202, fmt::format("initializer `{}` stands twice", printable(name)));
    return again;
  };
  for (auto& t : *g.mutable_initializer())
    if (!twice(t.name())) define(t, [&] { return shared_tensor(t); });
  for (auto& t : *g.mutable_sparse_initializer())
    if (!twice(t.values().name())) define(t.values(), [&] { return shared_sparse(t); });
}

Importer::Needed Importer::needed_by_outputs(const NodeList& nodes) {
  std::unordered_map<std::string_view, int> maker;
  for (int i = 0; i < nodes.size(); ++i)
    for (const auto& name : nodes[i].output()) maker.emplace(name, i);
  Needed needed{std::vector<bool>(static_cast<size_t>(nodes.size())), {}};
  std::vector<std::string_view> open(options_.outputs.begin(), options_.outputs.end());
  while (!open.empty()) {
    std::string_view name = open.back();
    open.pop_back();
    if (!needed.names.insert(name).second) continue;
    auto it = maker.find(name);
    if (it == maker.end() || needed.nodes[it->second]) continue;
    needed.nodes[it->second] = true;
    for (const auto& input : nodes[it->second].input()) open.push_back(input);
    free_names_.visit(nodes[it->second], [&](std::string_view captured) { open.push_back(captured); });
  }
  return needed;
}

namespace {

/// Whether all that a value is made of is known, given the elements of some inputs, which join `inputs`: a few
/// integers, and so is all between.
bool is_made_of_inputs(const Graph& g, ValueId v, std::set<std::string>& inputs) {
  std::set<ValueId> seen{v};
  for (std::vector<ValueId> open{v}; !open.empty();) {
    const Value& value = g[open.back()];
    open.pop_back();
    if (value.constant || !value.content.empty()) continue;
    if (!has_few_integers(value.type)) return false;
    if (!value.producer) {
      inputs.insert(value.name);
      continue;
    }
    const Node& n = g[value.producer];
    if (n.op->name == "Shape" || n.op->name == "Size") continue;
    if (!n.bodies.empty()) return false;
    for (ValueId of : n.inputs)
      if (of && seen.insert(of).second) open.push_back(of);
  }
  return true;
}

}  // namespace

void Importer::find_deciding() {
  const Graph& g = model_.graph;
  for (const Diagnostic& d : reports_) {
    if (d.unknown.empty()) continue;
    const auto value = std::ranges::find(g.values(), d.unknown, &Value::name);
    const ValueId v{static_cast<uint32_t>(value - g.values().begin())};
    std::set<std::string> inputs;
    if (value != g.values().end() && is_made_of_inputs(g, v, inputs) && !std::ranges::includes(trial_.deciding, inputs))
      next_.deciding.merge(inputs);
    else
      next_.deciding.insert(d.unknown);  // known when a run has computed it; it may be a body's
  }
}

/// Once it is known what decides.
void Importer::find_size_bounds() {
  if (next_ != trial_) return;
  const auto is_too_large = [](const Diagnostic& d) { return d.code == Code::E0405; };
  if (bounds_.most_of_open && std::ranges::any_of(reports_, is_too_large))
    next_.bounds = narrower(bounds_);
  else if (!bounds_.known && std::ranges::all_of(reports_, is_warning, [](const Diagnostic& d) { return d.code; }))
    if (const SizeBounds better = bounds_of(model_.graph, bounds_); better.known) next_.bounds = better;
}

/// As a constant, when an option folds it in.
void Importer::add_input(const Input& input, Scope& scope) {
  const std::string& name = input.proto->name();
  auto constant = options_.constants.find(name);
  if (constant == options_.constants.end()) {
    const ValueId v = scope.graph.add_input(name, input.type);
    if (trial_.deciding.contains(name)) scope.graph.decide(v);
    return scope.define(name, v);
  }
  try {
    if (input.type.kind == Kind::Error)
      throw CompileError(Code::E0503, fmt::format("`--const {}`: the input has no usable type", printable(name)));
    scope.define(name, scope.graph.constant(parse_constant(constant->second, name, input.type), name));
  } catch (CompileError& e) {
    report(std::move(e.diagnostic));
    scope.define(name, scope.graph.error_value(name));
  }
}

namespace {

bool same_shape(const onnx::TypeProto::Tensor& t, const Type& type) {
  if (!t.has_shape()) return true;
  if (t.shape().dim_size() != type.rank()) return false;
  for (int d = 0; d < type.rank(); ++d) {
    const auto& dim = t.shape().dim(d);
    if (dim.has_dim_value() && dim.dim_value() >= 0 && type.shape[d].is_static() &&
        type.shape[d].value() != dim.dim_value())
      return false;
  }
  return true;
}

}  // namespace

void Importer::check_initializer(const onnx::ValueInfoProto& input, const Type& type) {
  const auto& declared = input.type().tensor_type();
  if (input.type().value_case() != onnx::TypeProto::kTensorType || declared.elem_type() == 0) return;
  std::string differs;
  if (DType wanted = dtype_of(declared.elem_type()); wanted != type.dtype)
    differs = fmt::format("as {}", name(wanted));
  else if (!same_shape(declared, type))
    differs = "with another shape";
  if (!differs.empty())
    tolerate(Code::E0303,
             fmt::format("input `{}` is declared {}, its initializer is {}", printable(input.name()), differs,
                         to_string(type)),
             "the initializer counts");
}

bool Importer::is_open(const std::string& name) const {
  auto stands_in = [&](const std::vector<std::string>& names) { return std::ranges::find(names, name) != names.end(); };
  return stands_in(options_.open) || stands_in(options_.fed);
}

/// The graph's inputs that no initializer gives, and that the cut graph needs.
void Importer::import_inputs(onnx::GraphProto& g, Scope& scope, const Needed* needed) {
  std::set<std::string_view> constants, seen;
  for (const auto& t : g.initializer()) constants.insert(t.name());
  for (const auto& t : g.sparse_initializer()) constants.insert(t.values().name());
  std::vector<const onnx::ValueInfoProto*> protos;
  for (const auto& v : g.input()) {
    if (v.name().empty())
      report(Code::E0202, "an input of the graph has no name");
    else if (!seen.insert(v.name()).second)
      report(Code::E0202, fmt::format("the graph has two inputs `{}`", printable(v.name())));
    else if (!constants.count(v.name()) || is_open(v.name()))
      protos.push_back(&v);
    else
      model_.constant_inputs.push_back(v.name());
  }
  for (const std::string& name : options_.open)
    if (!seen.count(name))
      report(Code::E0502, fmt::format("`--input {}` names no input of the model", printable(name)));
  std::set<std::string> gone;
  const auto reporter = [&](Diagnostic d) { report(std::move(d)); };
  for (const Input& input : type_inputs(protos, options_, bounds_, model_, reporter)) {
    const std::string& name = input.proto->name();
    if (!needed || needed->names.count(name)) add_input(input, scope);
    if (options_.constants.count(name) || !scope.names.count(name)) gone.insert(name);
  }
  std::erase_if(model_.unbound, [&](const UnboundDim& d) { return gone.count(d.input) > 0; });
  std::set<std::string> summands;
  for (const auto* values : {&proto_.graph().input(), &proto_.graph().output()})
    for (const onnx::ValueInfoProto& v : *values)
      for (const auto& dim : v.type().tensor_type().shape().dim()) summands.insert(first_summand(dim.dim_param()));
  for (UnboundDim& d : model_.unbound) d.low = summands.contains(d.dim) ? 0 : 1;
  for (auto& [name, value] : options_.constants)
    if (!gone.count(name))
      report(Code::E0502, fmt::format("`--const {}` names no input of the model", printable(name)));
}

void Importer::import_main() {
  onnx::GraphProto& g = *proto_.mutable_graph();
  Region region{&opsets_, nullptr, {}};
  add_rows(g.node(), region);
  Scope scope{model_.graph, region, nodes_left_};
  std::optional<Needed> needed;
  if (!options_.outputs.empty()) needed = needed_by_outputs(g.node());
  import_inputs(g, scope, needed ? &*needed : nullptr);
  import_initializers(g, scope);
  std::set<std::string_view> given;
  for (const auto& [name, value] : scope.names) given.insert(name);
  import_nodes(*g.mutable_node(), scope, 0, given, needed ? &needed->nodes : nullptr);
  unwrap_outputs(g, scope);
  check_declared(g, scope);
  import_outputs(g, scope);
}

/// Outputs that are optional, though the model declares what they hold: they hold it.
void Importer::unwrap_outputs(const onnx::GraphProto& g, Scope& scope) {
  for (const auto& o : g.output()) {
    const auto named = scope.names.find(o.name());
    if (named == scope.names.end() || !named->second || !o.has_type() || o.type().has_optional_type()) continue;
    if (model_.graph.type(named->second).kind != Kind::Optional) continue;
    const NodeId from = model_.graph[named->second].producer;
    const Provenance provenance = from ? model_.graph[from].provenance : Provenance{0};
    named->second = model_.graph.add(get_operator("OptionalGetElement"), {named->second}, {}, provenance)[0];
  }
}

void Importer::import_outputs(const onnx::GraphProto& g, Scope& scope) {
  std::set<std::string_view> seen;
  auto add = [&](const std::string& name, Code code, std::string_view what) {
    auto v = scope.find(name);
    if (!v || !*v) return report(code, fmt::format("{} `{}` is made by no node", what, printable(name)));
    model_.graph.add_output(name, *v);
  };
  for (const std::string& name : options_.outputs) add(name, Code::E0502, "the output");
  if (!options_.outputs.empty()) return;
  for (const auto& o : g.output()) {
    if (!seen.insert(o.name()).second)
      report(Code::E0202, fmt::format("the graph has two outputs `{}`", printable(o.name())));
    else
      add(o.name(), Code::E0202, "the graph's output");
  }
  if (g.output_size() == 0) report(Code::E0202, "the graph has no outputs");
}

// ---- what the model declares against what was inferred ------------------------------------------------------------

void Importer::check_declared(const onnx::GraphProto& g, Scope& scope) {
  std::vector<std::string> differ;
  int count = 0;
  auto check = [&](const onnx::ValueInfoProto& info, bool output) {
    auto it = scope.names.find(info.name());
    if (it == scope.names.end() || !it->second || info.type().value_case() != onnx::TypeProto::kTensorType) return;
    const Type& type = model_.graph.type(it->second);
    const auto& declared = info.type().tensor_type();
    if (type.kind == Kind::Error) return;
    DType dtype = dtype_of(declared.elem_type());
    bool other = declared.elem_type() != 0 && (type.kind != Kind::Tensor || dtype != type.dtype);
    if (other && output) {
      const std::string what = fmt::format("output `{}` is declared as {}, its node makes {}", printable(info.name()),
                                           name(dtype), to_string(type));
      const std::string meaning = "what the node makes counts";
      if (options_.lenient)
        report(Code::W0005, fmt::format("{}; {}", what, meaning));
      else
        report(Code::E0303, what, {}, fmt::format("with --lenient {}", meaning));
    } else if (other || (type.kind == Kind::Tensor && !same_shape(declared, type))) {
      if (differ.size() < 5) differ.push_back(fmt::format("`{}` is {}", printable(info.name()), to_string(type)));
      ++count;
    }
  };
  for (const auto& v : g.value_info()) check(v, false);
  if (options_.outputs.empty())
    for (const auto& v : g.output()) check(v, true);
  if (!count) return;
  Diagnostic d{Code::W0004,
               fmt::format("{} declared type{} differ{} from what the nodes produce", count, count > 1 ? "s" : "",
                           count > 1 ? "" : "s"),
               {},
               {},
               std::move(differ),
               {}};
  if (count > 5) d.notes.push_back(fmt::format("and {} more", count - 5));
  report(std::move(d));
}

// ---- once a model -------------------------------------------------------------------------------------------------

/// Files of IR 3 name every initializer as an input; from IR 4 on it is a choice, and worth a word.
void Importer::report_constant_inputs() {
  const auto& names = model_.constant_inputs;
  if (names.empty() || model_.ir_version < 4) return;
  std::string list = fmt::format("`{}`", printable(names[0]));
  if (names.size() > 1) list += fmt::format(" and {} more", names.size() - 1);
  report({Code::W0007,
          fmt::format("{} {} an initializer and {} constant", list, names.size() > 1 ? "have" : "has",
                      names.size() > 1 ? "are" : "is"),
          {},
          {},
          {},
          fmt::format("--input {} keeps it open", printable(names[0]))});
}

/// What was counted in a trial alone has a count of 0.
void Importer::report_tallies() {
  auto times = [](int n) { return n == 1 ? std::string("1 node") : fmt::format("{} nodes", n); };
  for (auto& [domain, s] : tallies_.domains)
    if (s.count)
      report(Code::E0201,
             fmt::format("{} of domain `{}`, which the model does not import", times(s.count),
                         domain.empty() ? "ai.onnx" : printable(domain)),
             s.first);
  for (auto& [title, m] : tallies_.missing)
    if (m.seen.count)
      report({Code::E0401, fmt::format("{} ({})", m.message, times(m.seen.count)), {}, m.seen.first, {}, m.help});
  for (auto& [name, s] : tallies_.undefined)
    if (s.count)
      report(Code::E0202, fmt::format("`{}` is used, but nothing makes it ({})", printable(name), times(s.count)),
             s.first);
  for (auto& [what, s] : tallies_.external) {
    if (!s.count) continue;
    Diagnostic d{Code::E0103,
                 what,
                 {},
                 {},
                 {fmt::format("needed by {}{}", s.first, s.count > 1 ? fmt::format(" and {} more", s.count - 1) : "")},
                 "external data must be a plain file under the model's folder"};
    report(std::move(d));
  }
  for (auto& [what, s] : tallies_.unknown_attributes)
    if (s.count) report(Code::W0002, fmt::format("{}; it is ignored ({})", what, times(s.count)), s.first);
}

Model Importer::run(Diagnostics& out) {
  model_.graph = Graph(sources_);
  try {
    read_header();
    if (!proto_.has_graph()) throw CompileError(Code::E0201, "the model has no graph");
    if (!opsets_.empty()) {
      read_functions();
      import_main();
    }
  } catch (CompileError& e) { report(std::move(e.diagnostic)); } catch (TooManyNodes&) {
    report(Code::E0201,
           "the model has, or its functions and bodies expand to, far more nodes than a file of this size should");
  }
  find_deciding();
  find_size_bounds();
  report_tallies();
  report_constant_inputs();
  if (hidden_warnings_)
    reports_.back().notes.push_back(fmt::format("{} more warnings are not shown", hidden_warnings_));
  for (Diagnostic& d : reports_) out.add(std::move(d));
  if (hidden_) out.add({Code::E0201, fmt::format("{} more problems are not shown", hidden_), {}, {}, {}, {}});
  for (const auto& [location, file] : folder_.opened()) model_.files.push_back(file);
  return std::move(model_);
}

}  // namespace cameo::importing

namespace cameo {

Model import_onnx_bytes(std::span<const std::byte> bytes, const std::filesystem::path& folder,
                        const ImportOptions& options, Diagnostics& diagnostics) {
  try {
    for (importing::Importer::Trial trial;;) {
      onnx::ModelProto proto;
      importing::parse_message(bytes, importing::Message::Model, proto);
      importing::Importer importer(proto, folder, options, trial);
      Diagnostics found;
      Model model = importer.run(found);
      if (importer.next() == trial) {
        for (const Diagnostic& d : found.all()) diagnostics.add(d);
        return model;
      }
      trial = importer.next();  // once more
    }
  } catch (CompileError& e) { diagnostics.add(std::move(e.diagnostic)); }
  return Model();
}

Model import_onnx(const std::filesystem::path& file, const ImportOptions& options, Diagnostics& diagnostics) {
  if (diagnostics.file.empty()) diagnostics.file = file.filename().string();
  try {
    MappedFile mapped = map_file(file);
    Model model = import_onnx_bytes(mapped.bytes, file.parent_path(), options, diagnostics);
    model.files.insert(model.files.begin(), std::move(mapped));
    return model;
  } catch (CompileError& e) { diagnostics.add(std::move(e.diagnostic)); }
  return Model();
}

}  // namespace cameo
