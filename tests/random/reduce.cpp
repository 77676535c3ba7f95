// Smaller models with the same fault: fewer outputs, lines that nothing needs dropped, and nodes that become inputs
// with the values that they had.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "frontend/reference/interpret.h"
#include "tests/random/generate.h"
#include "tests/support/graph_text.h"
#include "tests/support/tensor_text.h"

namespace cameo::random {
namespace {

using Fails = std::function<bool(const Lines&)>;
constexpr int64_t kWritten = 40;  // values of an input that stands for a node

/// A line, or a node with the bodies before it.
struct Unit {
  Lines lines;
  const std::string& last() const { return lines.back(); }
};
std::vector<Unit> units_of(const Lines& lines) {
  std::vector<Unit> units;
  int depth = 0;
  bool open = false;  // a body, and the node that has it
  for (const std::string& line : lines) {
    if (!open) units.push_back({});
    units.back().lines.push_back(line);
    if (line.starts_with("body ")) ++depth;
    if (line == "end") --depth;
    open = depth > 0 || line == "end";
  }
  return units;
}
Lines joined(const std::vector<Unit>& units) {
  Lines lines;
  for (const Unit& u : units) lines.insert(lines.end(), u.lines.begin(), u.lines.end());
  return lines;
}
bool is_node(const Unit& u) {
  return !u.last().starts_with("input ") && !u.last().starts_with("const ") && !u.last().starts_with("output ");
}
std::vector<std::string> results_of(const std::string& line) {
  std::vector<std::string> names = test::split_values(line.substr(0, line.find(" = ")));
  for (std::string& name : names) name = name.substr(0, name.find(','));
  return names;
}

std::string values_of(const Tensor& t) {
  std::string s;
  for (int64_t i = 0; i < t.size(); ++i) {
    std::string word = t.dtype() == DType::u64 ? fmt::format("{}", static_cast<uint64_t>(t.get_int(i)))
                       : is_float(t.dtype())   ? fmt::format("{}", t.get(i))
                                               : fmt::format("{}", t.get_int(i));
    s += (s.empty() ? "" : " ") + word;
  }
  return s.empty() ? "zeros" : s;
}

/// Lines of inputs that stand for a node's results.
Lines as_inputs(const std::vector<Unit>& units, size_t at) {
  Lines upto, replaced;
  for (size_t i = 0; i <= at; ++i)
    if (!units[i].last().starts_with("output ")) upto.insert(upto.end(), units[i].lines.begin(), units[i].lines.end());
  std::vector<std::string> names = results_of(units[at].last());
  for (const std::string& name : names) upto.push_back("output " + name);
  test::ModelText model = test::parse_model(upto);
  Interpretation all = interpret(model.graph, model.inputs);
  for (size_t k = 0; k < names.size(); ++k) {
    if (all.rounded[k].size() > kWritten) throw std::runtime_error("too many values to write them");
    replaced.push_back(fmt::format("input {} {}[{}] = {}", names[k], name(all.rounded[k].dtype()),
                                   fmt::join(all.rounded[k].dims(), "x"), values_of(all.rounded[k])));
  }
  return replaced;
}

bool try_lines(Lines& lines, const Lines& fewer, const Fails& fails) {
  if (!fails(fewer)) return false;
  lines = fewer;
  return true;
}

/// One value as the only output, the earliest that shows the fault.
void reduce_outputs(Lines& lines, const Fails& fails) {
  std::vector<Unit> units = units_of(lines);
  Lines without;
  for (const Unit& u : units)
    if (!u.last().starts_with("output ")) without.insert(without.end(), u.lines.begin(), u.lines.end());
  for (const Unit& u : units)
    if (is_node(u))
      for (const std::string& name : results_of(u.last())) {
        Lines one = without;
        one.push_back("output " + name);
        if (try_lines(lines, one, fails)) return;
      }
}

bool drop_lines(Lines& lines, const Fails& fails) {
  bool any = false;
  std::vector<Unit> units = units_of(lines);
  for (size_t i = units.size(); i-- > 0;) {
    std::vector<Unit> fewer = units;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (try_lines(lines, joined(fewer), fails)) units = fewer, any = true;
  }
  for (size_t i = lines.size(); i-- > 0;) {  // those of bodies
    Lines fewer = lines;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    any |= try_lines(lines, fewer, fails);
  }
  return any;
}

bool cut_nodes(Lines& lines, const Fails& fails) {
  bool any = false;
  std::vector<Unit> units = units_of(lines);
  for (size_t i = 0; i < units.size(); ++i) {
    if (!is_node(units[i])) continue;
    std::vector<Unit> cut = units;
    try {
      cut[i].lines = as_inputs(units, i);
    } catch (const std::exception&) { continue; }
    if (!try_lines(lines, joined(cut), fails)) continue;
    any = true;
    units = units_of(lines);
  }
  return any;
}

}  // namespace

Lines reduced(Lines lines, const Fails& fails) {
  reduce_outputs(lines, fails);
  for (int round = 0; round < 4; ++round) {
    bool any = drop_lines(lines, fails);
    any |= cut_nodes(lines, fails);
    if (!any) break;
  }
  return lines;
}

}  // namespace cameo::random
