// Growing a graph: typing each node as it is added, knowing small integer values, and replaying one graph into another.
#include "frontend/ir/graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/ir/check.h"
#include "frontend/ir/limits.h"
#include "frontend/ir/operator.h"
#include "frontend/reference/interpret.h"

namespace cameo {
namespace {

constexpr int64_t kContentElements = 64;  // shape arithmetic never needs more
constexpr int64_t kFoldAtOnce = 4096;     // larger constant expressions wait for the pass fold_constants,
constexpr int64_t kFoldWork = 1 << 26;    // those that would take longer too,
constexpr int64_t kFoldBytes = 64 << 20;  // and those after so much was folded

bool has_content(const Graph& g, ValueId v) {
  return g[v].constant ? g[v].constant->size() <= kContentElements && !is_float(g.type(v).dtype)
                       : !g[v].content.empty();
}

/// With short folds written out: products and sums of dims.
Expr unrolled(Expr root) {
  return rewrite(root, [](Expr e) {
    if (e.op() != Op::Fold || e.fold_kind() > FoldKind::Max || !e.arg(0).extent().is_const()) return e;
    const int64_t terms = e.arg(0).extent().int_value();
    if (terms < 1 || terms > kContentElements) return e;
    const auto term = [&](int64_t i) { return substitute(e.arg(1), std::vector{e.arg(0)}, std::vector{integer(i)}); };
    Expr all = term(0);
    for (int64_t i = 1; i < terms; ++i) switch (e.fold_kind()) {
        case FoldKind::Sum: all = all + term(i); break;
        case FoldKind::Prod: all = all * term(i); break;
        case FoldKind::Min: all = min(all, term(i)); break;
        default: all = max(all, term(i));
      }
    return all;
  });
}

/// The elements of an integer output, by evaluating its meaning on the contents of the inputs; empty where one is
/// unknown.
std::vector<Expr> content_of(const Graph& g, const Node& n, const OutputExpr& out, const Type& type) {
  std::vector<int64_t> dims = extents(type.shape);
  int64_t count = element_count(dims).value_or(0);
  std::vector<Expr> elements;
  bool known = true;
  for (int64_t i = 0; i < count && known; ++i) {
    std::vector<Expr> at(dims.size());
    for (int64_t rest = i, d = static_cast<int64_t>(dims.size()) - 1; d >= 0; rest /= dims[d--])
      at[d] = integer(rest % dims[d]);
    Expr e = rewrite(unrolled(substitute(out.value, out.index, at)), [&](Expr x) -> Expr {
      known &= x.op() != Op::Fold;
      if (x.op() != Op::Load || !known) return x;
      ValueId v = n.inputs[x.operand()];
      Shape shape = g.type(v).shape;
      int64_t at = 0;
      for (size_t d = 0; d < shape.size(); ++d) {
        Expr index = x.index()[d];
        if (!index.is_const() || !shape[d].is_static()) {
          known = false;
          return x;
        }
        if (index.int_value() < 0 || index.int_value() >= shape[d].value()) {
          known &= !x.checked();
          return x.outside();
        }
        at = at * shape[d].value() + index.int_value();
      }
      auto content = NodeView(g, n).content(static_cast<int>(x.operand()));
      if (!content) {
        known = false;
        return x;
      }
      return (*content)[at];
    });
    elements.push_back(simplify_index(e));
  }
  if (!known) elements.clear();
  return elements;
}

bool empty_tensor(const Type& t) { return t.kind == Kind::Tensor && is_static(t.shape) && has_no_elements(t.shape); }

std::vector<Expr> infer_content(const Graph& g, const Node& n, int output) {
  const Type& type = g.type(n.outputs[output]);
  if (!n.op->meaning || !has_few_integers(type)) return {};
  for (ValueId v : n.inputs)
    if (v && !has_content(g, v) && n.op->name != "Shape" && n.op->name != "Size") return {};
  const Meaning& m = meaning_of(g, n);
  if (auto* view = std::get_if<View>(&m)) {
    auto c = NodeView(g, n).content(view->input);
    return c ? *c : std::vector<Expr>{};
  }
  auto* compute = std::get_if<Compute>(&m);
  return compute ? content_of(g, n, compute->outputs[output], type) : std::vector<Expr>{};
}

Tensor tensor_of(const std::vector<Expr>& content, const Type& type) {
  Tensor t(type.dtype, extents(type.shape));
  for (size_t i = 0; i < content.size(); ++i) t.set_int(static_cast<int64_t>(i), content[i].int_value());
  return t;
}

bool all_constant(const Graph& g, const Node& n) {
  return std::all_of(n.inputs.begin(), n.inputs.end(), [&](ValueId v) { return !v || g[v].constant; });
}

/// Whether two values are the same to the meaning of a node that reads them.
bool known_alike(const Value& a, const Value& b) {
  const bool constant = a.constant == b.constant || (a.constant && b.constant && *a.constant == *b.constant);
  return constant && a.type == b.type && a.content == b.content;
}

void check_signature(const NodeView& n, const Operator& op) {
  auto fail_count = [&](std::string_view what) {
    n.fail(Code::E0203, fmt::format("`{}` has {} {}", op.name, n.input_count(), what));
  };
  bool variadic = !op.inputs.empty() && op.inputs.back().presence >= InputSpec::Variadic;
  if (!variadic && n.input_count() > static_cast<int>(op.inputs.size()))
    fail_count(fmt::format("inputs, it takes at most {}", op.inputs.size()));
  for (int i = 0; i < static_cast<int>(op.inputs.size()); ++i)
    if ((op.inputs[i].presence == InputSpec::Required || op.inputs[i].presence == InputSpec::Variadic) && !n.has(i))
      fail_count(fmt::format("inputs, `{}` is missing", op.inputs[i].name));
  for (int i = 0; i < n.input_count(); ++i) {
    const InputSpec& spec = op.inputs[std::min<size_t>(i, op.inputs.size() - 1)];
    if (!n.has(i) && spec.presence == InputSpec::Variadic)
      n.fail(Code::E0203,
             fmt::format("input {} of `{}` has no name: none of `{}` can be left out", i, op.name, spec.name));
    if (!n.has(i)) continue;
    const Type& t = n.type(i);
    const bool takes = t.is_list() ? spec.takes != InputSpec::Tensors : spec.takes != InputSpec::Lists;
    if (!takes || (t.kind == Kind::Tensor && !spec.types.contains(t.dtype)))
      n.fail(Code::E0301, fmt::format("input `{}` of `{}` is {}, which the operator does not take", spec.name, op.name,
                                      to_string(t)));
    if (spec.same_as >= 0 && n.has(spec.same_as) && n.dtype(spec.same_as) != t.dtype)
      n.fail(Code::E0301,
             fmt::format("input `{}` of `{}` is {}, but `{}` is {}: they must have one element type", spec.name,
                         op.name, to_string(t), op.inputs[spec.same_as].name, to_string(n.type(spec.same_as))));
  }
}

/// What no machine can hold is refused where it arises, so that later arithmetic on sizes cannot overflow.
void check_size(const Operator& op, const Type& t) {
  if (t.kind != Kind::Tensor) return;
  std::vector<int64_t> dims;  // an unknown extent counts as 1
  for (const Dim& d : t.shape) dims.push_back(d.is_static() ? d.value() : 1);
  if (std::ranges::any_of(dims, [](int64_t d) { return d < 0; }))
    throw CompileError(Code::E0302, fmt::format("`{}` would give {}, with a negative extent", op.name, to_string(t)));
  if (std::string limit = beyond_limits(t.dtype, dims); !limit.empty())
    throw CompileError(Code::E0405, fmt::format("`{}` would give a tensor that {}", op.name, limit));
}

/// Elements times the extents of the folds that each takes.
bool short_work(const Meaning& m, int64_t elements) {
  auto* compute = std::get_if<Compute>(&m);
  if (!compute) return true;
  for (auto& out : compute->outputs) {
    int64_t work = std::max<int64_t>(elements, 1);
    bool fits = true;
    visit(std::vector<Expr>{out.value}, [&](Expr e) {
      if (e.op() != Op::Fold || !fits) return;
      Expr extent = e.arg(0).extent();
      fits = extent.is_const() && !__builtin_mul_overflow(work, std::max<int64_t>(extent.int_value(), 1), &work) &&
             work <= kFoldWork;
    });
    if (!fits) return false;
  }
  return true;
}

}  // namespace

bool has_few_integers(const Type& t) {
  const bool is_whole = (is_integer(t.dtype) && !is_packed(t.dtype)) || t.dtype == DType::b1;
  return t.kind == Kind::Tensor && is_whole && t.rank() <= 2 && is_static(t.shape) &&
         product(t.shape).value() <= kContentElements && product(t.shape).value() > 0;
}
Provenance merge(const Provenance& a, const Provenance& b) {
  Provenance r;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(r));
  return r;
}

