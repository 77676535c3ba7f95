// Expressions print into a stack of scopes: the kernel, one for the lambda over the outer axes, one for the lambda over
// the lanes, and one a Fold. A node is written in the outermost scope that has all its variables, so what does not
// depend on a loop stands before it; a shared node is written once.
#include "codegen/print_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <unordered_map>

#include "codegen/sources.h"
#include "frontend/ir/check.h"
#include "optimizer/choose/folds.h"

namespace cameo {
namespace {

std::string_view storage_type(DType t) {
  switch (t) {
    case DType::b1: return "bool";
    case DType::f16: return "rt::half";
    case DType::bf16: return "rt::bfloat";
    case DType::f32: return "float";
    case DType::f64: return "double";
    case DType::c64: return "rt::c64";
    case DType::c128: return "rt::c128";
    case DType::i8:
    case DType::i4:
    case DType::i2: return "rt::i8";
    case DType::u8:
    case DType::u4:
    case DType::u2: return "rt::u8";
    case DType::f8e4m3fn: return "rt::f8e4m3fn";
    case DType::f8e4m3fnuz: return "rt::f8e4m3fnuz";
    case DType::f8e5m2: return "rt::f8e5m2";
    case DType::f8e5m2fnuz: return "rt::f8e5m2fnuz";
    case DType::f4e2m1: return "rt::f4e2m1";
    case DType::f8e8m0: return "rt::f8e8m0";
    case DType::i16: return "rt::i16";
    case DType::u16: return "rt::u16";
    case DType::i32: return "rt::i32";
    case DType::u32: return "rt::u32";
    case DType::i64:
    case DType::str: return "rt::i64";
    case DType::u64: return "rt::u64";
    default: CAMEO_CHECK(false, "an element type"); return "";
  }
}

std::string float_literal(double v, bool single) {
  if (std::isnan(v)) return single ? "__builtin_nanf(\"\")" : "__builtin_nan(\"\")";
  if (std::isinf(v)) return fmt::format("{}__builtin_{}()", v < 0 ? "-" : "", single ? "inff" : "inf");
  std::string s = single ? fmt::format("{}", static_cast<float>(v)) : fmt::format("{}", v);
  if (s.find_first_of(".e") == std::string::npos) s += ".0";
  return single ? s + "f" : s;
}
std::string literal(Expr e) {
  if (is_float(e.type())) return float_literal(e.float_value(), e.type() != DType::f64);
  int64_t v = e.int_value();
  CAMEO_CHECK(e.type() != DType::str || v == 0, "no string in code but the empty one");
  if (e.type() == DType::b1) return v ? "true" : "false";
  if (e.type() == DType::u64) return fmt::format("{}ul", static_cast<uint64_t>(v));
  std::string digits = v == INT64_MIN ? "(-9223372036854775807l - 1)" : fmt::format("{}l", v);
  return e.type() == DType::i64 ? digits : fmt::format("{}({})", storage_type(e.type()), digits);
}

/// A constant that layers of one form differ in, such as a scale, a zero point, a stride. In the text each is a number
/// between marks until it is known whether another kernel has another one there.
struct Number {
  Expr constant;
  int64_t multiple = 1;  // divides it in every kernel of the form, which a compiler may know
  bool is_type = false;  // `rt::c<64>`
};
constexpr char kMark = '\x01';
std::string literal_of(const Number& n) {
  return n.is_type ? fmt::format("rt::c<{}>", n.constant.int_value()) : literal(n.constant);
}
std::string parameter_of(const Number& n, size_t number) {
  const std::string name = fmt::format("p{}", number);
  return n.multiple == 1 && !n.is_type ? name : fmt::format("rt::multiple_of<{}>({})", n.multiple, name);
}

/// An integer of 8 bits that is a rounded float and a whole number.
struct Quantized {
  Expr x, zero;
};
std::optional<Quantized> quantized(Expr e) {
  constexpr double kMost = 1 << 16;
  if (e.op() != Op::Cast || !is_8_bits(e.type()) || e.arg(0).type() != DType::f32) return {};
  Expr sum = e.arg(0);
  double zero = 0;
  if (sum.op() == Op::Add && sum.arg(1).is_const()) zero = sum.arg(1).float_value(), sum = sum.arg(0);
  if (sum.op() != Op::Round || zero != std::floor(zero) || std::abs(zero) > kMost) return {};
  return Quantized{sum.arg(0), constant(DType::i32, zero)};
}

/// Division by a scale that rt::quantized_quotient takes; by 1 there is none.
bool is_quotient(Expr e) {
  constexpr double kMost = 0x1p60;
  if (e.op() != Op::Div || e.type() != DType::f32 || !e.arg(1).is_const()) return false;
  const double scale = e.arg(1).float_value();
  return scale != 1 && scale >= 1 / kMost && scale <= kMost;
}

/// The float of an integer times a scale, and what is added to it: of a sum of integers, whose floats are rounded
/// otherwise than the model says anyway, an FMA.
struct ScaledInteger {
  Expr number, scale, more;
};
std::optional<ScaledInteger> scaled_integer(const Kernel& k, Expr e) {
  if (!k.accumulated || k.accumulated.type() != DType::i32 || e.op() != Op::Add || e.type() != DType::f32) return {};
  for (size_t side : {0, 1}) {
    const Expr times = e.arg(side);
    if (times.op() != Op::Mul) continue;
    for (size_t factor : {0, 1})
      if (const Expr x = times.arg(factor); x.op() == Op::Cast && !is_float(x.arg(0).type()))
        return ScaledInteger{x, times.arg(1 - factor), e.arg(1 - side)};
  }
  return {};
}

class Printer final : public KernelPrinter {
 public:
  Printer(Writer& out, const Kernel& k) : out_(out), k_(k) {
    if (k.choice.get(kKept, 0)) kept_ = kept_terms(k, k.choice["lanes"], k.choice["fold_lanes"]);
  }

