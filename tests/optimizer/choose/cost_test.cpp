// What a kernel costs, worked by hand from its shapes.
#include "optimizer/choose/cost.h"

#include <gtest/gtest.h>

#include "tests/support/graph_text.h"
#include "tests/support/road.h"

namespace cameo::test {
namespace {

Plan planned(const std::vector<std::string>& lines) {
  return plan_graph(parse_model(lines).graph, "model", *find_target("x86-64-v3")).plans[0];
}

TEST(Cost, AProductCountsTwoOperationsATermAndEachOperandOnce) {
  const Plan p =
      planned({"input A f32[40x64]", "const B f32[64x48] = rand:1", "C = MatMul(A, B)", "Y = Relu(C)", "output Y"});
  ASSERT_EQ(p.kernels.size(), 1u);
  const KernelCost cost = cost_of(p.kernels[0]);
  EXPECT_EQ(cost.flops, 40 * 48 * (2 * 64 + 1));
  EXPECT_EQ(cost.bytes, 4 * (40 * 64 + 64 * 48 + 40 * 48));
}

TEST(Cost, WhatARowSharesCountsOnceARow) {
  const Plan p = planned({"input X f32[10x100]", "M = ReduceMax(X) axes=[1] keepdims=1", "Y = Sub(X, M)", "output Y"});
  ASSERT_EQ(p.kernels.size(), 1u);
  const KernelCost cost = cost_of(p.kernels[0]);
  EXPECT_EQ(cost.flops, 10 * 100 + 10 * 100);
  EXPECT_EQ(cost.bytes, 4 * (10 * 100 + 10 * 100));
}

TEST(Cost, OverlappingWindowsReadTheirMemoryOnce) {
  const Plan p = planned({"input X f32[1x16x12x12]", "Y = MaxPool(X) kernel_shape=[3, 3] strides=[1, 1]", "output Y"});
  double flops = 0, bytes = 0;
  for (const Kernel& k : p.kernels)
    if (k.accumulated) flops += cost_of(k).flops, bytes += cost_of(k).bytes;
  EXPECT_EQ(flops, 16 * 10 * 10 * 9);
  EXPECT_EQ(bytes, 4 * 16 * (12 * 12 + 10 * 10));
}

TEST(Cost, IntegersAreNoFlopsButMemoryAndOperations) {
  const Plan p = planned({"input X i64[100]", "Y = Add(X, X)", "output Y"});
  const KernelCost cost = cost_of(p.kernels.at(0));
  EXPECT_EQ(cost.flops, 0);
  EXPECT_EQ(cost.bytes, 8 * 200);
  EXPECT_GE(cost.operations, 2 * 100);  // at least the read and the sum
}

TEST(Cost, OperationsAreThoseAboveASumOfProducts) {
  const auto operations = [](int terms) {
    const Plan p = planned({"input A f32[40x" + std::to_string(terms) + "]",
                            "const B f32[" + std::to_string(terms) + "x48] = rand:1", "C = MatMul(A, B)", "Y = Relu(C)",
                            "output Y"});
    return p.kernels.at(0).cost.operations;
  };
  EXPECT_GE(operations(64), 40 * 48);
  EXPECT_EQ(operations(64), operations(128));
}

TEST(Cost, StandsInTheKernel) {
  const Plan p = planned({"input X f32[10x100]", "Y = ReduceMax(X) axes=[1]", "output Y"});
  const KernelCost cost = cost_of(p.kernels.at(0));
  EXPECT_EQ(p.kernels[0].cost.flops, cost.flops);
  EXPECT_EQ(p.kernels[0].cost.bytes, cost.bytes);
  EXPECT_EQ(p.kernels[0].cost.operations, cost.operations);
}

}  // namespace
}  // namespace cameo::test