Graph::Graph(std::shared_ptr<const Sources> sources) : sources_(std::move(sources)) {
  static uint64_t serials = 0;
  serial_ = serials++;
}

ValueId Graph::new_value(Type type, NodeId producer) {
  values_.push_back({std::move(type), {}, producer, nullptr, {}});
  return {static_cast<uint32_t>(values_.size() - 1)};
}
ValueId Graph::add_input(std::string name, Type type) {
  ValueId v = new_value(std::move(type), {});
  values_.back().name = std::move(name);
  inputs_.push_back(v);
  return v;
}
ValueId Graph::add_input(const Value& like) {
  const ValueId v = add_input(like.name, like.type);
  set_content(v, like.content);
  return v;
}
ValueId Graph::constant(Tensor t, std::string name) {
  return constant(std::make_shared<const Tensor>(std::move(t)), std::move(name));
}
ValueId Graph::constant(Constant t, std::string name) {
  ValueId v = new_value(Type(t->dtype(), shape_of(t->dims())), {});
  values_.back().constant = std::move(t);
  values_.back().name = std::move(name);
  return v;
}
ValueId Graph::error_value(std::string name) {
  ValueId v = new_value(Type::error(), {});
  values_.back().name = std::move(name);
  return v;
}

bool must_run(const Node& n) {
  return n.op->must_run || std::ranges::any_of(n.bodies, [](auto& body) { return body->must_run(); });
}