  /// The sizes that the body asks for: p0, p1 ..
  const std::vector<Expr>& parameters() const { return parameters_; }
  /// The numbers that stand between marks, by what is there.
  const std::vector<Number>& numbers() const { return numbers_; }
  /// The operands that bytes are looked up in.
  const std::set<uint32_t>& tables() const { return tables_; }

  void line(std::string_view text) override { out_.line(text); }
  void open(std::string_view text) override { out_.open(text); }
  void close(std::string_view text) override { out_.close(text); }
  void append(std::string_view lines) override { out_.append(lines); }

  std::string scope(int deeper, const Bindings& variables, const std::function<void()>& body) override {
    push_scope(out_.indent() + deeper);
    for (const auto& [variable, name] : variables) bind(variable, name);
    body();
    return pop_scope();
  }
  void statement(std::string_view text) override { scopes_.back().text.line(text); }
  void stores(std::string_view function) override {
    for (const Store& s : k_.stores) {
      const std::string offset = name(s.offset), value = name(s.value);
      std::string check;
      if (!s.guard.is_const(1)) check = fmt::format("if (rt::check(call, {}{})) ", name(s.guard), listed(s.blamed));
      statement(fmt::format("{}rt::{}x{}, {}, {});", check, function, s.operand, offset, value));
    }
  }
  /// A node is written first where its home scope is.
  std::string name(Expr e) override {
    if (e.op() == Op::Const) return may_differ(e) ? mark({e}) : literal(e);
    if (is_symbolic(e) && is_size(e) && e.type() == DType::i64) return parameter(e);
    if (e.op() == Op::Var) return var_names_.at(e.var_number());
    if (e.op() == Op::Acc) return "acc";
    if (is_symbolic(e) && e.type() == DType::i64)
      if (const Expr sum = by_strides(e); sum != e) return name(sum);
    size_t at = home(e);
    if (auto it = scopes_[at].names.find(e); it != scopes_[at].names.end()) return it->second;
    const bool is_kept = kept_ && e == kept_->element;
    std::string value = e.op() == Op::Fold ? print_fold(e, at) : is_kept ? read_again() : call(e);
    std::string t = fmt::format("t{}", ++temporaries_);
    scopes_[at].text.line(fmt::format("const auto {} = {};", t, value));
    scopes_[at].names.emplace(e, t);
    return t;
  }
  std::string constant(Expr number, int64_t multiple) override {
    const bool may = multiple && number.int_value() % multiple == 0 && may_differ(number);
    return may ? mark({number, multiple, true}) : literal_of({.constant = number, .is_type = true});
  }

