// See ask.h. One question is asked at a time: `asked` is what the answers are about. A Scalar holds the Expr's node; a
// plain number becomes a constant of the type that it meets.
#include "frontend/custom/ask.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontend/custom/guard.h"
#include "frontend/ops/conversion.h"
#include "frontend/ops/operands.h"

namespace cameo {
namespace {

using op::Scalar;

constexpr int kMostOperations = 20000;  // of a rule: an element is an expression, and no program

struct Question {
  const CustomOperator& custom;
  const NodeView& node;
  Infer* infer = nullptr;                    // of a shape rule that types outputs
  const MeaningView* meaning = nullptr;      // of an element
  const std::vector<Expr>* index = nullptr;  // where it stands
  Expr scratch = integer(0);
  int operations = 0;

  [[noreturn]] void refuse(Code code, const std::string& what, const std::string& help = {}) const {
    throw CompileError(code, fmt::format("`{}` {}", custom.name, what), help);
  }
  [[noreturn]] void misused(const std::string& what) const { refuse(Code::E0704, what); }
};
thread_local Question* asked = nullptr;

std::string who(const CustomOperator& c, std::string_view function) {
  return fmt::format("`{}` of `{}`: its function `{}`", c.name, printable(c.file->path), function);
}

/// Asks one function of the file.
void ask(Question& question, std::string_view function, const std::function<void()>& call) {
  Question* const outer = asked;
  asked = &question;
  try {
    guarded(who(question.custom, function), call);
  } catch (...) {
    asked = outer;
    throw;
  }
  asked = outer;
}

// ---- numbers --------------------------------------------------------------------------------------------------------
Scalar scalar_of(Expr e) {
  Scalar s;
  s.kind = Scalar::computed;
  s.value = e.node();
  return s;
}
Expr expr_of(const Scalar& s, DType type) {
  if (s.kind == Scalar::computed) return Expr(static_cast<const ExprNode*>(s.value));
  if (s.kind == Scalar::none) asked->misused("uses a `Scalar` that holds nothing");
  if (is_float(type)) return constant(type, s.number);
  if (s.kind == Scalar::whole) return integer(s.integer, type);
  asked->misused(fmt::format("computes with {} and {}: `cast` says which type is meant", name(type), s.number));
}
Expr size_of(const Scalar& s) {
  const Expr e = expr_of(s, DType::i64);
  if (e.type() != DType::i64) asked->misused(fmt::format("takes a number of type {} for a size", name(e.type())));
  return e;
}
DType type_of(op::Type t) {
  const bool known = static_cast<uint32_t>(t) < kDTypeCount;
  if (!known || !kCustomTypes.contains(static_cast<DType>(t)))
    asked->misused(fmt::format("names the element type {}, which there is not", static_cast<int>(t)));
  return static_cast<DType>(t);
}
int input_of(int input) {
  if (input < 0 || !asked->node.has(input)) asked->misused(fmt::format("asks for input {}, which is not there", input));
  return input;
}

// ---- arithmetic -----------------------------------------------------------------------------------------------------
enum class Takes { Numbers, Floats, Integers, Bools, All };
Takes takes(Op o) {
  switch (o) {
    case Op::Eq:
    case Op::Ne: return Takes::All;
    case Op::And:
    case Op::Or:
    case Op::Not:
    case Op::Xor: return Takes::Bools;
    case Op::BitAnd:
    case Op::BitOr:
    case Op::BitXor:
    case Op::BitNot:
    case Op::Shl:
    case Op::Shr:
    case Op::FloorDiv:
    case Op::Mod: return Takes::Integers;
    case Op::Add:
    case Op::Sub:
    case Op::Mul:
    case Op::Div:
    case Op::FMod:
    case Op::Min:
    case Op::Max:
    case Op::Neg:
    case Op::Abs:
    case Op::Sign:
    case Op::Lt:
    case Op::Le: return Takes::Numbers;
    default: return Takes::Floats;
  }
}
bool is_narrow(DType t) { return is_packed(t) || is_minifloat(t); }
bool may_take(Takes takes, DType t) {
  if (is_narrow(t)) return false;
  switch (takes) {
    case Takes::All: return true;
    case Takes::Bools: return t == DType::b1;
    case Takes::Integers: return is_integer(t);
    case Takes::Floats: return is_float(t);
    default: return t != DType::b1;
  }
}

struct Operation {
  std::string_view name;
  Op op;
  int arguments;
};
const Operation& operation_of(std::string_view name, int arguments) {
  static const Operation all[] = {
#define OP(op, arity, text) {text, Op::op, arity},
#include "frontend/ir/expr_ops.def"
#undef OP
  };
  for (const Operation& o : all)
    if (o.name == name && o.arguments == arguments && o.op != Op::Cast) return o;
  asked->misused(fmt::format("asks for an operation that there is not"));
}

/// Of plain numbers alone: a plain number.
Scalar plain(Op o, std::span<const Scalar> x) {
  const bool whole = std::ranges::all_of(x, [](const Scalar& s) { return s.kind == Scalar::whole; });
  if (whole) {
    std::vector<Expr> integers;
    for (const Scalar& s : x) integers.push_back(integer(s.integer));
    if (const Expr e = may_take(takes(o), DType::i64) ? make(o, DType::i64, integers) : Expr(); e && e.is_const())
      return e.type() == DType::i64 ? Scalar(e.int_value()) : scalar_of(e);
  }
  const double a = x[0].number, b = x.back().number;
  switch (o) {
    case Op::Add: return a + b;
    case Op::Sub: return a - b;
    case Op::Mul: return a * b;
    case Op::Div: return a / b;
    case Op::Neg: return -a;
    case Op::Abs: return std::fabs(a);
    case Op::Min: return std::min(a, b);
    case Op::Max: return std::max(a, b);
    case Op::Floor: return std::floor(a);
    case Op::Ceil: return std::ceil(a);
    case Op::Round: return std::nearbyint(a);
    case Op::Trunc: return std::trunc(a);
    case Op::Sqrt: return std::sqrt(a);
    default:
      asked->misused(fmt::format("asks for `{}` of plain numbers alone: one has to come from an input or from `cast`",
                                 function_name(o)));
  }
}

/// The type of those that are computed.
std::optional<DType> common_type(std::string_view name, std::span<const Scalar> x) {
  std::optional<DType> common;
  for (const Scalar& s : x) {
    if (s.kind != Scalar::computed) continue;
    const DType t = expr_of(s, DType::i64).type();
    if (common && *common != t)
      asked->misused(fmt::format("computes `{}` of {} and {}: `cast` makes them alike", name, cameo::name(*common),
                                 cameo::name(t)));
    common = t;
  }
  return common;
}

Scalar apply_to(std::string_view name, std::span<const Scalar> x) {
  if (++asked->operations > kMostOperations)
    asked->misused(fmt::format("has more than {} operations: what loops is for `run`", kMostOperations));
  const Operation& o = operation_of(name, static_cast<int>(x.size()));
  const bool selects = o.op == Op::Select;
  const std::span<const Scalar> values = x.subspan(selects ? 1 : 0);
  std::optional<DType> type = common_type(name, values);
  if (!type && !selects) return plain(o.op, x);
  if (!type) type = DType::f64;
  if (!selects && !may_take(takes(o.op), *type))
    asked->misused(fmt::format("computes `{}` of {}", name, cameo::name(*type)));
  std::vector<Expr> arguments;
  for (const Scalar& s : values) arguments.push_back(expr_of(s, *type));
  if (!selects)
    return scalar_of(arguments.size() == 1 ? apply(o.op, {arguments[0]}) : apply(o.op, {arguments[0], arguments[1]}));
  const Expr condition = expr_of(x[0], DType::b1);
  if (condition.type() != DType::b1) asked->misused("selects by what is no comparison");
  return scalar_of(select(condition, arguments[0], arguments[1]));
}

Scalar cast_to(const Scalar& x, op::Type to) {
  const DType type = type_of(to);
  const Expr e = expr_of(x, x.kind == Scalar::real ? DType::f64 : DType::i64);
  return scalar_of(is_narrow(type) ? ops::convert(e, type) : cast(e, type));
}

// ---- sizes ----------------------------------------------------------------------------------------------------------
int axis_of(int axis, int rank) {
  if (axis < -rank || axis >= rank) asked->misused(fmt::format("asks for axis {} of a tensor of rank {}", axis, rank));
  return axis < 0 ? axis + rank : axis;
}

Scalar dim_of_input(int input, int axis) {
  const Shape& shape = asked->node.shape(input_of(input));
  return scalar_of(shape[axis_of(axis, static_cast<int>(shape.size()))].extent());
}

Scalar content_of(int input, int64_t element) {
  const std::vector<Expr> all = ops::elements(asked->node, input_of(input));
  if (element < 0 || element >= static_cast<int64_t>(all.size()))
    asked->refuse(Code::E0703, fmt::format("needs element {} of input {}, which has {}", element, input, all.size()));
  return scalar_of(simplify_index(all[static_cast<size_t>(element)]));
}

Shape broadcast_of(const NodeView& n) {
  std::vector<Shape> shapes;
  for (int i = 0; i < n.input_count(); ++i)
    if (n.has(i)) shapes.push_back(n.shape(i));
  return infer::broadcast_shapes(n, shapes);
}

int64_t known_value(const Scalar& size, bool required, bool& is_known) {
  const Expr e = simplify_index(expr_of(size, DType::i64));
  is_known = e.is_const() && !is_float(e.type());
  if (is_known) return e.int_value();
  if (required)
    asked->refuse(Code::E0404, fmt::format("needs the size {} to be known when compiling", to_string(Dim(e))));
  return 0;
}

void require_that(const Scalar& condition, const char* sentence) {
  const Expr e = expr_of(condition, DType::b1);
  if (e.type() != DType::b1) asked->misused("requires what is no comparison");
  if (!asked->node.may_hold(e)) asked->refuse(Code::E0703, sentence);
}

void type_output(int i, op::Type type, const op::Dims& dims) {
  if (!asked->infer) return;  // asked for its scratch alone
  if (i < 0 || i >= static_cast<int>(asked->custom.outputs.size()))
    asked->misused(fmt::format("gives output {} a shape, of {}", i, asked->custom.outputs.size()));
  const DType t = type == op::same_as_first ? asked->node.dtype(input_of(0)) : type_of(type);
  if (dims.rank < 0 || dims.rank > kMaxRank)
    asked->misused(fmt::format("gives output {} {} axes, the most is {}", i, dims.rank, kMaxRank));
  Shape shape;
  for (int axis = 0; axis < dims.rank; ++axis) {
    const Expr extent = simplify_index(size_of(dims.at[axis]));
    if (range_of(extent).high < 0)
      asked->misused(fmt::format("gives axis {} of output {} the extent {}", axis, i, to_string(Dim(extent))));
    shape.emplace_back(extent);
  }
  asked->infer->output(i, t, std::move(shape));
}

// ---- elements -------------------------------------------------------------------------------------------------------
const MeaningView& meaning_asked() {
  if (!asked->meaning) asked->misused("asks for an element outside of `element`");
  return *asked->meaning;
}

Scalar element_at(int input, std::span<const Scalar> at) {
  const MeaningView& n = meaning_asked();
  if (static_cast<int>(at.size()) != n.rank(input_of(input)))
    asked->misused(fmt::format("loads from input {} by {} indices, its rank is {}", input, at.size(), n.rank(input)));
  std::vector<Expr> index;
  for (const Scalar& s : at) index.push_back(simplify_index(size_of(s)));
  return scalar_of(n.load(input, index));
}

Scalar element_here(int input) {
  const MeaningView& n = meaning_asked();
  const Shape& shape = n.shape(input_of(input));
  const std::vector<Expr>& index = *asked->index;
  if (shape.size() > index.size())
    asked->misused(
        fmt::format("reads input {} of rank {} where an output of rank {} has its element: `load` takes an "
                    "index",
                    input, shape.size(), index.size()));
  for (size_t d = 0; d < shape.size(); ++d) {
    const Dim& own = shape[d];
    const Expr extent = index[index.size() - shape.size() + d].extent();
    const bool differs = simplify_index(logical_or(eq(own.extent(), integer(1)), eq(own.extent(), extent))).is_const(0);
    if (differs)
      asked->misused(
          fmt::format("reads input {} where the output has its element, but {} does not broadcast to it: "
                      "`load` takes an index",
                      input, to_string(shape)));
  }
  return scalar_of(n.load_broadcast(input, index));
}

Scalar fold_of(std::string_view kind, Expr variable, const Scalar& body) {
  constexpr std::pair<std::string_view, FoldKind> kinds[] = {
      {"Sum", FoldKind::Sum}, {"Prod", FoldKind::Prod}, {"Min", FoldKind::Min}, {"Max", FoldKind::Max}};
  const auto* known = std::ranges::find(kinds, kind, &std::pair<std::string_view, FoldKind>::first);
  const Expr of = expr_of(body, DType::f64);
  if (known == std::end(kinds) || variable.op() != Op::Var || of.type() == DType::b1 || is_narrow(of.type()))
    asked->misused("folds what is no number");
  return scalar_of(fold(known->second, variable, of));
}

}  // namespace

const op::detail::Compiler& answers() {
  static const op::detail::Compiler all = {
      .fail = [](const char* sentence) { answer([&] { asked->refuse(Code::E0703, sentence); }); },
      .apply = [](const char* name, const Scalar* x, int count,
                  Scalar* result) { answer([&] { *result = apply_to(name, {x, static_cast<size_t>(count)}); }); },
      .cast = [](const Scalar* x, op::Type to, Scalar* result) { answer([&] { *result = cast_to(*x, to); }); },
      .dim = [](int input, int axis, Scalar* result) { answer([&] { *result = dim_of_input(input, axis); }); },
      .content = [](int input, int64_t element,
                    Scalar* result) { answer([&] { *result = content_of(input, element); }); },
      .broadcast =
          [](op::Dims* result) {
            answer([&] {
              for (const Dim& d : broadcast_of(asked->node)) result->append(scalar_of(d.extent()));
            });
          },
      .known =
          [](const Scalar* size, bool required, bool* is_known) {
            int64_t value = 0;
            answer([&] { value = known_value(*size, required, *is_known); });
            return value;
          },
      .require = [](const Scalar* condition,
                    const char* sentence) { answer([&] { require_that(*condition, sentence); }); },
      .output = [](int i, op::Type type, const op::Dims* dims) { answer([&] { type_output(i, type, *dims); }); },
      .scratch = [](const Scalar* bytes) { answer([&] { asked->scratch = simplify_index(size_of(*bytes)); }); },
      .load =
          [](int input, const Scalar* index, int count, Scalar* result) {
            answer([&] {
              *result = count < 0 ? element_here(input) : element_at(input, {index, static_cast<size_t>(count)});
            });
          },
      .index =
          [](int axis, Scalar* result) {
            answer([&] {
              meaning_asked();
              *result = scalar_of((*asked->index)[axis_of(axis, static_cast<int>(asked->index->size()))]);
            });
          },
      .variable = [](const Scalar* extent,
                     Scalar* result) { answer([&] { *result = scalar_of(var(simplify_index(size_of(*extent)))); }); },
      .fold = [](const char* kind, const Scalar* variable, const Scalar* body,
                 Scalar* result) { answer([&] { *result = fold_of(kind, size_of(*variable), *body); }); },
  };
  return all;
}

namespace {

/// A node as the file sees it.
template <class Sort>
struct Facts {
  explicit Facts(const NodeView& n) : attributes(n) {
    for (int i = 0; i < n.input_count(); ++i) {
      types.push_back(n.has(i) ? static_cast<op::Type>(n.dtype(i)) : op::same_as_first);
      ranks.push_back(n.has(i) ? n.rank(i) : 0);
    }
    std::fill(std::begin(wanted), std::end(wanted), true);
    node.list = attributes.list().data();
    node.attribute_count = static_cast<int>(attributes.list().size());
    node.version = n.version();
    node.input_count = n.input_count();
    node.types = types.data();
    node.ranks = ranks.data();
    node.wanted = wanted;
  }
  CustomAttributes attributes;
  std::vector<op::Type> types;
  std::vector<int> ranks;
  bool wanted[op::kMostOutputs];
  Sort node;
};

void run_rule(Question& question, int outputs) {
  const CustomOperator& c = question.custom;
  Facts<op::Shape> facts(question.node);
  facts.node.output_count = outputs;
  ask(question, "shape", [&] { c.declared->shape(facts.node); });
}

/// The operator has no rule: every output is what its inputs broadcast to.
void broadcast_outputs(const CustomOperator& c, Infer& infer) {
  const Shape shape = broadcast_of(infer);
  for (size_t i = 0; i < infer.types.size(); ++i) {
    const op::Type t = c.declared->outputs[i].type;
    infer.output(static_cast<int>(i), t == op::same_as_first ? infer.dtype(0) : static_cast<DType>(t), shape);
  }
}

}  // namespace

void ask_shape(const CustomOperator& c, Infer& infer) {
  for (const op::Declared& a : c.declared->attributes)
    if (a.name && a.presence == op::required && !a.has_default && !infer.has_attr(a.name))
      infer.fail(Code::E0204, fmt::format("attribute `{}` of `{}` is missing", a.name, c.name));
  if (!c.declared->shape) return broadcast_outputs(c, infer);
  Question question{c, infer, &infer};
  run_rule(question, static_cast<int>(infer.types.size()));
  for (size_t i = 0; i < infer.types.size(); ++i)
    if (!infer.types[i])
      question.misused(fmt::format("has a shape rule that says nothing of output `{}`", c.outputs[i].name));
}

Expr ask_scratch(const CustomOperator& c, const NodeView& node) {
  Question question{c, node};
  run_rule(question, node.output_count());
  return question.scratch;
}

Compute ask_elements(const CustomOperator& c, const MeaningView& node) {
  Compute meaning;
  Facts<op::Element> facts(node);
  facts.node.output_count = node.output_count();
  for (int i = 0; i < node.output_count(); ++i) {
    OutputExpr& out = meaning.outputs.emplace_back(node.index(i), Expr());
    Question question{c, node, nullptr, &node, &out.index};
    facts.node.output = i;
    ask(question, "element", [&] { out.value = expr_of(c.declared->element(facts.node), node.out_dtype(i)); });
    if (out.value.type() != node.out_dtype(i))
      question.misused(fmt::format("gives {} for output `{}`, which is {}: `cast` makes it that",
                                   name(out.value.type()), c.outputs[i].name, name(node.out_dtype(i))));
  }
  return meaning;
}

}  // namespace cameo