void Graph::type_outputs(Node& node, int output_count) {
  Infer infer(*this, node, output_count);
  node.op->infer(infer);
  for (auto& t : infer.types) {
    CAMEO_CHECK(t.has_value(), "a shape rule that types every output");
    check_size(*node.op, *t);
    if (t->kind == Kind::Tensor)
      for (const Dim& d : t->shape) infer.require(le(integer(0), d.extent()));
    node.outputs.push_back(new_value(*t, NodeId{static_cast<uint32_t>(nodes_.size())}));
  }
  for (Expr condition : infer.requirements) require({condition, node.provenance});
}

std::string Graph::name_of_elements(const Value& value) const {
  std::string name = value.name.empty() ? "size" : value.name;
  if (value.name.empty() && value.producer) {
    const Provenance& from = nodes_[value.producer.index].provenance;
    const SourceNode* node = !from.empty() && from[0] < sources().size() ? &sources()[from[0]] : nullptr;
    if (node) name = fmt::format("{}@{}", node->name.empty() ? node->output : node->name, fmt::join(from, "+"));
  }
  const auto is_taken = [&] {
    bool taken = has_symbols_of(name);
    for (const Graph* g = outside_; g && !taken; g = g->outside_) taken = g->has_symbols_of(name);
    return taken;
  };
  while (is_taken()) name += "'";
  return name;
}

