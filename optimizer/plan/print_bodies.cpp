// The bodies of kernels as text, for `--emit=bodies`: what each stores, by names of its own. i0, i1 .. are the kernel's
// axes, j0, j1 .. the variables of its folds, x0, x1 .. its operands; what stands in several places is a t of its own.
#include <fmt/format.h>

#include <map>
#include <unordered_map>

#include "optimizer/choose/family.h"

namespace cameo {
namespace {

std::string_view infix_of(Op op) {
  switch (op) {
    case Op::Add: return " + ";
    case Op::Sub: return " - ";
    case Op::Mul: return " * ";
    case Op::Div: return " / ";
    case Op::Eq: return " == ";
    case Op::Ne: return " != ";
    case Op::Lt: return " < ";
    case Op::Le: return " <= ";
    case Op::And: return " && ";
    case Op::Or: return " || ";
    default: return "";
  }
}

class BodyPrinter {
 public:
  explicit BodyPrinter(const Kernel& k) : k_(k) {
    for (Expr axis : k.axes) variables_.try_emplace(axis.var_number(), fmt::format("i{}", variables_.size()));
    count_uses();
  }
  std::string print() {
    if (!k_.axes.empty()) {
      std::string axes;
      for (Expr axis : k_.axes) axes += (axes.empty() ? "" : ", ") + bound(axis);
      line("for " + axes);
    }
    if (k_.accumulated) line("acc = " + bare(name(k_.accumulated)));
    for (const Store& s : k_.stores) {
      const std::string guard = s.guard.is_const(1) ? "" : fmt::format(" if {}", name(s.guard));
      const std::string to = fmt::format("x{}[{}]", s.operand, bare(name(s.offset)));
      line(fmt::format("{} = {}{}", to, bare(name(s.value)), guard));
    }
    return std::move(text_);
  }

 private:
  void line(const std::string& text) { text_ += "    " + text + "\n"; }
  /// Without the brackets around all of it.
  static std::string bare(const std::string& text) {
    int depth = 0;
    for (size_t i = 0; i + 1 < text.size(); ++i) {
      depth += (text[i] == '(') - (text[i] == ')');
      if (depth == 0) return text;
    }
    return text.size() < 2 ? text : text.substr(1, text.size() - 2);
  }
  static bool is_leaf(Expr e) { return e.args().empty() || e.op() == Op::Var; }

  void count_uses() {
    std::vector<Expr> roots;
    for (const Store& s : k_.stores) roots.insert(roots.end(), {s.offset, s.guard, s.value});
    if (k_.accumulated) roots.push_back(k_.accumulated);
    visit(roots, [&](Expr e) {
      for (Expr a : e.args()) ++uses_[a];
    });
    for (Expr root : roots) ++uses_[root];
  }

  std::string bound(Expr variable) { return fmt::format("{} < {}", name(variable), name(variable.extent())); }
  /// What several places use gets a line before that of the first one.
  std::string name(Expr e) {
    if (is_leaf(e) || uses_[e] < 2) return text_of(e);
    if (const auto it = names_.find(e); it != names_.end()) return it->second;
    const std::string value = text_of(e), t = fmt::format("t{}", names_.size());
    line(fmt::format("{} = {}", t, bare(value)));
    return names_[e] = t;
  }
  std::string list(std::span<const Expr> args) {
    std::string text;
    for (Expr a : args) text += (text.empty() ? "" : ", ") + bare(name(a));
    return text;
  }
  std::string text_of(Expr e) {
    switch (e.op()) {
      case Op::Var: return variables_.at(e.var_number());
      case Op::Acc: return "acc";
      case Op::Read: {
        const std::string element = fmt::format("x{}[{}]", e.operand(), bare(name(e.offset())));
        if (e.guard().is_const(1)) return element;
        return fmt::format("({} ? {} : {})", name(e.guard()), element, e.checked() ? "error" : name(e.outside()));
      }
      case Op::Fold: {
        variables_.try_emplace(e.arg(0).var_number(), fmt::format("j{}", variables_.size() - k_.axes.size()));
        const std::string range = bound(e.arg(0));
        return fmt::format("{}({}: {})", cameo::name(e.fold_kind()), range, bare(name(e.arg(1))));
      }
      case Op::Select: return fmt::format("({} ? {} : {})", name(e.arg(0)), name(e.arg(1)), name(e.arg(2)));
      case Op::Cast: return fmt::format("{}({})", cameo::name(e.type()), bare(name(e.arg(0))));
      case Op::Const: return to_string(e);
      default: break;
    }
    if (const std::string_view infix = infix_of(e.op()); !infix.empty())
      return fmt::format("({}{}{})", name(e.arg(0)), infix, name(e.arg(1)));
    return fmt::format("{}({})", function_name(e.op()), list(e.args()));
  }

  const Kernel& k_;
  std::string text_;
  std::map<uint64_t, std::string> variables_;  // by number
  std::unordered_map<Expr, int, ExprHash> uses_;
  std::unordered_map<Expr, std::string, ExprHash> names_;
};

}  // namespace

std::string body_text(const Kernel& k) {
  if (k.node) return fmt::format("    a function of its own computes {}\n", k.title);
  return BodyPrinter(k).print();
}

}  // namespace cameo