 private:
  std::string parameter(Expr size) {
    const auto known = std::ranges::find(parameters_, size);
    const auto number = known - parameters_.begin();
    if (known == parameters_.end()) parameters_.push_back(size);
    return fmt::format("p{}", number);
  }
  bool may_differ(Expr constant) const {
    if (constant.type() == DType::i64)
      return k_.family->shares_sizes(k_) && std::abs(constant.int_value()) <= rt::kLargestNumber;
    return constant.type() == DType::f32 || constant.type() == DType::i32;
  }
  std::string mark(const Number& number) {
    numbers_.push_back(number);
    return fmt::format("{0}{1}{0}", kMark, numbers_.size() - 1);
  }
  /// The length of a fold, which may differ where it leaves no elements behind the last whole vector.
  std::string of_whole_vectors(Expr length) {
    const Number number{length, whole_vectors(k_)};
    return length.int_value() % number.multiple == 0 && may_differ(length) ? mark(number) : literal_of(number);
  }
  /// As an argument. Of an index, summands, bounds and strides may differ, but not short strides between a vector's
  /// lanes, nor divisors, of which a loop makes more as literals.
  std::string argument(Expr user, Expr e) {
    constexpr int64_t kFar = 64;
    if (e.op() != Op::Const || e.type() != DType::i64) return name(e);
    const auto varies = [&](Expr x) { return home(x) > 0; };
    const bool is_stride = user.op() == Op::Mul && (e.int_value() >= kFar || std::ranges::none_of(user.args(), varies));
    const bool is_sum = user.op() == Op::Add || user.op() == Op::Lt || user.op() == Op::Le;
    return is_stride || is_sum ? name(e) : literal(e);
  }

  /// The same sum, with one stride for each thing that varies, a number or a parameter, and what varies in outer scopes
  /// first: (p0 + i * p1) + j.
  Expr by_strides(Expr e) {
    if (auto it = by_strides_.find(e); it != by_strides_.end()) return it->second;
    struct Part {
      Expr stride, varying;
      size_t home;
    };
    std::vector<Part> parts;
    Expr sum = integer(0);
    const Affine a = affine(e);
    for (const Affine::Term& t : a.terms) {
      std::vector<Expr> factors = factors_of(t.term);
      const auto sizes = std::ranges::stable_partition(factors, [](Expr f) { return !is_size(f); });
      const Expr stride = product_of({sizes.begin(), sizes.end()}) * integer(t.coefficient);
      factors.erase(sizes.begin(), sizes.end());
      const Expr varying = product_of(std::move(factors));
      const auto known = std::ranges::find(parts, varying, &Part::varying);
      if (known == parts.end())
        parts.push_back({stride, varying, home(varying)});
      else
        known->stride = known->stride + stride;
    }
    std::ranges::stable_sort(parts, {}, [](const Part& p) { return std::pair(p.home, p.varying.id()); });
    for (const Part& p : parts)
      if (p.varying.is_const()) sum = sum + p.stride;
    sum = simplify_index(sum + integer(a.constant));
    for (const Part& p : parts)
      if (!p.varying.is_const()) sum = sum + p.varying * simplify_index(p.stride);
    return by_strides_[e] = sum;
  }

  struct Scope {
    Writer text;
    std::unordered_map<Expr, std::string, ExprHash> names;
    std::set<uint64_t> vars;
  };

  // ---- scopes -------------------------------------------------------------------------------------------------------
  void push_scope(int indent) {
    scopes_.emplace_back();
    scopes_.back().text.set_indent(indent);
  }
  std::string pop_scope() {
    std::string s = scopes_.back().text.take();
    scopes_.pop_back();
    return s;
  }
  void bind(Expr v, std::string text) {
    scopes_.back().vars.insert(v.var_number());
    var_names_[v.var_number()] = std::move(text);
  }
  /// The number of the outermost scope that has all free variables of `e`.
  size_t home(Expr e) {
    size_t depth = 0;
    for (uint64_t v : free_vars(e))
      for (size_t i = scopes_.size(); i-- > 0;)
        if (scopes_[i].vars.count(v)) {
          depth = std::max(depth, i);
          break;
        }
    return depth;
  }
  const std::set<uint64_t>& free_vars(Expr e) {
    if (auto it = free_.find(e); it != free_.end()) return it->second;
    std::vector<Expr> roots{e};
    visit(roots, [&](Expr x) {
      if (free_.count(x)) return;
      std::set<uint64_t> vars;
      if (x.op() == Op::Var) vars.insert(x.var_number());
      for (Expr a : x.args()) vars.insert(free_.at(a).begin(), free_.at(a).end());
      if (x.op() == Op::Fold) vars.erase(x.arg(0).var_number());
      free_[x] = std::move(vars);
    });
    return free_.at(e);
  }