bool Graph::has_symbols_of(const std::string& name) const {
  const auto is_of_them = [&](Expr e) {
    const auto symbol = symbol_of_element(e);
    return symbol && symbol_name(*symbol) == name + ":0";
  };
  return std::ranges::any_of(values_, [&](const Value& v) { return std::ranges::any_of(v.content, is_of_them); }) ||
         std::ranges::any_of(nodes_, [&](const Node& n) {
           return std::ranges::any_of(n.bodies, [&](const auto& body) { return body->has_symbols_of(name); });
         });
}

void Graph::keep_deciding(ValueId v, std::vector<Expr> symbols) {
  Value& value = values_[v.index];
  if (value.constant || !value.content.empty()) return;
  value.decides = true;
  value.content = std::move(symbols);
}

void Graph::decide(ValueId v, std::optional<Interval> bounds, bool open) {
  Value& value = values_[v.index];
  if (value.constant || !value.content.empty() || !has_few_integers(value.type)) return;
  value.decides = true;
  const std::string name = name_of_elements(value);
  const DType t = value.type.dtype;
  const bool is_bool = t == DType::b1;
  const DType read_as = t == DType::u64 ? DType::i64 : t;  // of the same bits, as symbols are i64
  const Interval all{is_bool ? 0 : range_of(lowest(read_as)).low, is_bool ? 1 : range_of(highest(read_as)).high};
  for (int64_t i = 0; i < product(value.type.shape).value(); ++i) {
    const std::string element = fmt::format("{}:{}", name, i);
    const bool is_count = bounds && !open;
    value.content.push_back(
        cast(is_count ? symbol_of_count(element, *bounds) : symbol(element, bounds.value_or(all), true), t));
  }
}

std::vector<ValueId> deciding_values(const Graph& g) {
  std::vector<ValueId> values;
  std::vector<Expr> known;
  for (ValueId v : g.inputs()) known.insert(known.end(), g[v].content.begin(), g[v].content.end());
  const auto is_known = [&](Expr e) {
    return std::ranges::find(known, *symbol_of_element(e), [](Expr k) { return symbol_of_element(k).value_or(k); }) !=
           known.end();
  };
  for (const Node& n : g.nodes())
    for (ValueId v : n.outputs)
      if (v && g[v].decides && !std::ranges::all_of(g[v].content, is_known)) {
        values.push_back(v);
        known.insert(known.end(), g[v].content.begin(), g[v].content.end());
      }
  return values;
}

void Graph::require(const Requirement& r) {
  const auto is_known = [&](const Requirement& other) { return other.condition == r.condition; };
  if (std::ranges::none_of(requirements_, is_known)) requirements_.push_back(r);
}

bool Graph::folds_at_once(const Node& node) const {
  if (!node.op->foldable || !node.bodies.empty() || !all_constant(*this, node)) return false;
  if (node.op->folds_late && type(node.outputs[0]).rank() > 1) return false;
  int64_t elements = 0;
  for (ValueId v : node.outputs)
    elements +=
        type(v).kind == Kind::Tensor && is_static(type(v).shape) ? product(type(v).shape).value() : kFoldAtOnce + 1;
  // outputs of no elements are known without what a composite makes on the way to them
  return elements > 0 && elements <= kFoldAtOnce && folded_bytes_ < kFoldBytes &&
         short_work(meaning_of(*this, node), elements);
}

void Graph::become_constant(ValueId v, Tensor t) {
  values_[v.index].constant = std::make_shared<const Tensor>(std::move(t));
  values_[v.index].producer = {};
}

