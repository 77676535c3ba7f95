// See generate.h.
#include "tests/random/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <set>

#include "tests/random/makers.h"
#include "tests/support/tensor_text.h"

namespace cameo::random {
namespace {

/// Names that a line reads: what stands between its parentheses, behind `output`, and of bodies what they capture.
std::set<std::string> names_in(const Lines& lines) {
  static const std::regex kName("[A-Za-z_][A-Za-z_0-9]*");
  std::set<std::string> names;
  for (const std::string& line : lines) {
    if (line.starts_with("input ") || line.starts_with("const ")) continue;
    std::string text =
        line.starts_with("output ") ? line.substr(7) : line.substr(std::min(line.find('('), line.size()));
    for (std::sregex_iterator it(text.begin(), text.end(), kName), end; it != end; ++it) names.insert(it->str());
  }
  return names;
}
std::string name_of(const std::string& leaf) {
  std::string rest = leaf;
  test::take_word(rest);
  return test::take_word(rest);
}
bool is_leaf(const std::string& line) { return line.starts_with("input ") || line.starts_with("const "); }

/// Leaves that were tried in vain go; those of bodies are wanted by position.
Lines without_unused(const Lines& lines) {
  std::set<std::string> used = names_in(lines);
  Lines kept;
  int depth = 0;
  for (const std::string& line : lines) {
    if (line.starts_with("body ")) ++depth;
    if (line == "end") --depth;
    if (!is_leaf(line) || (depth && line.starts_with("input ")) || used.contains(name_of(line))) kept.push_back(line);
  }
  return kept;
}

}  // namespace

Lines generate(uint64_t seed, const std::string& prefix, int* refused) {
  Random random(seed);
  Draft d(random, prefix);
  int64_t nodes = random.in(2, 10);
  for (int64_t n = random.in(1, 3); n > 0; --n) d.leaf(d.dtype(kNumbers | kBool), d.dims());
  for (int64_t tries = 0; nodes > 0 && tries < 60; ++tries) nodes -= grow(d, true);
  std::set<std::string> used = names_in(d.lines);
  std::vector<Local> outputs = d.needed;
  for (const Local& v : d.values) {
    bool there = std::ranges::find(outputs, v.name, &Local::name) != outputs.end();
    if (!there && (!used.contains(v.name) || random.percent(15))) outputs.push_back(v);
  }
  d.output(outputs);
  if (refused) *refused += d.refused;
  return without_unused(d.lines);
}

Lines reseeded(const Lines& lines, uint64_t by) {
  static const std::regex kSeeded("^(input .* = (?:edge|rand|randint):)([0-9]+)(.*)$");
  Lines out;
  std::smatch m;
  for (const std::string& line : lines)
    out.push_back(std::regex_match(line, m, kSeeded)
                      ? fmt::format("{}{}{}", m[1].str(), std::stoull(m[2]) + by, m[3].str())
                      : line);
  return out;
}

Lines read_case(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error(fmt::format("{}: cannot be read", file.string()));
  Lines lines;
  for (std::string line; std::getline(in, line);)
    if (std::string text = test::without_comment(line); !text.empty()) lines.push_back(text);
  return lines;
}

std::string text_of(const Lines& lines) {
  std::string s;
  for (const std::string& line : lines) s += line + "\n";
  return s;
}

}  // namespace cameo::random
