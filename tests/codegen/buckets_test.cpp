// Plans of single sizes in an artifact's tables: a schedule each, over one array of kernels.
#include <gtest/gtest.h>

#include "codegen/print_module.h"
#include "codegen/size_table.h"
#include "frontend/ir/operator.h"
#include "tests/support/road.h"

namespace cameo::test {
namespace {

/// y = relu(x[rows, columns, 3]) flattened, with a plan for `sizes`.
Module module_with(const std::vector<DimBinding>& buckets, const std::vector<std::string>& targets) {
  Graph g;
  const ValueId x =
      g.add_input("x", Type(DType::f32, {Dim(symbol("rows", {1, 8})), Dim(symbol("columns", {1, 16})), 3}));
  const ValueId y = g.add(get_operator("Relu"), {x})[0];
  g.add_output("y", g.add(get_operator("Flatten"), {y})[0]);
  Module m = plan_graph(g, "model", *find_target(targets[0]));
  for (size_t t = 1; t < targets.size(); ++t)
    m.plans.push_back(plan_graph(g, "model", *find_target(targets[t])).plans[0]);
  for (Plan& plan : m.plans)
    for (const DimBinding& sizes : buckets)
      add_bucket(plan, plan_graph(bind_dims(g, sizes), "model", plan.target).plans[0], sizes);
  return m;
}

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}
testing::AssertionResult has(const std::string& text, const std::string& part) {
  if (count(text, part)) return testing::AssertionSuccess();
  return testing::AssertionFailure() << part << " is not in\n" << text;
}

TEST(PrintedBuckets, AreListedWithTheirSchedules) {
  const EmittedModule e = print_module(module_with({{{"columns", 4}, {"rows", 2}}, {{"rows", 5}}}, {"x86-64-v3"}), 1);
  const std::string& text = e.program.text;
  EXPECT_TRUE(has(text, "const int64_t bucket0_sizes[] = {2, 4};"));
  EXPECT_TRUE(has(text, "const int64_t bucket1_sizes[] = {5, -1};"));
  EXPECT_TRUE(has(text, "{\"columns=4, rows=2\", bucket0_sizes},"));
  EXPECT_TRUE(has(text, ".bucket_count = 2,"));
  EXPECT_TRUE(has(text, "&schedule0_0,\n"));
  EXPECT_TRUE(has(text, "&schedule0_1,\n"));
  EXPECT_TRUE(has(text, R"(\042buckets\042:[{\042sizes\042:{\042columns\042:4,\042rows\042:2})"));
  ASSERT_EQ(e.kernels.size(), 1u);
  EXPECT_EQ(count(e.kernels[0][0].text, "extern \"C\""), 4u) << "a kernel a plan, and the sizes";
}

TEST(PrintedBuckets, NumberTheirBasesAsTheirPlanDoes) {
  Module m = module_with({{{"columns", 4}, {"rows", 2}}}, {"x86-64-v3"});
  m.plans[0].buckets[0].slots = 3;
  const std::string text = print_module(m, 1).program.text;
  EXPECT_EQ(count(text, ".sizes_base = 7"), 2u) << text;  // weights, arena, input, output, three slots
}

TEST(PrintedBuckets, OfTargetsWithTheSameRowsAreOne) {
  const std::string text =
      print_module(module_with({{{"columns", 4}, {"rows", 2}}}, {"x86-64-v3", "x86-64-v2"}), 1).program.text;
  const Module m = module_with({{{"columns", 4}, {"rows", 2}}}, {"x86-64-v3", "x86-64-v2"});
  ASSERT_TRUE(m.plans[0].buckets[0].steps == m.plans[1].buckets[0].steps);
  EXPECT_EQ(count(text, "const Schedule schedule0_0 ="), 1u);
  EXPECT_EQ(count(text, "const Schedule schedule1_0 ="), 0u);
  EXPECT_EQ(count(text, "&schedule0_0,"), 2u);
}

TEST(PrintedBuckets, HaveNoPlaceInAModuleWithout) {
  const std::string text = print_module(module_with({}, {"x86-64-v3"}), 1).program.text;
  EXPECT_FALSE(has(text, "ucket"));
}

}  // namespace
}  // namespace cameo::test