void Graph::fold(const Node& node) {
  std::vector<Tensor> in;
  for (ValueId v : node.inputs) in.push_back(v ? *values_[v.index].constant : Tensor());
  std::vector<Tensor> out = interpret_node(*this, node, in);
  for (size_t i = 0; i < out.size(); ++i) {
    folded_bytes_ += static_cast<int64_t>(out[i].bytes().size());
    become_constant(node.outputs[i], std::move(out[i]));
  }
}

bool Graph::learn_contents(const Node& node) {
  bool all_known = node.bodies.empty() && !node.outputs.empty();
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    Value& value = values_[node.outputs[i].index];
    value.content = infer_content(*this, node, static_cast<int>(i));
    const bool known = value.content.empty() ? empty_tensor(value.type) && node.bodies.empty()
                                             : std::ranges::all_of(value.content, [](Expr e) { return e.is_const(); });
    if (known) become_constant(node.outputs[i], tensor_of(value.content, value.type));
    all_known &= known;
  }
  return all_known;
}

std::vector<ValueId> Graph::add(const Operator& op, std::vector<ValueId> inputs, Attrs attrs, Provenance provenance,
                                int version, int output_count, std::vector<std::shared_ptr<const Graph>> bodies) {
  while (!inputs.empty() && !inputs.back()) inputs.pop_back();  // trailing absent inputs are no inputs
  if (output_count < 0)
    output_count =
        static_cast<int>(std::ranges::count_if(op.outputs, [](auto& o) { return o.presence == OutputSpec::Required; }));
  Node node{&op,
            version ? version : op.since.back(),
            std::move(attrs),
            std::move(inputs),
            {},
            std::move(bodies),
            std::move(provenance)};
  try {
    check_signature(NodeView(*this, node), op);
    type_outputs(node, output_count);
    must_run_ |= cameo::must_run(node);
    if (folds_at_once(node))
      fold(node);
    else if (!learn_contents(node))
      nodes_.push_back(node);
  } catch (CompileError& e) {
    if (!e.diagnostic.node.empty()) throw;
    e.diagnostic.node = where(*sources_, node.provenance);
    throw;
  }
  return node.outputs;
}

void Graph::share_meaning(NodeId id, const Graph& other, const Node& like) {
  const Node& n = nodes_[id.index];
  if (n.meaning || !like.meaning || n.op != like.op || n.version != like.version || n.attrs != like.attrs) return;
  if (!n.bodies.empty() || !like.bodies.empty()) return;
  const auto alike = [&](ValueId a, ValueId b) { return a && b ? known_alike((*this)[a], other[b]) : !a && !b; };
  if (std::ranges::equal(n.inputs, like.inputs, alike) && std::ranges::equal(n.outputs, like.outputs, alike))
    n.meaning = like.meaning;
}

NodeId Graph::maker_of(std::span<const ValueId> outputs) const {
  for (ValueId v : outputs)
    if (NodeId n = values_[v.index].producer) return n;
  return {};
}

std::string where(const Sources& sources, const Provenance& provenance) {
  if (provenance.empty() || provenance[0] >= sources.size()) return "";
  const SourceNode& s = sources[provenance[0]];
  return fmt::format("node {} `{}` ({})", provenance[0], printable(s.name.empty() ? s.output : s.name),
                     printable(s.op_type));
}

CompileError misfit(const Sources& sources, const Requirement& r) {
  Diagnostic d{Code::E0304, "the node does not fit the sizes of this run", {}, where(sources, r.provenance), {}, {}};
  return CompileError(std::move(d));
}

