// Expressions print into a stack of scopes: the kernel, one for the lambda over the outer axes, one for the lambda over
// the lanes, and one a Fold. A node is written in the outermost scope that has all its variables, so what does not
// depend on a loop stands before it; a shared node is written once.
#include "codegen/print_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "frontend/check.h"

namespace cameo {
namespace {

std::string_view storage_type(DType t) {
  switch (t) {
    case DType::b1: return "bool";
    case DType::f16: return "rt::half";
    case DType::bf16: return "rt::bfloat";
    case DType::f32: return "float";
    case DType::f64: return "double";
    case DType::i8: return "rt::i8";
    case DType::u8: return "rt::u8";
    case DType::i16: return "rt::i16";
    case DType::u16: return "rt::u16";
    case DType::i32: return "rt::i32";
    case DType::u32: return "rt::u32";
    case DType::i64: return "rt::i64";
    case DType::u64: return "rt::u64";
    default: CAMEO_CHECK(false, "an element type that runs"); return "";
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
  if (e.type() == DType::b1) return v ? "true" : "false";
  if (e.type() == DType::u64) return fmt::format("{}ul", static_cast<uint64_t>(v));
  std::string digits = v == INT64_MIN ? "(-9223372036854775807l - 1)" : fmt::format("{}l", v);
  return e.type() == DType::i64 ? digits : fmt::format("{}({})", storage_type(e.type()), digits);
}

/// A number of which the kernel family makes a type.
std::string constant_of(Expr extent) { return fmt::format("rt::c<{}>", extent.int_value()); }

std::string_view fold_name(FoldKind k) {
  constexpr std::string_view names[] = {"Sum", "Prod", "Min", "Max", "ArgMin", "ArgMax", "ArgMinLast", "ArgMaxLast"};
  return names[static_cast<int>(k)];
}

class Printer {
 public:
  explicit Printer(const Kernel& k) : k_(k) {}

  void print(Writer& w) {
    if (k_.form == Form::Opaque) return print_opaque(w);
    if (k_.form == Form::Serial) return print_serial(w);
    if (k_.form == Form::Contract) return print_contract(w);
    if (k_.form == Form::Window) return print_window(w);
    if (k_.form == Form::Transpose) return print_transpose(w);
    size_t outer = k_.axes.empty() ? 0 : k_.axes.size() - 1;
    std::string extents, names;
    for (size_t i = 0; i < outer; ++i) {
      extents += fmt::format(", {}", literal(k_.axes[i].extent()));
      names += fmt::format("{}rt::i64 i{}", i ? ", " : "", i);
    }
    std::string inner = k_.axes.empty() ? "rt::c<1>" : constant_of(k_.axes.back().extent());
    const std::string how = k_.team > 1 ? fmt::format("{}, {}", k_.lanes, k_.team) : fmt::format("{}", k_.lanes);
    w.open(fmt::format("rt::nest<{}>(call, {}, rt::extents({}), [&]({}) {{", how, inner,
                       extents.empty() ? "" : extents.substr(2), names));
    push_scope(w.indent());
    for (size_t i = 0; i < outer; ++i) bind(k_.axes[i], fmt::format("i{}", i));
    push_scope(w.indent() + 1);
    if (!k_.axes.empty()) bind(k_.axes.back(), fmt::format("i{}", outer));
    for (const Store& s : k_.stores) print_store(s);
    std::string element = pop_scope(), row = pop_scope();
    w.append(row);
    w.open(fmt::format("return [=](auto i{}) __attribute__((always_inline)) {{", outer));
    w.line(fmt::format("(void)i{};", outer));
    w.append(element);
    w.close("};");
    w.close("});");
  }

 private:
  struct Scope {
    Writer text;
    std::unordered_map<Expr, std::string, ExprHash> names;
    std::set<uint64_t> vars;
  };

  void print_opaque(Writer& w) {
    std::string arguments;
    for (size_t i = 0; i < k_.operands.size(); ++i) arguments += fmt::format(", x{}", i);
    for (int64_t n : k_.opaque_numbers) arguments += fmt::format(", {}l", n);
    w.line(fmt::format("rt::{}(call{});", k_.opaque, arguments));
  }
  void print_serial(Writer& w) {
    const std::span<const Expr> axes(k_.axes);
    const size_t owners = static_cast<size_t>(k_.owners);
    std::string names;
    for (size_t i = 0; i < axes.size(); ++i) names += fmt::format("{}rt::i64 i{}", i ? ", " : "", i);
    w.open(fmt::format("rt::serial(call, {}, {}, [&]({}) {{", extents_of(axes.first(owners)),
                       extents_of(axes.subspan(owners)), names));
    push_scope(w.indent());
    for (size_t i = 0; i < axes.size(); ++i) bind(axes[i], fmt::format("i{}", i));
    for (const Store& s : k_.stores) print_store(s);
    w.append(pop_scope());
    w.close("});");
  }
  /// Coefficients of an affine offset as rt::strides(..), and what is left when all variables are 0.
  static std::string strides(const Affine& a, std::span<const Expr> vars) {
    std::string s;
    for (Expr v : vars) s += fmt::format("{}{}l", s.empty() ? "" : ", ", a.coefficient_of(v));
    return fmt::format("rt::strides({})", s);
  }
  static std::string extents_of(std::span<const Expr> vars) {
    std::string s;
    for (Expr v : vars) s += fmt::format("{}{}", s.empty() ? "" : ", ", literal(v.extent()));
    return fmt::format("rt::extents({})", s);
  }
  std::string contract_family(const ContractSum& c) const {
    if (c.staged) return fmt::format("contract_staged<{}, {}, {}>", c.rows_per_tile, c.vectors_per_tile, k_.lanes);
    const std::string groups = c.term_groups > 1 ? fmt::format(", {}", c.term_groups) : "";
    return fmt::format("contract<{}, {}, {}{}>", c.rows_per_tile, c.vectors_per_tile, c.in_registers, groups);
  }
  void print_contract(Writer& w) {
    const ContractSum& c = k_.sum;
    std::span<const Expr> axes(k_.axes);
    Expr column = axes.back(), row = c.has_row ? axes[axes.size() - 2] : Expr();
    std::span<const Expr> outer = axes.first(axes.size() - (c.has_row ? 2 : 1));
    Affine a = affine(c.a_offset), b = affine(c.b_offset);
    std::string names;
    for (size_t i = 0; i < outer.size(); ++i) names += fmt::format("rt::i64 i{}, ", i);
    w.line(fmt::format("rt::{}(call, {}, {}, {}, {}, {},", contract_family(c), extents_of(outer),
                       extents_of(c.segments), row ? constant_of(row.extent()) : "rt::c<1>",
                       constant_of(column.extent()), constant_of(c.k.extent())));
    w.line(fmt::format("             rt::matrix_a(x{} + {}l, {}, {}l, {}),", c.a, a.constant, strides(a, outer),
                       row ? a.coefficient_of(row) : 0, strides(a, c.segments)));
    if (c.packed)
      w.line(fmt::format("             rt::packed_b(x{}, {}),", c.b, strides(Affine{}, outer)));
    else
      w.line(fmt::format("             rt::strided_b(x{} + {}l, {}, {}l, {}l),", c.b, b.constant, strides(b, outer),
                         b.coefficient_of(c.k), b.coefficient_of(column)));
    w.open(fmt::format("             [&](auto acc, {}rt::i64 row, auto col) __attribute__((always_inline)) {{", names));
    push_scope(w.indent() - 1);
    push_scope(w.indent());
    for (size_t i = 0; i < outer.size(); ++i) bind(outer[i], fmt::format("i{}", i));
    if (row) bind(row, "row");
    bind(column, "col");
    scopes_.back().text.line("(void)row;");
    for (const Store& s : k_.stores) print_store(s);
    std::string element = pop_scope(), hoisted = pop_scope();
    w.append(hoisted);
    w.append(element);
    w.close("});");
  }
  void print_window(Writer& w) {
    const WindowFold& f = k_.window;
    std::span<const Expr> outer = std::span(k_.axes).first(k_.axes.size() - 2),
                          taps = std::span(f.taps).first(f.taps.size() - 1);
    Expr row = k_.axes[k_.axes.size() - 2], column = k_.axes.back();
    std::string names = "auto acc, ", tap_names;
    for (size_t i = 0; i < outer.size(); ++i) names += fmt::format("rt::i64 i{}, ", i);
    for (size_t i = 0; i < f.taps.size(); ++i) tap_names += fmt::format(", rt::i64 r{}", i);
    w.line(fmt::format("rt::window<{}, rt::FoldKind::{}>(call, {}, {}, {}, {}, {},", f.rows_per_tile, fold_name(f.kind),
                       extents_of(outer), extents_of(taps), constant_of(row.extent()), constant_of(column.extent()),
                       constant_of(f.taps.back().extent())));
    print_tile_lambda(w, names + "rt::i64 row, auto col" + tap_names, "},", [&] {
      for (size_t i = 0; i < f.taps.size(); ++i) bind(f.taps[i], fmt::format("r{}", i));
      bool product = f.kind == FoldKind::Sum && f.body.op() == Op::Mul;
      constexpr std::string_view joins[] = {"add", "mul", "min", "max"};
      std::string next = product ? fmt::format("rt::fma({}, {}, acc)", name(f.body.arg(0)), name(f.body.arg(1)))
                                 : fmt::format("rt::{}(acc, {})", joins[static_cast<int>(f.kind)], name(f.body));
      scopes_.back().text.line(fmt::format("return {};", next));
    });
    print_tile_lambda(w, names + "rt::i64 row, auto col", "});", [&] { print_epilogue(); });
  }
  void print_transpose(Writer& w) {
    std::span<const Expr> outer = std::span(k_.axes).first(k_.axes.size() - 2);
    std::string names;
    for (size_t i = 0; i < outer.size(); ++i) names += fmt::format("rt::i64 i{}, ", i);
    w.line(fmt::format("rt::transpose(call, {}, {}, {},", extents_of(outer),
                       constant_of(k_.axes[k_.axes.size() - 2].extent()), constant_of(k_.axes.back().extent())));
    print_tile_lambda(w, names + "rt::i64 row, rt::i64 col", "},", [&] {
      const std::string element = name(k_.window.body);
      scopes_.back().text.line(fmt::format("return {};", element));
    });
    print_tile_lambda(w, "auto acc, " + names + "rt::i64 row, rt::i64 col", "});", [&] { print_epilogue(); });
  }
  void print_epilogue() {
    scopes_.back().text.line("(void)row;");
    for (const Store& s : k_.stores) print_store(s);
  }
  /// A lambda over the outer axes, a row and a column.
  void print_tile_lambda(Writer& w, std::string_view arguments, std::string_view end, auto body) {
    std::span<const Expr> outer = std::span(k_.axes).first(k_.axes.size() - 2);
    w.open(fmt::format("             [&]({}) __attribute__((always_inline)) {{", arguments));
    push_scope(w.indent() - 1);
    push_scope(w.indent());
    for (size_t i = 0; i < outer.size(); ++i) bind(outer[i], fmt::format("i{}", i));
    bind(k_.axes[k_.axes.size() - 2], "row");
    bind(k_.axes.back(), "col");
    body();
    std::string text = pop_scope();
    w.append(pop_scope());
    w.append(text);
    w.close(end);
  }
  void print_store(const Store& s) {
    std::string offset = name(s.offset), value = name(s.value), check;
    if (!s.guard.is_const(1)) check = fmt::format("if (rt::check(call, {}{})) ", name(s.guard), listed(s.blamed));
    const bool shared = k_.form == Form::Serial && k_.owners == 0;
    scopes_.back().text.line(
        fmt::format("{}rt::store{}x{}, {}, {});", check, shared ? "_own(call, " : "(", s.operand, offset, value));
  }

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
    size_t depth = k_.form == Form::Nest || k_.form == Form::Serial ? 0 : 1;  // an epilogue is one scope
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

  /// The name of a node's value, which is written first where its home scope is.
  std::string name(Expr e) {
    if (e.op() == Op::Const) return literal(e);
    if (e.op() == Op::Var) return var_names_.at(e.var_number());
    if (e.op() == Op::Acc) return "acc";
    size_t at = home(e);
    if (auto it = scopes_[at].names.find(e); it != scopes_[at].names.end()) return it->second;
    std::string value = e.op() == Op::Fold ? print_fold(e, at) : call(e);
    std::string t = fmt::format("t{}", ++temporaries_);
    scopes_[at].text.line(fmt::format("const auto {} = {};", t, value));
    scopes_[at].names.emplace(e, t);
    return t;
  }
  /// What rt:: compares by the first lane alone, unless a later lane may have wrapped.
  std::string compared(Expr e) {
    const bool sum = e.op() == Op::Add || e.op() == Op::Sub;
    return sum && e.type() == DType::i64 && !range_of(e).known() ? fmt::format("rt::general({})", name(e)) : name(e);
  }
  std::string listed(std::span<const Expr> more) {  // behind other arguments
    std::string text;
    for (Expr e : more) text += ", " + name(e);
    return text;
  }
  std::string call(Expr e) {
    if (e.op() == Op::Load) return print_load(e);
    const bool compares = e.op() == Op::Lt || e.op() == Op::Le;
    std::string args;
    for (Expr a : e.args()) args += fmt::format("{}{}", args.empty() ? "" : ", ", compares ? compared(a) : name(a));
    if (e.op() == Op::Cast) return fmt::format("rt::cast<{}>({})", storage_type(e.type()), args);
    return fmt::format("rt::{}({})", function_name(e.op()), args);
  }
  std::string print_load(Expr e) {
    std::string offset = name(e.arg(0));
    if (e.arg(1).is_const(1)) return fmt::format("rt::load(x{}, {})", e.operand(), offset);
    std::string guard = name(e.arg(1));
    if (e.checked())
      return fmt::format("rt::load_checked(call, x{}, {}, {}{})", e.operand(), offset, guard,
                         listed(e.args().subspan(2, e.args().size() - 3)));
    return fmt::format("rt::load_or(x{}, {}, {}, {})", e.operand(), offset, guard, name(e.outside()));
  }
  std::string print_fold(Expr e, size_t at) {
    Expr v = e.arg(0);
    std::string extent = name(v.extent());
    int indent = scopes_[at].text.indent();
    push_scope(indent + 1);
    // only variables of scopes up to `at` and the fold's own are free in the body, so its text may stand there
    std::string r = fmt::format("r{}", ++folds_);
    bind(v, r);
    std::string result = name(e.arg(1));
    std::string body = pop_scope();
    const std::string_view kind = fold_name(e.fold_kind());
    std::string head = folds_in_lanes(k_, e)  ? fmt::format("rt::fold_lanes<rt::FoldKind::{}, {}>", kind, k_.fold_lanes)
                       : folds_by_team(k_, e) ? fmt::format("rt::fold_team<rt::FoldKind::{}, {}>", kind, k_.team)
                                              : fmt::format("rt::fold<rt::FoldKind::{}>", kind);
    std::string pad(static_cast<size_t>(indent) * 2, ' ');
    return fmt::format("{}({}, [&](auto {}) __attribute__((always_inline)) {{\n{}{}  return {};\n{}}})", head, extent,
                       r, body, pad, result, pad);
  }

  const Kernel& k_;
  std::vector<Scope> scopes_;
  std::unordered_map<Expr, std::set<uint64_t>, ExprHash> free_;
  std::map<uint64_t, std::string> var_names_;
  int temporaries_ = 0, folds_ = 0;
};

}  // namespace

namespace {

/// The types of what x0, x1 .. point to.
std::vector<std::string> operand_types(const Kernel& k) {
  std::set<uint32_t> written;
  for (const Store& s : k.stores) written.insert(s.operand);
  std::vector<std::string> types;
  for (uint32_t i = 0; i < k.operands.size(); ++i)
    types.push_back(
        fmt::format("{}{}", written.count(i) || k.form == Form::Opaque ? "" : "const ", storage_type(k.operands[i])));
  return types;
}

/// As a comment: which value an operand is.
std::string held_by(const Kernel& k, size_t operand) {
  return operand < k.held.size() ? "  // " + comment_safe(k.held[operand]) : "";
}

void open_cpu_function(Writer& w, const Kernel& k) {
  w.open(fmt::format("{}static void {}(const rt::RowCall& call) {{", k.small ? "RT_SMALL " : "", k.symbol));
  std::vector<std::string> types = operand_types(k);
  for (size_t i = 0; i < types.size(); ++i)
    w.line(fmt::format("auto* const x{} = rt::address<{}>(call, {});{}", i, types[i], i, held_by(k, i)));
}

void open_gpu_function(Writer& w, const Kernel& k) {
  std::string parameters;
  for (const std::string& type : operand_types(k))
    parameters += fmt::format("{}* const x{}, ", type, std::ranges::count(parameters, ','));
  w.open(fmt::format("RT_KERNEL {}({}rt::Fault* const fault) {{", k.symbol, parameters));
  for (size_t i = 0; i < k.held.size(); ++i) w.line(fmt::format("// x{}: {}", i, comment_safe(k.held[i])));
  w.line("const rt::Call call = rt::block_call(fault);");
  for (size_t i = 0; i < k.aligned.size(); ++i)
    if (k.lanes > 1 && k.aligned[i]) w.line(fmt::format("rt::assume_aligned(x{});", i));
}

}  // namespace

void print_kernel(Writer& w, const Kernel& k, const Sources& sources, Frame frame) {
  std::string from;
  for (uint32_t o : k.origin)
    if (o < sources.size() && from.size() < 400)
      from += (from.empty() ? "   <- " : ", ") +
              comment_safe(sources[o].name.empty() ? sources[o].output : sources[o].name);
  w.line(fmt::format("// {}: {}{}", k.symbol, k.title, from));
  frame == Frame::Cpu ? open_cpu_function(w, k) : open_gpu_function(w, k);
  Printer(k).print(w);
  w.close("}");
}

namespace {
/// What the template arguments of a family are, as a comment.
std::string_view legend_of(std::string_view family) {
  if (family == "nest") return "  // nest<W>: W points of the last axis at once";
  if (family == "contract")
    return "  // contract<R, V, S>: a tile of R rows by V vectors of 16 columns; S: its sums stay in registers";
  if (family == "window") return "  // window<R, FOLD>: a tile of R rows";
  return "";
}
}  // namespace

std::string kernel_includes(const std::vector<Kernel>& kernels) {
  std::set<std::string> families{"nest"};
  for (const Kernel& k : kernels) {
    if (k.form == Form::Opaque) families.insert(k.opaque);
    if (k.form == Form::Contract) families.insert("contract");
    if (k.form == Form::Window) families.insert("window");
    if (k.form == Form::Transpose) families.insert("transpose");
  }
  std::string s;
  for (auto& f : families) s += fmt::format("#include \"runtime/kernels/{}.h\"{}\n", f, legend_of(f));
  return s + "// The operands x0, x1 .. are named as in the first step that a kernel computes.\n";
}

}  // namespace cameo
