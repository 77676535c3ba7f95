// See custom_operator.h. Rows become operators of the table's kind; three functions serve all of them.
#include "frontend/custom/custom_operator.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>

#include "frontend/custom/ask.h"
#include "frontend/custom/guard.h"

namespace cameo {
namespace {

void infer_custom(Infer& n) { ask_shape(*as_custom(*n.node().op), n); }

/// Numbers of a kernel: scratch, the extent that is shared, then the dims of outputs and of inputs that are present.
Opaque function_meaning(const CustomOperator& c, const MeaningView& n) {
  const int split = c.declared->split;
  const Shape& first = n.out_shape(0);
  if (split >= static_cast<int>(first.size()))
    throw CompileError(Code::E0704, fmt::format("`{}` is split along axis {}, but its first output is {}", c.name,
                                                split, to_string(n.out_type(0))));
  const Dim extent = split < 0 ? Dim(1) : first[static_cast<size_t>(split)];
  Opaque kernel{.kernel = "custom", .numbers = {ask_scratch(c, n), extent.extent()}, .host_only = true};
  const auto add = [&](const Shape& shape) {
    for (const Dim& d : shape) kernel.numbers.push_back(d.extent());
  };
  for (int i = 0; i < n.output_count(); ++i) add(n.out_shape(i));
  for (int i = 0; i < n.input_count(); ++i)
    if (n.has(i)) add(n.shape(i));
  kernel.units = std::max<int64_t>(extent.estimate(), 1);
  const auto elements = static_cast<double>(std::max<int64_t>(product(first).estimate(), 1));
  if (split >= 0) kernel.operations = c.declared->work * elements / static_cast<double>(kernel.units);
  return kernel;
}

Meaning custom_meaning(const MeaningView& n) {
  const CustomOperator& c = *as_custom(*n.node().op);
  try {
    if (c.declared->run) return function_meaning(c, n);
    return ask_elements(c, n);
  } catch (CompileError& e) {
    if (e.diagnostic.node.empty()) e.diagnostic.node = where(n.graph().sources(), n.node().provenance);
    throw;
  }
}

/// The node on inputs of a run's sizes, whose small integers are known, in a graph of its own.
std::vector<ValueId> at_sizes(Graph& one, const Node& n, std::span<const Tensor> in) {
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!n.inputs[i]) {
      inputs.emplace_back();
      continue;
    }
    Value v{};
    v.type = type_of(in[i]);
    v.name = fmt::format("{}", i);
    if (has_few_integers(v.type))
      for (int64_t k = 0; k < in[i].size(); ++k) v.content.push_back(integer(in[i].get_int(k), in[i].dtype()));
    inputs.push_back(one.add_input(v));
  }
  return one.add(*n.op, inputs, n.attrs, n.provenance, n.version, static_cast<int>(n.outputs.size()));
}

op::Tensor view_of(const Tensor& t) {
  op::Tensor view;
  view.data = const_cast<std::byte*>(t.bytes().data());
  view.dims = t.dims().data();
  view.rank = t.rank();
  view.type = static_cast<op::Type>(t.dtype());
  return view;
}

void run_whole(const CustomOperator& c, const NodeView& n, const CustomNumbers& numbers, std::span<const Tensor> in,
               std::vector<Tensor>& out) {
  std::vector<op::Tensor> inputs, outputs;
  for (size_t i = 0; i < in.size(); ++i) inputs.push_back(n.has(static_cast<int>(i)) ? view_of(in[i]) : op::Tensor());
  for (Tensor& t : out) {
    t.mutable_bytes();
    outputs.push_back(view_of(t));
  }
  const CustomAttributes attributes(n);
  struct alignas(64) Line {
    char bytes[64];
  };
  std::vector<Line> scratch(static_cast<size_t>(numbers.scratch.int_value()) / sizeof(Line) + 1);
  char failure[op::Run::failure_bytes()] = {};
  op::Run run;
  run.list = attributes.list().data();
  run.attribute_count = static_cast<int>(attributes.list().size());
  run.inputs = inputs.data(), run.input_count = static_cast<int>(inputs.size());
  run.outputs = outputs.data(), run.output_count = static_cast<int>(outputs.size());
  run.end = numbers.extent.int_value();
  run.scratch = scratch.data();
  run.keep_failure_in(failure);
  guarded(fmt::format("`{}` of `{}`: its function `run`", c.name, printable(c.file->path)),
          [&] { c.declared->run(run); });
  if (failure[0]) throw CompileError(Code::E0703, fmt::format("`{}` {}", c.name, failure));
}

