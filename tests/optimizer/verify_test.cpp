// Each promise is broken once, in a graph or a plan that held it, and the sentence about it is seen.
#include "optimizer/verify.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "optimizer/pipeline.h"
#include "optimizer/plan/verify_plan.h"
#include "tests/support/graph_text.h"

namespace cameo {

/// Reaches what `Graph::add` keeps sound.
struct GraphSurgeon {
  Graph& g;
  std::vector<Node>& nodes() { return g.nodes_; }
  std::vector<Value>& values() { return g.values_; }
  std::vector<Port>& outputs() { return g.outputs_; }
};

namespace {

Graph chain() { return test::parse_model({"input X f32[2x8]", "A = Relu(X)", "B = Exp(A)", "output B"}).graph; }
Graph expanded(const std::vector<std::string>& lines) {
  PassContext context(*find_target("x86-64-v3"));
  return optimize(test::parse_model(lines).graph, context);
}
Graph with_loop() {  // carries one value, stacks another, captures W
  return expanded({"input X f32[4]", "input W f32[4x4]", "const trips i64[] = 5", "body step", "input i i64[]",
                   "input go b1[]", "input x f32[4]", "input w f32[4x4]", "M = MatMul(x, w)", "A = Exp(M)",
                   "output go, M, A", "end", "F, S = Loop(trips, -, X, W) captures=1 bodies=[step]", "output F, S"});
}

std::string first(const std::vector<std::string>& problems) { return problems.empty() ? "" : problems[0]; }

/// What is said about `g` once `damage` was done to it.
std::string broken(Graph g, const std::function<void(GraphSurgeon)>& damage, Waypoint from = Waypoint::Replayed) {
  EXPECT_EQ(first(verify(g, from)), "");
  damage({g});
  return first(verify(g, from));
}

TEST(VerifyGraph, OrderOfNodes) {
  EXPECT_EQ(broken(chain(), [](GraphSurgeon s) { s.nodes()[0].inputs[0] = s.nodes()[1].outputs[0]; }),
            "node 0 `A` (Relu): operand %2 is not made yet");
  EXPECT_EQ(broken(chain(), [](GraphSurgeon s) { s.nodes()[1].inputs[0] = ValueId{9}; }),
            "node 1 `B` (Exp): an operand is no value of the graph");
}
TEST(VerifyGraph, Outputs) {
  EXPECT_EQ(broken(chain(), [](GraphSurgeon s) { s.nodes().pop_back(); }),
            "the end of the graph: output `B` is never made");
  EXPECT_EQ(broken(chain(), [](GraphSurgeon s) { s.outputs()[0].value = ValueId{9}; }),
            "the end of the graph: an output of the graph is no value of the graph");
}
TEST(VerifyGraph, Producers) {
  EXPECT_EQ(broken(chain(), [](GraphSurgeon s) { s.values()[2].producer = NodeId{0}; }),
            "node 1 `B` (Exp): result %2 names another producer");
  EXPECT_EQ(broken(chain(), [](GraphSurgeon s) { s.nodes().push_back(s.nodes()[1]); }),
            "node 1 `B` (Exp): result %2 names another producer");
}
TEST(VerifyGraph, Types) {
  EXPECT_EQ(broken(chain(), [](GraphSurgeon s) { s.values()[2].type = Type(DType::f32, {Dim(2), Dim(9)}); }),
            "node 1 `B` (Exp): result %2 is f32[2x9], its shape rule says f32[2x8]");
  EXPECT_EQ(broken(chain(), [](GraphSurgeon s) { s.values()[2].type.dtype = DType::f64; }),
            "node 1 `B` (Exp): result %2 is f64[2x8], its shape rule says f32[2x8]");
}
TEST(VerifyGraph, KnownElements) {
  EXPECT_EQ(broken(chain(), [](GraphSurgeon s) { s.values()[1].content = {integer(1)}; }),
            "node 0 `A` (Relu): result %1 has 1 known elements, 16 by its type");
}
TEST(VerifyGraph, Provenance) {
  EXPECT_EQ(broken(chain(), [](GraphSurgeon s) { s.nodes()[1].provenance.clear(); }),
            "number 1 (`Exp`): comes from no node of the model");
  EXPECT_EQ(broken(chain(), [](GraphSurgeon s) { s.nodes()[1].provenance = {1, 1}; }),
            "node 1 `B` (Exp): its provenance is no set");
  EXPECT_EQ(broken(chain(), [](GraphSurgeon s) { s.nodes()[1].provenance = {1, 7}; }),
            "node 1 `B` (Exp): comes from a node that the model has not");
}
TEST(VerifyGraph, NothingUnused) {
  EXPECT_EQ(broken(chain(), [](GraphSurgeon s) { s.outputs()[0].value = ValueId{1}; }),
            "node 1 `B` (Exp): `Exp` is needed by no output");
  Graph imported = test::parse_model({"input X f32[2]", "A = Relu(X)", "B = Exp(X)", "output B"}).graph;
  EXPECT_EQ(first(verify(imported, Waypoint::Imported)), "");
}
TEST(VerifyGraph, CapturedValues) {
  auto capture_x = [](GraphSurgeon s) {
    for (Node& n : s.nodes())
      if (!n.bodies.empty()) n.inputs.back() = n.inputs[2];
  };
  EXPECT_EQ(broken(with_loop(), capture_x), "node 2 `F` (Loop): captures %0, its body expects f32[4x4]");
}
TEST(VerifyGraph, Bodies) {
  auto untyped = [](GraphSurgeon s) {
    for (Node& n : s.nodes())
      if (!n.bodies.empty()) {
        auto body = std::make_shared<Graph>(*n.bodies[0]);
        GraphSurgeon{*body}.nodes()[0].provenance.clear();
        n.bodies[0] = body;
      }
  };
  EXPECT_NE(broken(with_loop(), untyped).find("comes from no node of the model"), std::string::npos);
}
TEST(VerifyGraph, NoCompositeOnceExpanded) {
  Graph g = test::parse_model({"input X f32[2x8]", "Y = Softmax(X)", "output Y"}).graph;
  EXPECT_EQ(first(verify(g, Waypoint::Replayed)), "");
  EXPECT_EQ(first(verify(g, Waypoint::Expanded)),
            "node 0 `Y` (Softmax): `Softmax` is a composite that was not expanded");
}
TEST(VerifyGraph, EveryPassKeepsIt) {
  PassContext context(*find_target("x86-64-v3"));
  context.verify_each = true;
  optimize(with_loop(), context);
  context.after = [](const PassContext&, const Graph&) {};
  EXPECT_EXIT(
      {
        Graph g = chain();
        GraphSurgeon{g}.nodes()[1].provenance.clear();
        optimize(g, context);
      },
      testing::ExitedWithCode(1), "internal error: the imported graph: number 1 .* comes from no node of the model");
}

// ---- layouts --------------------------------------------------------------------------------------------------------
TEST(VerifyLayouts, CoverTheirElementsOnce) {
  Graph g = chain();
  std::vector<Layout> layouts(3, row_major({2, 8}));
  EXPECT_EQ(first(verify_layouts(g, layouts)), "");
  layouts[1] = {{8, 1}, 1, 16, {0, 1}};
  EXPECT_EQ(first(verify_layouts(g, layouts)),
            "the layout of `A` does not cover its elements: pitch [8, 1] base_offset 1 of 16");
  layouts[1] = {{4, 1}, 0, 16, {0, 1}};
  EXPECT_EQ(first(verify_layouts(g, layouts)),
            "the layout of `A` puts two elements in one place: pitch [4, 1] base_offset 0 of 16");
  layouts[1] = {{1}, 0, 16, {0}};
  EXPECT_EQ(first(verify_layouts(g, layouts)), "the layout of `A` has another rank: pitch [1] base_offset 0 of 16");
  layouts.pop_back();
  EXPECT_EQ(first(verify_layouts(g, layouts)), "2 layouts of 3 values");
}

// ---- plans ----------------------------------------------------------------------------------------------------------
struct Planned {
  Plan plan;
  Interface io;
  int64_t weights = 0;
};
Planned planned(const Graph& g) {
  WeightPool weights;
  Diagnostics diagnostics;
  Planned p{make_plan(g, *find_target("x86-64-v3"), weights, diagnostics), interface_of(g), 0};
  p.weights = weights.bytes;
  return p;
}
Planned products() {  // two products, a buffer between them
  return planned(expanded({"input X f32[4x32]", "const W f32[32x32] = rand:2", "A = MatMul(X, W)", "B = MatMul(A, W)",
                           "C = MatMul(B, W)", "output C"}));
}
std::string broken(Planned p, const std::function<void(Plan&)>& damage) {
  EXPECT_EQ(first(verify_plan(p.plan, p.io, p.weights)), "");
  damage(p.plan);
  return first(verify_plan(p.plan, p.io, p.weights));
}

TEST(VerifyPlan, Buffers) {
  EXPECT_EQ(broken(products(), [](Plan& p) { p.buffers[1].offset = 64; }), "buffers 0 and 1 overlap while both live");
  EXPECT_EQ(broken(products(), [](Plan& p) { p.arena_bytes = 512; }), "buffer 1 stands at 512 of 512 arena bytes");
}
TEST(VerifyPlan, OperandsStandWhereBytesAre) {
  EXPECT_EQ(broken(products(), [](Plan& p) { p.steps[0].refs[0].offset = 1024; }),
            "step 0: `arena+1024` and 512 bytes from there lie in no buffer that lives");
  EXPECT_EQ(broken(products(), [](Plan& p) { p.buffers[0].last = 0; }),
            "step 1: `arena+0` and 512 bytes from there lie in no buffer that lives");
  EXPECT_EQ(broken(products(), [](Plan& p) { p.steps[0].refs[1].offset = 4; }),
            "step 0: `input0+4` reaches 516 bytes into 512");
  EXPECT_EQ(broken(products(), [](Plan& p) { p.steps[2].refs[0].number = 1; }),
            "step 2: `output1` reaches 512 bytes into -1");
  EXPECT_EQ(broken(products(), [](Plan& p) { p.steps[0].refs[2].offset = -64; }),
            "step 0: `weights+-64` reaches 4032 bytes into 4096");
}
TEST(VerifyPlan, OutputsOverwriteNothingThatIsReadElsewhere) {
  EXPECT_EQ(broken(products(), [](Plan& p) { p.steps[1].refs[0] = p.steps[1].refs[1]; }),
            "step 1: `k000_matmul` writes `arena+0` and reads it elsewhere");
}
TEST(VerifyPlan, StepsHaveTheirOperands) {
  EXPECT_EQ(broken(products(), [](Plan& p) { p.steps[0].refs.pop_back(); }),
            "step 0: gives `k000_matmul` 2 operands, it takes 3");
  EXPECT_EQ(broken(products(), [](Plan& p) { p.steps[0].kernel = 5; }), "step 0: kernel 5 of 1");
}
TEST(VerifyPlan, JumpsLand) {
  auto at = [](Plan& p, StepKind kind) { return std::ranges::find(p.steps, kind, &Step::kind); };
  Planned loop = planned(with_loop());
  EXPECT_NE(
      broken(loop, [&](Plan& p) { at(p, StepKind::LoopBegin)->jump = 99; }).find("jumps to 99, the plan ends at "),
      std::string::npos);
  EXPECT_NE(
      broken(loop, [&](Plan& p) { at(p, StepKind::LoopEnd)->jump = 0; }).find("ends a loop that step 0 does not begin"),
      std::string::npos);
  EXPECT_NE(broken(loop, [&](Plan& p) { at(p, StepKind::Swap)->b = 7; }).find("slot7 of 3"), std::string::npos);
  EXPECT_NE(broken(loop, [&](Plan& p) { p.loops = 0; }).find("loop 0 of 0"), std::string::npos);
  EXPECT_NE(broken(loop, [&](Plan& p) { p.taps.push_back({99, {}, "x", DType::f32, {}, {}}); })
                .find("tap `x` is behind step 99"),
            std::string::npos);
}

}  // namespace
}  // namespace cameo
