// Numbers of a choice that the machine decides: each is among the candidates, and follows the target.
#include <gtest/gtest.h>

#include "optimizer/choose/family.h"
#include "tests/support/graph_text.h"
#include "tests/support/road.h"

namespace cameo::test {
namespace {

/// The last kernel of a plan.
Kernel kernel_of(const std::vector<std::string>& model, const Target& target) {
  return plan_graph(parse_model(model).graph, "model", target).plans[0].kernels.back();
}
Target wide() { return *find_target("x86-64-v4"); }

TEST(Ways, SmallTilesSplitTheirSumsAsTheLatencyWants) {
  const std::vector<std::string> row = {"input A f32[1x64]", "const B f32[64x16] = rand:1", "C = MatMul(A, B)",
                                        "output C"};
  Target target = wide();
  EXPECT_EQ(kernel_of(row, target).choice["splits"], 4);
  target.machine.fma_latency = 1;
  EXPECT_EQ(kernel_of(row, target).choice["splits"], 2);
  target.machine.fmas = 1;
  EXPECT_EQ(kernel_of(row, target).choice["splits"], 1);
  const std::vector<std::string> rows = {"input A f32[64x64]", "const B f32[64x64] = rand:1", "C = MatMul(A, B)",
                                         "output C"};
  EXPECT_EQ(kernel_of(rows, wide()).choice["splits"], 1);
}

TEST(Ways, AnOperandThatIsReadByFewRowsStands) {
  const auto pack_from = [](int64_t rows, bool along_k) {
    const std::string b = along_k ? "input B f32[8x64x128]" : "input B f32[8x128x64]";
    std::vector<std::string> model = {"input A f32[8x" + std::to_string(rows) + "x128]", b};
    if (along_k) model.push_back("T = Transpose(B) perm=[0, 2, 1]");
    model.push_back(along_k ? "C = MatMul(A, T)" : "C = MatMul(A, B)");
    model.push_back("output C");
    const Kernel k = kernel_of(model, wide());
    EXPECT_EQ(k.family->name(), "contract");
    return k.choice["pack_from"];
  };
  EXPECT_EQ(pack_from(2, false), 16);
  EXPECT_EQ(pack_from(24, false), 25);
  EXPECT_EQ(pack_from(256, false), 16);  // it is brought into panels
  EXPECT_EQ(pack_from(2, true), 5);
  EXPECT_EQ(pack_from(64, true), 5);
}

}  // namespace
}  // namespace cameo::test