std::string to_string(const Graph& g) {
  auto value = [&](ValueId v) { return v ? fmt::format("%{}", v.index) : std::string("-"); };
  std::string s;
  for (ValueId v : g.inputs())
    s += fmt::format("input {} {} `{}`\n", value(v), to_string(g.type(v)), printable(g[v].name));
  for (const Node& n : g.nodes()) {
    std::string out, in;
    for (ValueId v : n.outputs)
      out += (out.empty() ? "" : ", ") + (v ? fmt::format("{} {}", value(v), to_string(g.type(v))) : "-");
    for (ValueId v : n.inputs)
      in += (in.empty() ? "" : ", ") + (v && g[v].constant ? fmt::format("const {}", to_string(g.type(v))) : value(v));
    s += fmt::format("{} = {}({})", out, n.op->name, in);
    if (std::string at = where(g.sources(), n.provenance); !at.empty()) s += "   <- " + at;
    s += "\n";
    for (auto& body : n.bodies) {
      std::string text = to_string(*body);
      s += "  {\n";
      for (size_t i = 0; i < text.size();) {
        size_t end = text.find('\n', i);
        s += "    " + text.substr(i, end - i + 1);
        i = end + 1;
      }
      s += "  }\n";
    }
  }
  for (const Port& p : g.outputs())
    s += fmt::format("output {} {} `{}`\n", value(p.value), to_string(g.type(p.value)), printable(p.name));
  return s;
}

// ---- replay ---------------------------------------------------------------------------------------------------------
namespace {

std::vector<bool> live_nodes(const Graph& g) {
  std::vector<bool> live(g.nodes().size());
  std::vector<bool> wanted(g.values().size());
  for (const Port& p : g.outputs()) wanted[p.value.index] = true;
  for (size_t i = g.nodes().size(); i-- > 0;) {
    const Node& n = g.nodes()[i];
    live[i] = must_run(n) || std::ranges::any_of(n.outputs, [&](ValueId v) { return v && wanted[v.index]; });
    if (live[i])
      for (ValueId v : n.inputs)
        if (v) wanted[v.index] = true;
  }
  return live;
}

/// `captured` are, as they are now, the values that the inputs which stand last are; `outside`: that has the body `g`.
Graph replay(const Graph& g, const Rule& rule, std::shared_ptr<const Sources> sources, const Provenance& extra,
             std::span<const Value> captured = {}, const Graph* outside = nullptr, const OutputRule& outputs = {});

class Replayer {
 public:
  /// `extra` joins the provenance of all nodes, those of bodies too: it is where an inlined graph went.
  Replayer(Graph& into, const Graph& from, const Rule& rule, const Provenance& extra, bool inlines)
      : into_(into), from_(from), rule_(rule), extra_(extra), inlines_(inlines), mapped_(from.values().size()) {}
  void bind(ValueId from, ValueId to) { mapped_[from.index] = to; }
  ValueId map(ValueId v) {
    if (!v) return v;
    if (!mapped_[v.index]) {
      CAMEO_CHECK(from_[v].constant, "an operand that was replayed before its user");
      mapped_[v.index] = into_.constant(from_[v].constant, from_[v].name);
    }
    return mapped_[v.index];
  }
  void run() {
    std::vector<bool> live = live_nodes(from_);
    for (size_t i = 0; i < live.size(); ++i)
      if (live[i]) replay_node(from_.nodes()[i]);
  }
  /// Not for a graph that may be inlined twice: the variables of a graph's meanings are different ones.
  void share_meanings() {
    for (const Node& n : from_.nodes())
      for (ValueId v : n.outputs)
        if (const ValueId to = v ? mapped_[v.index] : v; to && into_[to].producer)
          into_.share_meaning(into_[to].producer, from_, n);
  }