std::vector<Tensor> custom_reference(const MeaningView& n, std::span<const Tensor> in) {
  Graph one(n.graph().shared_sources());
  const std::vector<ValueId> made = at_sizes(one, n.node(), in);
  std::vector<Tensor> out;
  for (ValueId v : made) out.emplace_back(one.type(v).dtype, extents(one.type(v).shape));
  const NodeId node = one.maker_of(made);
  if (!node) return out;  // of no elements
  run_whole(*as_custom(*n.node().op), NodeView(one, one[node]), CustomNumbers(one, one[node]), in, out);
  return out;
}

}  // namespace

const CustomOperator* as_custom(const Operator& op) {
  return op.infer == infer_custom ? static_cast<const CustomOperator*>(&op) : nullptr;
}

CustomNumbers::CustomNumbers(const Graph& g, const Node& n) {
  const std::vector<Expr>& all = std::get<Opaque>(meaning_of(g, n)).numbers;
  scratch = all[0];
  extent = all[1];
  size_t at = 2;
  const auto take = [&](std::vector<std::span<const Expr>>& into, ValueId v) {
    const size_t rank = v ? g.type(v).shape.size() : 0;
    into.emplace_back(all.data() + at, rank);
    at += rank;
  };
  for (ValueId v : n.outputs) take(outputs, v);
  for (ValueId v : n.inputs) take(inputs, v);
}

// ---- attributes -----------------------------------------------------------------------------------------------------
struct CustomAttributes::Held {
  int64_t integer = 0;
  double number = 0;
  const char* text = "";
  std::vector<const char*> texts = {};
};

CustomAttributes::CustomAttributes(const NodeView& n) {
  for (const AttrSpec& spec : n.node().op->attributes) add(n, spec);
}

void CustomAttributes::add(const NodeView& n, const AttrSpec& spec) {
  const auto written = n.node().attrs.find(spec.name);
  const Attr* const value = written != n.node().attrs.end() ? &written->second
                            : spec.fallback                 ? &*spec.fallback
                                                            : nullptr;
  if (!value) return;
  const auto held = std::make_shared<Held>();
  held_.push_back(held);
  op::Attribute& a = list_.emplace_back();
  a.name = spec.name.data();
  a.count = 1;
  if (const auto* v = std::get_if<int64_t>(value)) {
    held->integer = *v;
    a.kind = op::Kind::integer, a.integers = &held->integer;
  } else if (const auto* d = std::get_if<double>(value)) {
    held->number = *d;
    a.kind = op::Kind::number, a.numbers = &held->number;
  } else if (const auto* s = std::get_if<std::string>(value)) {
    held->text = s->c_str();
    a.kind = op::Kind::text, a.texts = &held->text;
  } else if (const auto* i = std::get_if<std::vector<int64_t>>(value)) {
    a.kind = op::Kind::integers, a.integers = i->data(), a.count = static_cast<int64_t>(i->size());
  } else if (const auto* f = std::get_if<std::vector<double>>(value)) {
    a.kind = op::Kind::numbers, a.numbers = f->data(), a.count = static_cast<int64_t>(f->size());
  } else if (const auto* texts = std::get_if<std::vector<std::string>>(value)) {
    for (const std::string& t : *texts) held->texts.push_back(t.c_str());
    a.kind = op::Kind::texts, a.texts = held->texts.data(), a.count = static_cast<int64_t>(texts->size());
  } else if (const auto* t = std::get_if<Constant>(value)) {
    a.kind = op::Kind::tensor, a.tensor = view_of(**t);
    if (!kCustomTypes.contains((*t)->dtype()))
      n.fail(Code::E0403, fmt::format("attribute `{}` holds elements of {}, which custom operators do not read",
                                      spec.name, name((*t)->dtype())));
  }
}

// ---- declaring ------------------------------------------------------------------------------------------------------
namespace {

class Declaration {
 public:
  Declaration(const op::Operator& row, int number, std::shared_ptr<const CustomFile> file) : row_(row) {
    made_.declared = &row;
    made_.row = number;
    made_.file = std::move(file);
  }

