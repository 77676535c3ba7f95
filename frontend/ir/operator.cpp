// NodeView and its kin, the operator table's look-up, and the shape rules that many operators share.
#include "frontend/ir/operator.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/ir/by_parts.h"
#include "frontend/ir/check.h"

namespace cameo {

const Type& NodeView::type(int input) const {
  CAMEO_CHECK(has(input), "an input that is present");
  return graph_.type(node_.inputs[input]);
}
int NodeView::output_count() const { return static_cast<int>(node_.outputs.size()); }
Dim NodeView::dim(int input, int a) const { return shape(input)[axis(a, rank(input))]; }

const Attr* NodeView::find_attr(std::string_view name) const {
  if (auto it = node_.attrs.find(name); it != node_.attrs.end()) return &it->second;
  for (const AttrSpec& a : node_.op->attributes)
    if (a.name == name && a.fallback) return &*a.fallback;
  return nullptr;
}
bool NodeView::has_attr(std::string_view name) const { return node_.attrs.find(name) != node_.attrs.end(); }

namespace {
template <class T>
const T& get_attr(const NodeView& n, const Attr* a, std::string_view name, std::string_view what) {
  if (!a) n.fail(Code::E0204, fmt::format("attribute `{}` is missing", name));
  if (auto* v = std::get_if<T>(a)) return *v;
  n.fail(Code::E0204, fmt::format("attribute `{}` is not {}", name, what));
}
}  // namespace
int64_t NodeView::attr_int(std::string_view name) const {
  return get_attr<int64_t>(*this, find_attr(name), name, "an int");
}
double NodeView::attr_float(std::string_view name) const {
  return get_attr<double>(*this, find_attr(name), name, "a float");
}
std::string NodeView::attr_string(std::string_view name) const {
  return get_attr<std::string>(*this, find_attr(name), name, "a string");
}
std::vector<int64_t> NodeView::attr_ints(std::string_view name) const {
  return get_attr<std::vector<int64_t>>(*this, find_attr(name), name, "a list of ints");
}
std::vector<double> NodeView::attr_floats(std::string_view name) const {
  return get_attr<std::vector<double>>(*this, find_attr(name), name, "a list of floats");
}
std::vector<std::string> NodeView::attr_strings(std::string_view name) const {
  return get_attr<std::vector<std::string>>(*this, find_attr(name), name, "a list of strings");
}
const Tensor& NodeView::attr_tensor(std::string_view name) const {
  return *get_attr<Constant>(*this, find_attr(name), name, "a tensor");
}

const Type& NodeView::attr_type(std::string_view name) const {
  return *get_attr<std::shared_ptr<const Type>>(*this, find_attr(name), name, "a type");
}

const Tensor* NodeView::constant(int input) const {
  return has(input) ? graph_[node_.inputs[input]].constant.get() : nullptr;
}
std::optional<std::vector<Expr>> NodeView::content(int input) const {
  if (!has(input)) return std::nullopt;
  const Value& v = graph_[node_.inputs[input]];
  if (v.constant && (is_integer(v.type.dtype) || v.type.dtype == DType::b1)) {
    std::vector<Expr> e;
    for (int64_t i = 0; i < v.constant->size(); ++i) e.push_back(integer(v.constant->get_int(i), v.type.dtype));
    return e;
  }
  if (!v.content.empty()) return v.content;
  if (v.type.kind == Kind::Tensor && is_static(v.type.shape) && has_no_elements(v.type.shape))
    return std::vector<Expr>{};
  return std::nullopt;
}
namespace {
[[noreturn]] void fail_not_known(const NodeView& n, int input) {
  const Operator& op = *n.node().op;
  const Value& v = n.graph()[n.node().inputs[input]];
  Diagnostic d{Code::E0404,
               fmt::format("`{}` needs `{}` to be known when compiling", op.name,
                           op.inputs[std::min<size_t>(input, op.inputs.size() - 1)].name),
               {},
               {},
               {},
               {}};
  std::string_view name = v.name;
  d.notes.push_back(v.producer ? fmt::format("`{}` is computed by {}", printable(name),
                                             where(n.graph().sources(), n.graph()[v.producer].provenance))
                               : fmt::format("`{}` is an input of the model", printable(name)));
  if (!v.producer) d.help = fmt::format("--const {}=VALUE folds it in", printable(name));
  d.unknown = name;
  throw CompileError(d);
}
}  // namespace
std::vector<int64_t> NodeView::ints(int input) const {
  std::vector<int64_t> v;
  const Tensor* t = constant(input);
  if (t && (is_integer(t->dtype()) || t->dtype() == DType::b1)) {
    for (int64_t i = 0; i < t->size(); ++i) v.push_back(t->get_int(i));
    return v;
  }
  auto c = content(input);
  if (!c || !std::ranges::all_of(*c, [](Expr e) { return e.is_const(); })) fail_not_known(*this, input);
  for (Expr e : *c) v.push_back(e.int_value());
  return v;
}
std::vector<double> NodeView::floats(int input) const {
  const Tensor* t = constant(input);
  if (!t) fail_not_known(*this, input);
  std::vector<double> v;
  for (int64_t i = 0; i < t->size(); ++i) v.push_back(t->get(i));
  return v;
}

int NodeView::axis(int64_t a, int rank) {
  if (a < -rank || a >= rank) throw CompileError(Code::E0304, fmt::format("axis {} of a tensor of rank {}", a, rank));
  return static_cast<int>(a < 0 ? a + rank : a);
}
std::vector<int> NodeView::axes(const std::vector<int64_t>& axes, int rank) {
  std::vector<int> r;
  std::vector<bool> seen(rank);
  for (int64_t a : axes) {
    r.push_back(axis(a, rank));
    if (seen[r.back()]) throw CompileError(Code::E0304, fmt::format("axis {} stands twice", a));
    seen[r.back()] = true;
  }
  return r;
}
void NodeView::require(Expr condition) const {
  condition = simplify_index(condition);
  if (required_ && !condition.is_const(1)) required_->push_back(condition);
}
bool NodeView::may_hold(Expr condition) const {
  condition = simplify_index(condition);
  if (condition.is_const(0)) return false;
  require(condition);
  return true;
}
bool NodeView::agree(Dim a, Dim b) const { return may_hold(eq(a.extent(), b.extent())); }
bool NodeView::fits(Dim a, Dim most) const { return may_hold(le(a.extent(), most.extent())); }
bool NodeView::divides(int64_t parts, Dim whole) const {
  return may_hold(eq(mod(whole.extent(), integer(parts)), integer(0)));
}
Dim NodeView::bounded(Dim extent, size_t count) const {
  if (!is_any(extent.extent())) return extent;
  const Expr most = integer(most_of_open(count));
  require(logical_and(le(integer(0), extent.extent()), le(extent.extent(), most)));
  return Dim(simplify_index(max(min(extent.extent(), most), integer(0))));
}
void NodeView::fail(Code code, std::string message, std::string help) const {
  throw CompileError(code, std::move(message), std::move(help));
}

void Infer::output(int i, Type t) {
  const auto any = std::ranges::count_if(t.shape, [](const Dim& d) { return is_any(d.extent()); });
  for (Dim& d : t.shape) d = bounded(d, static_cast<size_t>(any));
  if (i < static_cast<int>(types.size())) types[i] = std::move(t);
}
Dim Infer::fresh(int64_t upper) {
  static uint64_t serial = 0;
  return Dim(symbol_of_count(fmt::format("?{}", serial++), {0, upper}));
}

const Type& MeaningView::out_type(int i) const { return graph_.type(node_.outputs[i]); }
std::vector<Expr> MeaningView::index_of(const Shape& shape) {
  std::vector<Expr> v;
  for (const Dim& d : shape) v.push_back(var(d.extent()));
  return v;
}
Expr MeaningView::load(int input, std::span<const Expr> index, Expr outside) const {
  CAMEO_CHECK(static_cast<int>(index.size()) == rank(input), "one index an axis");
  if (has_no_elements(shape(input))) return outside ? outside : zero(dtype(input));
  return cameo::load(static_cast<uint32_t>(input), dtype(input), index, outside);
}
Expr MeaningView::load(int input, std::initializer_list<Expr> index, Expr outside) const {
  return load(input, std::span<const Expr>(index.begin(), index.size()), outside);
}
Expr MeaningView::load_checked(int input, std::span<const Expr> index) const {
  return cameo::load(static_cast<uint32_t>(input), dtype(input), index, {}, true);
}
Expr broadcast_index(const Dim& extent, Expr i) {
  if (extent.is_static()) return extent.is_static(1) ? integer(0) : i;
  if (i.op() == Op::Var && i.extent() == extent.extent()) return i;
  return select(eq(extent.extent(), integer(1)), integer(0), i);  // which may be 1 where the result's is not
}
Expr MeaningView::load_broadcast(int input, std::span<const Expr> index) const {
  int r = rank(input), offset = static_cast<int>(index.size()) - r;
  std::vector<Expr> at;
  for (int d = 0; d < r; ++d) at.push_back(broadcast_index(shape(input)[d], index[offset + d]));
  return load(input, at);
}

const Operator* find_operator(std::string_view name, std::string_view domain) {
  if (domain == "ai.onnx") domain = "";
  for (const Operator& op : all_operators())
    if (op.name == name && op.domain == domain) return &op;
  return nullptr;
}
const Operator& get_operator(std::string_view name, std::string_view domain) {
  const Operator* op = find_operator(name, domain);
  CAMEO_CHECK(op, "an operator that is declared in frontend/ops");
  return *op;
}
int version_at(const Operator& op, int opset) {
  int v = 0;
  for (int s : op.since)
    if (s <= opset) v = s;
  return v;
}

const Meaning& meaning_of(const Graph& g, const Node& n) {
  if (n.meaning) return *n.meaning;
  const MeaningView view(g, n);
  const auto of_complex = by_parts(view);
  n.meaning = std::make_shared<const Meaning>(of_complex ? *of_complex : n.op->meaning(view));
  return *n.meaning;
}

size_t captures_of(const Graph& g, const Node& n) {
  const bool counted = std::ranges::any_of(n.op->attributes, [](const AttrSpec& a) { return a.name == "captures"; });
  return counted ? static_cast<size_t>(NodeView(g, n).attr_int("captures")) : n.inputs.size() - 1;
}

Meaning elementwise_meaning(const MeaningView& n, const std::function<Expr(std::span<const Expr>)>& f) {
  OutputExpr out{n.index(), {}};
  std::vector<Expr> x;
  for (int i = 0; i < n.input_count(); ++i) x.push_back(n.has(i) ? n.load_broadcast(i, out.index) : Expr());
  out.value = f(x);
  return Compute{{out}};
}

namespace infer {

void same_as_first(Infer& n) { n.output(0, n.type(0)); }

Shape broadcast_shapes(const NodeView& n, std::span<const Shape> shapes) {
  Shape out;
  for (const Shape& s : shapes) {
    if (s.size() > out.size()) out.insert(out.begin(), s.size() - out.size(), Dim(1));
    for (size_t k = 0; k < s.size(); ++k) {
      Dim& o = out[out.size() - s.size() + k];
      const Dim& d = s[k];
      if (o == d || d.is_static(1)) continue;
      const auto is_one = [](const Dim& x) { return simplify_index(eq(x.extent(), integer(1))); };
      const Expr stretches = logical_or(is_one(o), is_one(d)), equal = simplify_index(eq(o.extent(), d.extent()));
      if (stretches.is_const(0) && equal.is_const(0))
        n.fail(Code::E0302, fmt::format("shapes {} and {} do not broadcast", to_string(out), to_string(s)));
      n.require(logical_or(stretches, equal));
      o = Dim(simplify_index(select(is_one(o), d.extent(), o.extent())));
      if (d.is_static()) o = d;  // and not 1
    }
  }
  return out;
}

namespace {
Shape common_shape(Infer& n) {
  std::vector<Shape> shapes;
  for (int i = 0; i < n.input_count(); ++i)
    if (n.has(i)) shapes.push_back(n.shape(i));
  return broadcast_shapes(n, shapes);
}
}  // namespace
void broadcast(Infer& n) { n.output(0, n.dtype(0), common_shape(n)); }
void broadcast_bool(Infer& n) { n.output(0, DType::b1, common_shape(n)); }

}  // namespace infer
}  // namespace cameo
