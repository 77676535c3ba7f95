// Custom operators in plans: an element is a part of its neighbours' kernel, a function a kernel of its own, which the
// evaluator of plans runs too; what it is printed as is made of numbers.
#include "optimizer/choose/custom_call.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "frontend/ir/build.h"
#include "optimizer/plan/run_plan.h"
#include "tests/support/road.h"
#include "tests/support/sizes.h"

namespace cameo::test {
namespace {

op::Scalar halved(const op::Element& e) { return e.in(0) * 0.5; }
void same_shape(op::Shape& s) {
  s.output(0, s.type(0), s.dims(0));
  s.scratch(s.dim(0, -1) * 4);
}
void reversed(const op::Run& r) {
  const int64_t columns = r.in(0).dims[1];
  for (int64_t row = r.begin; row < r.end; ++row)
    for (int64_t i = 0; i < columns; ++i)
      r.out(0).as<float>()[row * columns + i] =
          r.in(0).as<float>()[row * columns + columns - 1 - i] + (r.has(2) ? r.in(2).as<float>()[0] : 0.0f);
}
constexpr op::Operator kRows[] = {
    {.name = "Halved", .inputs = {{"x"}}, .element = halved},
    {.name = "Reversed",
     .inputs = {{"x", op::f32}, {"unused", op::f32, op::optional}, {"bias", op::f32, op::optional}},
     .attributes = {{"label", "plain"}},
     .shape = same_shape,
     .run = reversed,
     .split = 0}};

const Operator& custom(size_t row) {
  static const std::vector<const Operator*> all = [] {
    std::vector<const Operator*> made;
    const op::Table table{op::kVersion, 2, sizeof(op::Operator), kRows, &op::detail::compiler};
    declare_custom(table, std::make_shared<const CustomFile>(CustomFile{"rows.cpp", "", "rows"}), made);
    return made;
  }();
  return *all[row];
}

/// Relu(Halved(x)) and Reversed of it, with a bias behind an operand that is absent.
Graph chain(const Attrs& first = {}, const Attrs& second = {}) {
  Build b;
  const ValueId x = b.input("x", Type(DType::f32, {Dim(6), Dim(40)}));
  Graph& g = b.graph();
  const ValueId half = b.op("Relu", {g.add(custom(0), {x})[0]});
  const ValueId turned = g.add(custom(1), {half, ValueId(), b.scalar(DType::f32, 2)}, first)[0];
  return b.finish({{"y", g.add(custom(1), {turned}, second)[0]}, {"half", half}});
}

std::vector<Tensor> numbers(int64_t rows) {
  Tensor x(DType::f32, {rows, 40});
  for (int64_t i = 0; i < x.size(); ++i) x.set(i, static_cast<double>(i % 17) - 5);
  return {x};
}

TEST(CustomCall, PlansComputeWhatTheInterpreterDoes) {
  const Graph g = chain();
  const Module m = plan_graph(g);
  const auto inputs = numbers(6);
  EXPECT_EQ(differences(run_plan(m, m.plans[0], inputs), interpret(g, inputs)), "");
  const auto& kernels = m.plans[0].kernels;
  EXPECT_EQ(std::ranges::count_if(kernels, [](const Kernel& k) { return custom_of(k) != nullptr; }), 2);
  EXPECT_TRUE(std::ranges::any_of(kernels, [](const Kernel& k) { return k.title == "Halved + Relu"; }));
  EXPECT_TRUE(m.plans[0].scratch_bytes == Dim(160 + 64 * op::Run::failure_bytes())) << "its own, and sentences";
}

TEST(CustomCall, ServesSizesOfARun) {
  const Graph open = over_sizes(chain(), [](size_t, size_t axis, int64_t extent) {
    return axis == 0 ? Dim(symbol("custom_call_rows", {1, 64})) : Dim(extent);
  });
  const std::vector<DimBinding> sizes = {
      {{"custom_call_rows", 1}}, {{"custom_call_rows", 6}}, {{"custom_call_rows", 9}}};
  EXPECT_EQ(check_sizes(open, numbers(6), sizes, native_target()), "");
}

TEST(CustomCall, NodesThatDifferInAttributesAreTwoKernels) {
  const auto kernels_of = [](const Attrs& second) {
    Build b;
    const ValueId x = b.input("x", Type(DType::f32, {Dim(6), Dim(40)}));
    Graph& g = b.graph();
    const ValueId first = g.add(custom(1), {x})[0];
    const Module m = plan_graph(b.finish({{"y", g.add(custom(1), {first}, second)[0]}}));
    return m.plans[0].kernels.size();
  };
  EXPECT_EQ(kernels_of({}), 1u);
  EXPECT_EQ(kernels_of({{"label", std::string("other")}}), 2u);
}

TEST(CustomCall, TextsOfAModelBecomeNumbers) {
  const Module m = plan_graph(chain({{"label", std::string("*/\"\n")}}));
  const auto k = std::ranges::find_if(m.plans[0].kernels, [](const Kernel& kernel) { return custom_of(kernel); });
  ASSERT_NE(k, m.plans[0].kernels.end());
  EXPECT_NE(custom_text(*k).find("{42, 47, 34, 10, 0}"), std::string::npos) << custom_text(*k);
  EXPECT_EQ(custom_text(*k).find("*/"), std::string::npos);
}

TEST(CustomCall, ATensorAsAnAttributeHasALimit) {
  op::Operator* const row = new op::Operator(kRows[1]);  // graphs point to it
  row->name = "Weighted";
  row->attributes[0] = {"label", op::Kind::tensor};
  const op::Table table{op::kVersion, 1, sizeof(op::Operator), row, &op::detail::compiler};
  std::vector<const Operator*> made;
  declare_custom(table, std::make_shared<const CustomFile>(CustomFile{"large.cpp", "", "large"}), made);
  Build b;
  const ValueId x = b.input("x", Type(DType::f32, {Dim(6), Dim(40)}));
  const auto large = std::make_shared<const Tensor>(DType::f32, std::vector<int64_t>{20'000});
  const Graph g = b.finish({{"y", b.graph().add(*made[0], {x}, {{"label", large}})[0]}});
  try {
    plan_graph(g);
    FAIL();
  } catch (const CompileError& e) { EXPECT_EQ(e.diagnostic.code, Code::E0402) << e.diagnostic.message; }
}

}  // namespace
}  // namespace cameo::test
