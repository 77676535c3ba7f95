// See lock.h.
#include "optimizer/choose/lock.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "optimizer/choose/claim.h"
#include "optimizer/choose/family.h"
#include "optimizer/plan/kernel_table.h"

namespace cameo {
namespace {

constexpr std::string_view kMachine = "machine model";  // in place of a problem

/// FNV-1a, 64 bits (Fowler, Noll, Vo).
uint64_t hash_of(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char c : text) hash = (hash ^ c) * 0x100000001b3;
  return hash;
}

std::string row_text(std::string_view target, std::string_view problem, std::string_view family,
                     std::string_view choice) {
  return fmt::format("{} {} {}{}{}\n", target, problem, family, choice.empty() ? "" : " ", choice);
}

std::string text_of(const Attr& attribute) {
  return std::visit(
      []<class T>(const T& a) -> std::string {
        if constexpr (std::is_same_v<T, Constant>)
          return fmt::format("{:016x}", hash_of({reinterpret_cast<const char*>(a->bytes().data()), a->bytes().size()}));
        else if constexpr (std::is_same_v<T, std::shared_ptr<const Type>>)
          return to_string(*a);
        else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>)
          return fmt::format("{}", a);
        else
          return fmt::format("[{}]", fmt::join(a, ","));
      },
      attribute);
}

/// 64x1..8, without blanks; 1 where there are none.
std::string extents_text(const Shape& shape) {
  std::string s;
  for (const Dim& d : shape)
    s += (s.empty() ? "" : "x") + (d.is_static() ? to_string(d) : range_text({range_of(d.extent()).low, d.upper()}));
  return s.empty() ? "1" : s;
}

/// What a line says; no target where that is nothing.
struct Line {
  std::string target, problem;
  ChoiceLock::Row row;
};
/// Null where a line is no row.
std::optional<Line> read_line(const std::string& text) {
  std::istringstream words(text.substr(0, text.find('#')));
  Line line;
  std::string axes, word;
  if (!(words >> line.target)) return line;
  if (!(words >> line.problem >> axes >> line.row.family)) return std::nullopt;
  line.problem += " " + axes;
  while (words >> word) line.row.choice += (line.row.choice.empty() ? "" : " ") + word;
  return line;
}

}  // namespace

ChoiceLock::ChoiceLock(std::string_view text) {
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string text_of_line; std::getline(lines, text_of_line);) {
    ++number;
    const std::optional<Line> line = read_line(text_of_line);
    if (!line)
      throw CompileError(Code::E0503,
                         fmt::format("line {} of the lock is no `TARGET PROBLEM AXES FAMILY CHOICE`", number));
    if (line->target.empty()) continue;
    const auto [it, fresh] = rows_.try_emplace({line->target, line->problem}, line->row);
    if (!fresh && it->second != line->row)
      throw CompileError(Code::E0503, fmt::format("line {} of the lock contradicts one before it", number));
  }
}

void ChoiceLock::set(const std::string& target, const std::string& problem, Row row) {
  rows_[{target, problem}] = std::move(row);
}

const ChoiceLock::Row* ChoiceLock::find(const std::string& target, const std::string& problem) const {
  const auto it = rows_.find({target, problem});
  return it == rows_.end() ? nullptr : &it->second;
}

size_t ChoiceLock::rows_for(const std::string& target) const {
  return static_cast<size_t>(std::ranges::count_if(rows_, [&](const auto& row) { return row.first.first == target; }));
}

std::set<std::string> ChoiceLock::targets() const {
  std::set<std::string> all;
  for (const auto& [key, row] : rows_) all.insert(key.first);
  return all;
}

std::string ChoiceLock::text() const {
  std::string s;
  for (const auto& [key, row] : rows_) s += row_text(key.first, key.second, row.family, row.choice);
  return s;
}

void take_lock(Target& target, std::shared_ptr<const ChoiceLock> lock) {
  if (const ChoiceLock::Row* row = lock->find(target.name, std::string(kMachine))) {
    const auto machine = find_machine(row->family, target);
    if (!machine)
      throw CompileError(Code::E0503, fmt::format("the lock was made for a machine `{}`, which this cameo has no model "
                                                  "of",
                                                  printable(row->family)));
    target.machine = *machine;
  }
  target.lock = std::move(lock);
}