  CustomOperator make(const std::vector<const Operator*>& others) {
    if (!row_.name || !*row_.name) fail("has no name");
    made_.name = row_.name;
    made_.domain = row_.domain && std::string_view(row_.domain) != "ai.onnx" ? row_.domain : "";
    check_new(others);
    read_versions();
    read_inputs();
    read_outputs();
    read_attributes();
    check_functions();
    made_.infer = infer_custom;
    made_.meaning = custom_meaning;
    if (row_.run) made_.reference = custom_reference;
    made_.foldable = !made_.inputs.empty();  // its reference is run on inputs that are not constant
    return std::move(made_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    const std::string who =
        row_.name && *row_.name ? fmt::format("`{}`", printable(row_.name)) : fmt::format("operator {}", made_.row);
    throw CompileError(Code::E0702, fmt::format("{} of `{}` {}", who, printable(made_.file->path), what));
  }
  void check_new(const std::vector<const Operator*>& others) const {
    constexpr std::string_view kOwnDomains[] = {"cameo", "removed"}, kOwnNames[] = {"Constant", "Gradient"};
    if (std::ranges::find(kOwnDomains, made_.domain) != std::end(kOwnDomains))
      fail(fmt::format("is of the domain `{}`, which is cameo's own", made_.domain));
    const bool own_name = made_.domain.empty() && std::ranges::find(kOwnNames, made_.name) != std::end(kOwnNames);
    if (own_name || find_operator(made_.name, made_.domain))
      fail("is an operator that cameo has: another one needs another domain or another name");
    for (const Operator* other : others)
      if (other->name == made_.name && other->domain == made_.domain)
        fail(fmt::format("is declared in `{}` too", printable(as_custom(*other)->file->path)));
  }
  void read_versions() {
    for (int version : row_.since)
      if (version) made_.since.push_back(version);
    if (made_.since.empty() || made_.since[0] < 1 || !std::ranges::is_sorted(made_.since, std::ranges::less_equal()))
      fail("has no versions `since`, or they do not ascend");
  }
  DTypes types_of(op::Types types, std::string_view name) const {
    if (!types.bits || (types.bits & ~op::tensors.bits))
      fail(fmt::format("takes types for `{}` that there are not", printable(name)));
    return DTypes::from_bits(types.bits);
  }
  void read_inputs() {
    constexpr InputSpec::Presence presences[] = {InputSpec::Required, InputSpec::Optional, InputSpec::Any};
    for (const op::Input& i : row_.inputs) {
      if (!i.name) break;
      const int number = static_cast<int>(made_.inputs.size());
      if (number && row_.inputs[number - 1].presence == op::variadic)
        fail(fmt::format("has `{}` behind inputs of any number", printable(i.name)));
      if (i.same_as >= number)
        fail(fmt::format("wants `{}` to be like an input that is not before it", printable(i.name)));
      made_.inputs.push_back({i.name, types_of(i.types, i.name), presences[i.presence % 3], std::max(i.same_as, -1)});
    }
  }
  void read_outputs() {
    std::vector<OutputSpec> outputs;
    for (const op::Output& o : row_.outputs) {
      if (!o.name) break;
      if (o.presence == op::variadic) fail("has outputs of any number");
      if (o.type != op::same_as_first) types_of(op::Types(o.type), o.name);
      outputs.push_back({o.name, o.presence == op::optional ? OutputSpec::Optional : OutputSpec::Required});
    }
    if (outputs.empty()) fail("has no outputs");
    made_.outputs = std::move(outputs);
  }
  void read_attributes() {
    constexpr AttrKind kinds[] = {AttrKind::Int,    AttrKind::Float,   AttrKind::String, AttrKind::Ints,
                                  AttrKind::Floats, AttrKind::Strings, AttrKind::Tensor};
    std::set<std::string_view> names;
    for (const op::Declared& a : row_.attributes) {
      if (!a.name) break;
      if (!names.insert(a.name).second) fail(fmt::format("has the attribute `{}` twice", printable(a.name)));
      AttrSpec spec(a.name, kinds[static_cast<size_t>(a.kind) % std::size(kinds)]);
      if (a.has_default && a.kind == op::Kind::integer) spec.fallback = a.integer;
      if (a.has_default && a.kind == op::Kind::number) spec.fallback = a.number;
      if (a.has_default && a.kind == op::Kind::text) spec.fallback = std::string(a.text);
      made_.attributes.push_back(std::move(spec));
    }
  }
  void check_functions() const {
    if (!row_.element == !row_.run) fail("needs one of `element` and `run`");
    if (row_.run && !row_.shape) fail("needs a `shape` beside `run`");
    const bool required = !made_.inputs.empty() && made_.inputs[0].presence == InputSpec::Required;
    if (!row_.shape && !required) fail("needs a `shape`, as its first input may be absent");
    if (row_.split < -1 || row_.split >= kMaxRank || (row_.split >= 0 && row_.element))
      fail("is split along an axis that there is not");
  }

  const op::Operator& row_;
  CustomOperator made_;
};

}  // namespace

void declare_custom(const op::Table& table, std::shared_ptr<const CustomFile> file, std::vector<const Operator*>& all) {
  static std::deque<CustomOperator> kept;
  if (table.version != op::kVersion || table.operator_bytes != sizeof(op::Operator) || table.count < 1 ||
      !table.operators || !table.compiler)
    throw CompileError(Code::E0702,
                       fmt::format("`{}` has no table of this cameo's `CAMEO_OPERATORS`", printable(file->path)));
  *table.compiler = &answers();
  for (int i = 0; i < table.count; ++i) {
    kept.push_back(Declaration(table.operators[i], i, file).make(all));
    all.push_back(&kept.back());
  }
}

}  // namespace cameo