  /// What rt:: compares by the first lane alone, unless a later lane may have wrapped.
  std::string compared(Expr user, Expr e) {
    const bool sum = e.op() == Op::Add || e.op() == Op::Sub;
    return sum && e.type() == DType::i64 && !range_of(e).known() ? fmt::format("rt::general({})", name(e))
                                                                 : argument(user, e);
  }
  std::string listed(std::span<const Expr> more) {  // behind other arguments
    std::string text;
    for (Expr e : more) text += ", " + name(e);
    return text;
  }
  std::string call(Expr e) {
    CAMEO_CHECK(e.op() != Op::Load, "Reads alone in a kernel");
    if (e.op() == Op::Read) return print_read(e);
    const auto q = quantized(e);
    if (q && is_quotient(q->x))
      return fmt::format("rt::quantized_quotient<{}>({}, {}, {})", storage_type(e.type()), name(q->x.arg(0)),
                         name(q->x.arg(1)), name(q->zero));
    if (q) return fmt::format("rt::quantized<{}>({}, {})", storage_type(e.type()), name(q->x), name(q->zero));
    if (const auto s = scaled_integer(k_, e))
      return fmt::format("rt::fma({}, {}, {})", name(s->number), name(s->scale), name(s->more));
    const bool compares = e.op() == Op::Lt || e.op() == Op::Le;
    std::string args;
    for (Expr a : e.args())
      args += fmt::format("{}{}", args.empty() ? "" : ", ", compares ? compared(e, a) : argument(e, a));
    if (e.op() == Op::Cast) return fmt::format("rt::cast<{}>({})", storage_type(e.type()), args);
    return fmt::format("rt::{}({})", function_name(e.op()), args);
  }
  std::string print_read(Expr e) {
    std::string offset = name(e.offset());
    if (looks_up_bytes(e)) {
      tables_.insert(e.operand());
      return fmt::format("rt::look_up(table{}, {})", e.operand(), offset);
    }
    if (e.guard().is_const(1)) return fmt::format("rt::load(x{}, {})", e.operand(), offset);
    std::string guard = name(e.guard());
    if (e.checked())
      return fmt::format("rt::load_checked(call, x{}, {}, {}{})", e.operand(), offset, guard, listed(e.blamed()));
    return fmt::format("rt::load_or(x{}, {}, {}, {})", e.operand(), offset, guard, name(e.outside()));
  }
  std::string print_fold(Expr e, size_t at) {
    Expr v = e.arg(0);
    const Expr length = v.extent();
    const std::string extent = length.is_const() ? of_whole_vectors(length) : name(length);
    int indent = scopes_[at].text.indent();
    push_scope(indent + 1);
    // only variables of scopes up to `at` and the fold's own are free in the body, so its text may stand there
    std::string r = fmt::format("r{}", ++folds_);
    bind(v, r);
    std::string result = name(e.arg(1));
    if (kept_ && e == kept_->fold) keep(v, result);
    std::string body = pop_scope();
    std::string pad(static_cast<size_t>(indent) * 2, ' ');
    return fmt::format("rt::{}({}, [&](auto {}) __attribute__((always_inline)) {{\n{}{}  return {};\n{}}})",
                       fold_function(k_, e), extent, r, body, pad, result, pad);
  }

  /// The terms that a fold keeps where the output's elements will be.
  void keep(Expr variable, std::string_view term) {
    const std::vector<Expr> from{k_.axes.back()}, to{variable};
    const Store& s = k_.stores[0];
    const std::string offset = name(simplify_index(substitute(s.offset, from, to)));
    statement(fmt::format("rt::store(x{}, {}, {});", s.operand, offset, term));
  }
  std::string read_again() {
    const Store& s = k_.stores[0];
    return fmt::format("rt::load(x{}, {})", s.operand, name(s.offset));
  }

