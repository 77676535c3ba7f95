// Every operator case over sizes that only a run knows: one plan, whose sizes are then bound, computes what the
// interpreter does with those sizes. What needs a number when compiling stands in needs_numbers.tsv, a row a reason.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>

#include "tests/support/case.h"
#include "tests/support/child.h"
#include "tests/support/road.h"
#include "tests/support/sizes.h"

namespace cameo::test {
namespace {

constexpr std::string_view kRefused = "refused: ";  // what a case says that needs a number

std::string without_values(const std::string& message) {
  static const std::regex kValues("N?-?[0-9]+(xN?[0-9]+)*");
  return std::regex_replace(message, kValues, "_");
}

std::string check(const Case& c, const std::set<int64_t>& extents) {
  try {
    return check_extents(*c.graph, c.inputs, extents, *find_target("x86-64-v3"));
  } catch (const CompileError& e) {
    const Code code = e.diagnostic.code;
    if ((c.fail && code == *c.fail) || may_be_refused(*c.graph, code)) return "";  // whatever its extents are
    if (code != Code::E0404) return "failed: " + to_string(e.diagnostic);
    return std::string(kRefused) + without_values(e.diagnostic.message);
  }
}

using Rows = std::set<std::string>;
Rows rows_of(const std::string& stem) {
  std::ifstream in(CAMEO_SOURCE_DIR "/tests/optimizer/plan/needs_numbers.tsv");
  Rows rows;
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(stem + "\t")) rows.insert(line);
  return rows;
}

class SizesOf : public testing::TestWithParam<std::filesystem::path> {};
TEST_P(SizesOf, Inputs) {
  const std::string stem = operator_of(GetParam());
  Rows refused;
  for (const Case& c : load_case_file(GetParam())) {
    if (!c.graph) continue;
    for (const std::set<int64_t>& extents : choices_of_extents(c.inputs)) {
      const std::string what = in_child([&] { return check(c, extents); });
      if (what.starts_with(kRefused))
        refused.insert(fmt::format("{}\t{}", stem, what.substr(kRefused.size())));
      else
        EXPECT_EQ(what, "") << c.where << " " << c.name;
    }
  }
  EXPECT_EQ(refused, rows_of(stem));
}
INSTANTIATE_TEST_SUITE_P(Ops, SizesOf,
                         testing::ValuesIn(case_files(std::filesystem::path(CAMEO_SOURCE_DIR) / "tests/ops")),
                         [](const auto& info) { return operator_of(info.param); });

}  // namespace
}  // namespace cameo::test
