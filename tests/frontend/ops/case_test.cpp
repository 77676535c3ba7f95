// The first column of the matrix: every operator case through the interpreter; and every operator has a case file.
#include "tests/support/case.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "frontend/reference/interpret.h"
#include "tests/support/tensor_text.h"

namespace cameo::test {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(CAMEO_SOURCE_DIR) / "tests/ops";

void run_case(const Case& c) {
  std::optional<Diagnostic> error = c.error;
  Interpretation result;
  if (c.graph) {
    try {
      result = interpret(*c.graph, c.inputs);
    } catch (const CompileError& e) { error = e.diagnostic; }
  }
  EXPECT_EQ(mismatch(c, error), "");
  if (error) return;
  for (size_t i = 0; i < c.outputs.size(); ++i) EXPECT_EQ(mismatch(c.outputs[i], result.rounded[i], c.ulp), "");
}

class InterpretCase : public testing::TestWithParam<std::filesystem::path> {};
TEST_P(InterpretCase, Runs) {
  std::vector<Case> cases = load_case_file(GetParam());
  EXPECT_FALSE(cases.empty());
  std::set<std::string> names;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.where + " " + c.name);
    EXPECT_TRUE(names.insert(c.name).second) << "the name stands twice";
    run_case(c);
  }
}
INSTANTIATE_TEST_SUITE_P(Ops, InterpretCase, testing::ValuesIn(case_files(kFolder)),
                         [](const auto& info) { return operator_of(info.param); });

/// LeakyRelu -> leaky_relu, as the operator's own file is named (in the folder of its domain).
std::string snake_name(std::string_view name) {
  std::string s;
  for (size_t i = 0; i < name.size(); ++i) {
    bool upper = std::isupper(static_cast<unsigned char>(name[i]));
    bool after_lower = i && !std::isupper(static_cast<unsigned char>(name[i - 1]));
    bool before_lower = i + 1 < name.size() && std::islower(static_cast<unsigned char>(name[i + 1]));
    if (upper && i && (after_lower || before_lower) && s.back() != '_') s += '_';
    s += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return s;
}

TEST(CaseCoverage, EveryOperatorHasACase) {
  std::set<std::string> tested;
  for (const Case& c : load_cases(kFolder)) tested.insert(std::string(c.op->domain) + "::" + std::string(c.op->name));
  // their bodies are graphs, which a case does not write: interpret_test.cpp and the importer's tests hold theirs
  const std::set<std::string_view> graphs{"If", "Loop", "Scan", "SequenceMap"};
  for (const Operator& op : all_operators())
    if (!graphs.contains(op.name) && !tested.contains(std::string(op.domain) + "::" + std::string(op.name)))
      ADD_FAILURE() << "`" << op.name << "` has no case: write tests/ops/" << snake_name(op.name) << ".case";
}

TEST(CaseFormat, ReadsTensors) {
  EXPECT_EQ(parse_tensor("f32[2x2] = 1 -2.5 nan inf").get(1), -2.5);
  EXPECT_EQ(parse_tensor("u64[1] = 18446744073709551615").get_int(0), -1);
  EXPECT_EQ(parse_tensor("i32[2x3] = iota").get_int(5), 5);
  EXPECT_EQ(parse_tensor("f32[] = 3").rank(), 0);
  EXPECT_EQ(parse_tensor("i64[0x3] =").size(), 0);
  EXPECT_EQ(parse_tensor("b1[2] = true false").get_int(0), 1);
  EXPECT_EQ(parse_tensor("str[2] = \"a b\" \"c\"").strings()[0], "a b");
  Tensor r = parse_tensor("f32[1000] = randint:3:-2:2"), s = parse_tensor("f32[1000] = randint:3:-2:2");
  EXPECT_EQ(r, s);
  for (int64_t i = 0; i < r.size(); ++i)
    ASSERT_TRUE(r.get(i) >= -2 && r.get(i) <= 2 && r.get(i) == std::trunc(r.get(i)));
  EXPECT_THROW(parse_tensor("f32[2] = 1 2 3"), std::runtime_error);
  EXPECT_THROW(parse_tensor("f31[2] = 1 2"), std::runtime_error);
  EXPECT_THROW(parse_tensor("i32[1] = 1.5"), std::runtime_error);
}

}  // namespace
}  // namespace cameo::test