  Writer& out_;
  const Kernel& k_;
  std::optional<KeptTerms> kept_;
  std::vector<Scope> scopes_;
  std::unordered_map<Expr, std::set<uint64_t>, ExprHash> free_;
  std::map<uint64_t, std::string> var_names_;
  std::vector<Expr> parameters_;
  std::vector<Number> numbers_;
  std::set<uint32_t> tables_;
  std::unordered_map<Expr, Expr, ExprHash> by_strides_;
  int temporaries_ = 0, folds_ = 0;
};

}  // namespace

namespace {

/// The types of what x0, x1 .. point to.
std::vector<std::string> operand_types(const Kernel& k) {
  std::vector<std::string> types;
  for (uint32_t i = 0; i < k.operands.size(); ++i)
    types.push_back(fmt::format("{}{}", k.family->writes(k, i) ? "" : "const ", storage_type(k.operands[i])));
  return types;
}

/// As a comment: which value an operand is.
std::string held_by(const Kernel& k, size_t operand) {
  return operand < k.held.size() ? "  // " + comment_safe(k.held[operand]) : "";
}

std::string_view attribute_of(const Kernel& k) { return k.optimize_for_size ? "RT_OPTIMIZE_FOR_SIZE " : ""; }

void open_cpu_function(Writer& w, const Kernel& k, const std::vector<Expr>& parameters) {
  w.open(fmt::format("{}static void {}(const rt::RowCall& {}) {{", attribute_of(k), k.symbol,
                     k.optimize_for_size ? "of_row" : "call"));
  if (k.optimize_for_size) {  // which saves the code that finds a chunk's share
    w.line("rt::RowCall call = of_row;");
    w.line("call.chunk = 0, call.chunks = 1;");
  }
  std::vector<std::string> types = operand_types(k);
  for (size_t i = 0; i < types.size(); ++i)
    w.line(fmt::format("auto* const x{} = rt::{}<{}>(call, {});{}", i, k.is_in_scratch(i) ? "in_scratch" : "address",
                       types[i], i, held_by(k, i)));
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Expr e = parameters[i];
    const size_t operand = types.size() + i;
    if (e.is_const())
      w.line(fmt::format("const auto p{} = rt::number_at<{}>(call, {});", i, storage_type(e.type()), operand));
    else
      w.line(fmt::format("const rt::i64 p{} = rt::size_at(call, {});  // {}", i, operand,
                         comment_safe(to_string(Dim(e)))));
  }
}

void open_gpu_function(Writer& w, const Kernel& k, const std::vector<Expr>& parameters) {
  std::string all;
  for (const std::string& type : operand_types(k))
    all += fmt::format("{}* const x{}, ", type, std::ranges::count(all, ','));
  for (size_t i = 0; i < parameters.size(); ++i) all += fmt::format("const rt::i64 p{}, ", i);
  w.open(fmt::format("RT_KERNEL {}({}rt::Fault* const fault) {{", k.symbol, all));
  for (size_t i = 0; i < k.held.size(); ++i) w.line(fmt::format("// x{}: {}", i, comment_safe(k.held[i])));
  w.line("const rt::Call call = rt::block_call(fault);");
  for (size_t i = 0; i < k.aligned.size(); ++i)
    if (k.choice.get("lanes", 1) > 1 && k.aligned[i]) w.line(fmt::format("rt::assume_aligned(x{});", i));
}

struct MarkedBody {
  KernelBody body;
  std::vector<Number> numbers;  // that stand between marks
};
MarkedBody print_marked(const Kernel& k) {
  Writer text;
  text.set_indent(1);
  Printer printer(text, k);
  k.family->print(printer, k);
  Writer tables;
  tables.set_indent(1);
  for (uint32_t operand : printer.tables())
    tables.line(fmt::format("const auto table{0} = rt::byte_table(x{0});", operand));
  return {{tables.take() + text.take(), printer.parameters()}, printer.numbers()};
}

/// Everything that kernels of one function have in common.
std::string form_of(const Kernel& k, std::string_view text) {
  return fmt::format("{}\n{} {}\n{}", text, fmt::join(operand_types(k), ", "), k.optimize_for_size,
                     fmt::join(k.in_scratch, ""));
}

/// Of bodies with the same form: a number that all have becomes a literal, others become parameters, those that are
/// equal in each body one.
void place_numbers(std::span<MarkedBody* const> alike) {
  const MarkedBody& first = *alike[0];
  std::vector<size_t> parameter;  // of each number
  std::vector<std::string> texts;
  for (size_t i = 0; i < first.numbers.size(); ++i) {
    const auto is_same = [&](size_t other) {
      return std::ranges::all_of(
          alike, [&](const MarkedBody* m) { return m->numbers[i].constant == m->numbers[other].constant; });
    };
    const auto is_first = [&](const MarkedBody* m) { return m->numbers[i].constant == first.numbers[i].constant; };
    const size_t earlier = *std::ranges::find_if(std::views::iota(size_t(0), i + 1), is_same);
    const bool is_literal = std::ranges::all_of(alike, is_first);
    parameter.push_back(earlier < i ? parameter[earlier] : first.body.parameters.size());
    texts.push_back(is_literal ? literal_of(first.numbers[i]) : parameter_of(first.numbers[i], parameter[i]));
    if (is_literal || earlier < i) continue;
    for (MarkedBody* m : alike) m->body.parameters.push_back(m->numbers[i].constant);
  }
  std::string text;
  bool is_number = false;  // every other piece is
  for (const auto piece : std::views::split(first.body.text, kMark)) {
    const std::string words(piece.begin(), piece.end());
    text += is_number ? texts[std::stoul(words)] : words;
    is_number = !is_number;
  }
  for (MarkedBody* m : alike) m->body.text = text;
}

}  // namespace