CompileError no_way(const std::string& problem, const ChoiceLock::Row& row) {
  return {Code::E0503, fmt::format("the lock wants problem {} computed by `{} {}`, which is no way to do it", problem,
                                   printable(row.family), printable(row.choice))};
}

std::string problem_of(const Kernel& nest, std::string_view ways) {
  Shape axes;
  for (Expr axis : nest.axes) axes.emplace_back(axis.extent());
  return fmt::format("{:016x} {}", hash_of(problem_text(nest) + std::string(ways)), extents_text(axes));
}

std::string problem_of(const Graph& alone) {
  const Node& n = alone.nodes()[0];
  std::string text = fmt::format("{} {}", n.op->name, n.version);
  for (const auto& [name, attribute] : n.attrs)
    if (name != kClaimedBy) text += fmt::format(" {}={}", name, text_of(attribute));
  for (const auto* list : {&n.inputs, &n.outputs})
    for (ValueId v : *list)
      text += v ? fmt::format(" {}{}", to_string(alone.type(v)), alone[v].constant ? "!" : "") : " -";
  return fmt::format("{:016x} {}", hash_of(text), extents_text(alone.type(n.outputs[0]).shape));
}

std::string problem_of(std::span<const Kernel* const> chain) {
  std::string text;
  Shape axes;
  for (const Kernel* k : chain) {
    text += (k->problems.empty() ? problem_of(*k, "") : k->problems[0]) + ";";
    axes.emplace_back(k->axes[0].extent());
  }
  return fmt::format("{:016x} {}", hash_of(text), extents_text(axes));
}

std::string choices_text(const Plan& plan) {
  std::set<std::string> rows;
  if (!plan.target.is_gpu()) rows.insert(row_text(plan.target.name, kMachine, plan.target.machine.name, ""));
  for (const Kernel& k : plan.kernels)
    for (const std::string& problem : k.problems)
      rows.insert(row_text(plan.target.name, problem, k.family->name(), k.choice.text()));
  for (const Claim& c : plan.claims)
    rows.insert(row_text(plan.target.name, c.problem, name_of_family(c.won), c.won.choice.text()));
  std::string s;
  for (const std::string& row : rows) s += row;
  return s;
}

std::string problem_of_row(const std::string& row) {
  const std::optional<Line> line = read_line(row);
  return line ? line->problem : "";
}

std::string with_rows(std::string_view text, std::string_view rows) {
  std::map<std::pair<std::string, std::string>, std::string> left;
  std::vector<std::pair<std::string, std::string>> order;
  std::istringstream added{std::string(rows)};
  for (std::string row; std::getline(added, row);)
    if (const auto line = read_line(row)) left[order.emplace_back(line->target, line->problem)] = row;
  const auto fresh = left;
  std::string merged;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const auto read = read_line(line);
    const auto key = read ? std::pair(read->target, read->problem) : std::pair<std::string, std::string>();
    const auto other = left.extract(key);
    if (other) merged += other.mapped() + "\n";
    if (!fresh.contains(key)) merged += line + "\n";
  }
  for (const auto& key : order)
    if (const auto row = left.extract(key)) merged += row.mapped() + "\n";
  return merged;
}

size_t unused_rows(const Plan& plan) {
  if (!plan.target.lock) return 0;
  std::set<std::string> used;
  if (plan.target.lock->find(plan.target.name, std::string(kMachine))) used.emplace(kMachine);
  for (const Kernel& k : plan.kernels)
    for (const std::string& problem : k.problems)
      if (plan.target.lock->find(plan.target.name, problem)) used.insert(problem);
  for (const Claim& c : plan.claims)
    if (plan.target.lock->find(plan.target.name, c.problem)) used.insert(c.problem);
  return plan.target.lock->rows_for(plan.target.name) - used.size();
}

}  // namespace cameo
