// See kernel_table.h.
#include "optimizer/plan/kernel_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "optimizer/choose/family.h"

namespace cameo {
namespace {

/// What of a kernel its text leaves out.
struct Without {
  bool numbers = false, names_of_sizes = false, sizes = false;
};
/// Sizes that only a run knows, as they appear in a text: with their bounds, whatever they are called.
class NumberedSizes {
 public:
  std::string text(Expr symbol) {
    const size_t number = numbers_.try_emplace(symbol.bits(), numbers_.size()).first->second;
    return fmt::format("{}={}{}", number, range_text(range_of(symbol)), is_open(symbol) ? " open" : "");
  }

 private:
  std::map<uint64_t, size_t> numbers_;
};

bool is_run_time_size(Expr e) { return is_symbolic(e) && is_size(e) && e.type() == DType::i64; }
/// The nodes of a kernel, arguments first; without_sizes: none of which a size is made that only a run knows.
std::vector<Expr> nodes_of(const Kernel& k, bool without_sizes) {
  std::vector<Expr> all;
  const std::vector<Expr> roots = expressions_of(k);
  visit(roots, [&](Expr e) { all.push_back(e); });
  if (!without_sizes) return all;
  std::set<uint32_t> wanted;
  for (Expr root : roots) wanted.insert(root.id());
  for (auto e = all.rbegin(); e != all.rend(); ++e)
    if (wanted.contains(e->id()) && !is_run_time_size(*e))
      for (Expr a : e->args()) wanted.insert(a.id());
  std::erase_if(all, [&](Expr e) { return !wanted.contains(e.id()); });
  return all;
}

/// A canonical text of a kernel: variables and nodes numbered in order of appearance.
std::string text_of(const Kernel& k, Without without) {
  std::string s = fmt::format("{} {} {}|", k.choice.text(), k.on_host, k.optimize_for_size);
  if (k.family) s += fmt::format("{} {}|", k.family->name(), k.family->text(k));
  for (size_t i = 0; i < k.operands.size(); ++i)
    s += fmt::format("{}{},", name(k.operands[i]), k.is_in_scratch(i) ? " in scratch" : "");
  std::map<uint64_t, size_t> vars;
  NumberedSizes sizes;
  std::map<uint32_t, size_t> nodes;
  for (Expr e : nodes_of(k, without.sizes)) {
    if (without.sizes && is_run_time_size(e)) {
      s += fmt::format(";size {}", nodes.size());
      nodes.emplace(e.id(), nodes.size());
      continue;
    }
    const bool hidden = without.numbers && e.is_const() && (e.type() == DType::f32 || e.type() == DType::f64);
    uint64_t bits = e.op() == Op::Var ? vars.try_emplace(e.var_number(), vars.size()).first->second
                    : hidden          ? 0
                                      : e.bits();
    s += fmt::format(";{}:{}:", static_cast<int>(e.op()), static_cast<int>(e.type()));
    s += e.op() == Op::Symbol && without.names_of_sizes ? sizes.text(e) : fmt::format("{:x}", bits);
    for (Expr a : e.args()) s += fmt::format(" {}", nodes.at(a.id()));
    nodes.emplace(e.id(), nodes.size());
  }
  for (const Store& st : k.stores) {
    s += fmt::format("|{} {} {} {}", st.operand, nodes.at(st.offset.id()), nodes.at(st.guard.id()),
                     nodes.at(st.value.id()));
    for (Expr e : st.blamed) s += fmt::format(" {}", nodes.at(e.id()));
  }
  for (Expr a : k.axes) s += fmt::format("|{}", nodes.at(a.id()));
  if (k.accumulated) s += fmt::format("|{}", nodes.at(k.accumulated.id()));
  return s;
}

}  // namespace

std::string kernel_text(const Kernel& k) { return text_of(k, {}); }
std::string shape_text(const Kernel& k) { return text_of(k, {.numbers = true, .sizes = true}); }
std::string problem_text(const Kernel& k) { return text_of(k, {.names_of_sizes = true}); }

bool has_sizes(const Kernel& k) { return std::ranges::any_of(nodes_of(k, true), is_run_time_size); }
bool has_sizes_of_floats(const Kernel& k) {
  bool found = false;
  for (Expr e : nodes_of(k, true))
    if (is_run_time_size(e)) visit(std::vector{e}, [&](Expr part) { found |= is_float(part.type()); });
  return found;
}

std::string symbol_of(size_t number, std::string_view title) {
  std::string s = fmt::format("k{:03}_", number);
  for (char ch : title.substr(0, 48)) {
    if (ch == ' ') continue;
    const auto byte = static_cast<unsigned char>(ch);
    s += byte < 0x80 && std::isalnum(byte) ? static_cast<char>(std::tolower(byte))
                                           : '_';  // custom operators have any name
  }
  return s;
}

void add_origins(Kernel& k, const Kernel& equal) {
  k.provenance = merge(k.provenance, equal.provenance);
  for (const std::string& problem : equal.problems)
    if (std::ranges::find(k.problems, problem) == k.problems.end()) k.problems.push_back(problem);
}

KernelTable::KernelTable(std::vector<Kernel>& kernels) : kernels_(kernels) {
  for (uint32_t k = 0; k < kernels.size(); ++k) numbers_.emplace(kernel_text(kernels[k]), k);
}

uint32_t KernelTable::intern(Kernel k) {
  auto [it, fresh] = numbers_.try_emplace(kernel_text(k), static_cast<uint32_t>(kernels_.size()));
  if (fresh) {
    k.symbol = symbol_of(kernels_.size(), k.title);
    kernels_.push_back(std::move(k));
  } else {
    add_origins(kernels_[it->second], k);
  }
  return it->second;
}

void drop_unused_kernels(Plan& plan) {
  std::vector<bool> used(plan.kernels.size());
  for (const Step& s : plan.steps)
    if (s.kind == StepKind::Kernel) used[s.kernel] = true;
  std::vector<Kernel> kept;
  std::vector<uint32_t> number(plan.kernels.size());
  for (uint32_t k = 0; k < plan.kernels.size(); ++k) {
    if (!used[k]) continue;
    number[k] = static_cast<uint32_t>(kept.size());
    kept.push_back(std::move(plan.kernels[k]));
  }
  for (Step& s : plan.steps)
    if (s.kind == StepKind::Kernel) s.kernel = number[s.kernel];
  plan.kernels = std::move(kept);
}

}  // namespace cameo