KernelBody print_body(const Kernel& k) {
  MarkedBody marked = print_marked(k);
  place_numbers(std::vector{&marked});
  return marked.body;
}

std::vector<KernelBody> print_bodies(std::span<const Kernel> kernels) {
  std::vector<MarkedBody> marked;
  std::map<std::string, std::vector<uint32_t>> by_form;
  for (uint32_t k = 0; k < kernels.size(); ++k) {
    marked.push_back(print_marked(kernels[k]));
    by_form[form_of(kernels[k], marked[k].body.text)].push_back(k);
  }
  for (const auto& [form, numbers] : by_form) {
    std::vector<MarkedBody*> alike;
    for (uint32_t k : numbers) marked[k].body.function = numbers[0], alike.push_back(&marked[k]);
    place_numbers(alike);
  }
  std::vector<KernelBody> bodies;
  for (MarkedBody& m : marked) bodies.push_back(std::move(m.body));
  return bodies;
}

void print_kernel(Writer& w, const Kernel& k, const KernelBody& body, const Sources& sources, Frame frame) {
  std::string from;
  for (uint32_t o : k.provenance)
    if (o < sources.size() && from.size() < 400)
      from += (from.empty() ? "   <- " : ", ") +
              comment_safe(sources[o].name.empty() ? sources[o].output : sources[o].name);
  w.line(fmt::format("// {}: {}{}", k.symbol, comment_safe(k.title), from));
  (frame == Frame::Cpu ? open_cpu_function : open_gpu_function)(w, k, body.parameters);
  w.append(body.text);
  w.close("}");
}

void print_entry(Writer& w, const Kernel& k, std::string_view name) {
  w.line(fmt::format("extern \"C\" {} {}void {}(const rt::RowCall& call) {{ {}(call); }}", kHidden, attribute_of(k),
                     name, k.symbol));
}

std::string kernel_includes(const std::vector<Kernel>& kernels) {
  std::map<std::string, std::string_view> legends{{"nest", family("nest").legend()}};  // by header
  for (const Kernel& k : kernels) legends.emplace(k.family->header(k), k.family->legend());
  std::string s;
  for (const auto& [header, legend] : legends)
    s += fmt::format("#include \"runtime/kernels/{}.h\"{}{}\n", header, legend.empty() ? "" : "  // ", legend);
  return s + "// The operands x0, x1 .. are named as in the first step that a kernel computes.\n";
}

}  // namespace cameo