 private:
  void replay_node(const Node& n) {
    std::vector<ValueId> inputs;
    for (ValueId v : n.inputs) inputs.push_back(map(v));
    std::optional<std::vector<ValueId>> outputs;
    if (rule_ && extra_.empty()) {
      outputs = rule_(into_, n, inputs);
    } else if (rule_) {  // a node of an inlined body comes from where the body went, too
      Node here = n;
      here.provenance = merge(n.provenance, extra_);
      outputs = rule_(into_, here, inputs);
    }
    if (!outputs) {
      std::vector<std::shared_ptr<const Graph>> bodies;
      const std::vector<Value> captured = n.bodies.empty() ? std::vector<Value>{} : captured_values(n, inputs);
      for (auto& b : n.bodies)
        bodies.push_back(
            std::make_shared<const Graph>(replay(*b, rule_, into_.shared_sources(), extra_, captured, &into_)));
      outputs = into_.add(*n.op, inputs, n.attrs, merge(n.provenance, extra_), n.version,
                          static_cast<int>(n.outputs.size()), std::move(bodies));
    }
    CAMEO_CHECK(outputs->size() >= n.outputs.size(), "a rule that gives every output a value");
    for (size_t i = 0; i < n.outputs.size(); ++i) {
      if (!n.outputs[i]) continue;
      bind(n.outputs[i], (*outputs)[i]);
      const ValueId v = (*outputs)[i];
      if (v && into_[v].name.empty()) into_.set_name(v, from_[n.outputs[i]].name);
      if (v && from_[n.outputs[i]].decides) keep_deciding(n.outputs[i], v);
    }
  }
  /// A graph may be inlined several times: each has symbols of its own.
  void keep_deciding(ValueId from, ValueId to) {
    const std::vector<Expr>& symbols = from_[from].content;
    if (!inlines_) return into_.keep_deciding(to, symbols);
    const Expr first = *symbol_of_element(symbols[0]);
    into_.decide(to, range_of(first), is_open(first));
  }
  std::vector<Value> captured_values(const Node& n, std::span<const ValueId> inputs) const {
    Value unknown;
    unknown.type = Type::error();
    std::vector<Value> values;
    for (ValueId v : inputs.last(captures_of(from_, n))) values.push_back(v ? into_[v] : unknown);
    return values;
  }
  Graph& into_;
  const Graph& from_;
  const Rule& rule_;
  const Provenance& extra_;
  bool inlines_;
  std::vector<ValueId> mapped_;
};

Graph replay(const Graph& g, const Rule& rule, std::shared_ptr<const Sources> sources, const Provenance& extra,
             std::span<const Value> captured, const Graph* outside, const OutputRule& outputs) {
  Graph into(std::move(sources));
  into.set_outside(outside);
  for (const Requirement& each : g.requirements()) into.require(each);
  Replayer r(into, g, rule, extra, !extra.empty());
  const size_t own = g.inputs().size() - captured.size();
  for (size_t i = 0; i < g.inputs().size(); ++i) {
    Value input = g[g.inputs()[i]];
    if (i >= own && captured[i - own].type.kind == Kind::Tensor) {
      input.type = captured[i - own].type;
      if (!input.content.empty() && captured[i - own].decides) input.content = captured[i - own].content;
    }
    r.bind(g.inputs()[i], into.add_input(input));
  }
  r.run();
  r.share_meanings();
  for (const Port& p : g.outputs()) {
    const ValueId given = outputs ? outputs(p.value) : ValueId{};
    into.add_output(p.name, given ? given : r.map(p.value));
  }
  into.set_outside(nullptr);
  bool clean = std::ranges::all_of(live_nodes(into), std::identity());
  return clean || !rule ? into : replay(into, {});
}

}  // namespace

Graph replay(const Graph& g, const Rule& rule, const OutputRule& outputs) {
  return replay(g, rule, g.shared_sources(), {}, {}, nullptr, outputs);
}

std::vector<ValueId> inline_graph(Graph& into, const Graph& body, std::span<const ValueId> inputs,
                                  const Provenance& provenance, const Rule& rule) {
  CAMEO_CHECK(inputs.size() == body.inputs().size(), "a value for each input of the inlined graph");
  Replayer r(into, body, rule, provenance, true);
  for (size_t i = 0; i < inputs.size(); ++i) r.bind(body.inputs()[i], inputs[i]);
  r.run();
  std::vector<ValueId> out;
  for (const Port& p : body.outputs()) out.push_back(r.map(p.value));
  return out;
}

}  // namespace cameo
