// Choices about what a model may leave open or break, from the flag to what the artifact computes: `--input`,
// `--lenient`, class labels that name no class, branches that no run can take.
#include "tests/cli/program.h"
#include "tests/frontend/import/onnx_writer.h"

namespace cameo {
namespace {
using namespace onnx_text;

constexpr int kFloat = 1, kInt64 = 7, kBool = 9;

using Rules = CliTest;

TEST_F(Rules, AnInputThatIsKeptOpenWantsData) {
  GraphText g{{node("Add", {"x", "w"}, {"y"})},
              {value("x", kFloat, {2}), value("w", kFloat, {2})},
              {value("y")},
              {tensor<float>("w", kFloat, {2}, {10, 20})}};
  const std::string file = write("m.onnx", model(g));
  const Ended closed = cameo({"build", file, "-o", "closed.so"});
  EXPECT_EQ(closed.code, 0);
  EXPECT_TRUE(has(closed.err, "--input w keeps it open"));
  EXPECT_TRUE(has(run(path("closed.so"), {"run", "-i", "x=[1,2]", "-o", "text"}).out, "11 22"));
  EXPECT_EQ(run(path("closed.so"), {"run", "-i", "x=[1,2]", "-i", "w=[5,5]"}).code, 2);

  const Ended open = cameo({"build", file, "-o", "open.so", "--input", "w"});
  EXPECT_EQ(open.code, 0);
  EXPECT_EQ(open.err.find("W0007"), std::string::npos);
  EXPECT_TRUE(has(run(path("open.so"), {"run", "-i", "x=[1,2]", "-i", "w=[5,5]", "-o", "text"}).out, "6 7"));
  const Ended lacks = run(path("open.so"), {"run", "-i", "x=[1,2]"});
  EXPECT_EQ(lacks.code, 2);
  EXPECT_TRUE(has(lacks.err, "`w`"));

  for (const char* verb : {"check", "inspect", "explain"})
    EXPECT_EQ(cameo({verb, file, "--input", "w"}).err.find("W0007"), std::string::npos) << verb;
  EXPECT_EQ(cameo({"inspect", file, "--input", "w", "--json"}).json()["inputs"].size(), 2u);
  EXPECT_EQ(cameo({"inspect", file, "--json"}).json()["inputs"].size(), 1u);
  const Ended unknown = cameo({"build", file, "--input", "v"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_TRUE(has(unknown.err, "`--input v` names no input"));
  EXPECT_TRUE(has(cameo({"run", file, "-i", "x=[1,2]", "-i", "w=[5,5]", "-o", "text"}).out, "6 7"));
}

TEST_F(Rules, WhatIsClearGoesOnWithLenient) {
  Bytes flip = node("Transpose", {"x"}, {"y"}, {attr("perm", std::vector<int64_t>{-1, 0})});
  const std::string file = write("m.onnx", model(GraphText{{flip}, {value("x", kFloat, {2, 3})}, {value("y")}}));
  for (const char* verb : {"check", "build", "inspect", "explain"}) {
    const Ended strict = cameo({verb, file});
    EXPECT_EQ(strict.code, 3) << verb;
    EXPECT_TRUE(has(strict.err + strict.out, "with --lenient it counts from the end")) << verb;
    const Ended lenient = cameo({verb, file, "--lenient"});
    EXPECT_EQ(lenient.code, 0) << verb;
    EXPECT_TRUE(has(lenient.err + lenient.out, "W0005")) << verb;
  }
  const Words data{"-i", "[[1,2,3],[4,5,6]]", "-o", "text"};
  Words artifact{"run"}, at_once{"run", file, "--lenient"};
  artifact.insert(artifact.end(), data.begin(), data.end());
  at_once.insert(at_once.end(), data.begin(), data.end());
  const Ended built = run(path("m.so"), artifact), direct = cameo(at_once);
  for (const Ended& e : {built, direct}) {
    EXPECT_EQ(e.code, 0) << e.err;
    EXPECT_TRUE(has(e.out, "f32[3,2]"));
  }
  EXPECT_EQ(built.out, direct.out);
  EXPECT_EQ(cameo({"run", file, "-i", "rand"}).code, 3);
}

TEST_F(Rules, ALabelThatNamesNoClassEndsTheRun) {
  GraphText g{{node("NegativeLogLikelihoodLoss", {"x", "label"}, {"y"},
                    {attr("ignore_index", int64_t{-100}), attr("reduction", "none")}, "", "loss")},
              {value("x", kFloat, {2, 3}), value("label", kInt64, {2})},
              {value("y")}};
  ASSERT_EQ(cameo({"build", write("m.onnx", model(g)), "-o", "m.so"}).code, 0);
  auto loss = [&](const std::string& labels) {
    return run(path("m.so"), {"run", "-i", "x=[[1,2,3],[4,5,6]]", "-i", "label=" + labels, "-o", "text"});
  };
  EXPECT_TRUE(has(loss("[2,-100]").out, "-3 0"));
  for (const char* label : {"3", "-1", "1000000000000"}) {
    const Ended e = loss(std::string("[2,") + label + "]");
    EXPECT_EQ(e.code, 7);
    EXPECT_TRUE(has(e.err, std::string("node `loss`: index ") + label + " is outside a dim of 3"));
  }
}

TEST_F(Rules, ABranchThatNoRunCanTakeEndsTheRunEvenIfItGivesNothing) {
  Bytes wide = GraphText{
      {node("Reshape", {"x", "s"}, {"r"}, {}, "", "wide")}, {}, {value("r")}, {tensor<int64_t>("s", kInt64, {1}, {8})}};
  Bytes none = GraphText{
      {node("Slice", {"x", "zero", "zero"}, {"r"})}, {}, {value("r")}, {tensor<int64_t>("zero", kInt64, {1}, {0})}};
  GraphText g{
      {node("If", {"c"}, {"y"}, {attr_graph("then_branch", wide), attr_graph("else_branch", none)}, "", "choice"),
       node("Concat", {"y", "x"}, {"z"}, {attr("axis", int64_t{0})}), node("Sin", {"y"}, {"s"})},
      {value("c", kBool, {}), value("x", kFloat, {2, 2})},
      {value("y"), value("z"), value("s")}};
  const std::string file = write("m.onnx", model(g));
  for (const char* outputs : {"y", "z", "y,z", "s"}) {
    const Ended built = cameo({"build", file, "-o", "m.so", "--outputs", outputs});
    ASSERT_EQ(built.code, 0) << built.err;
    EXPECT_TRUE(has(built.err, "W0006"));
    EXPECT_EQ(run(path("m.so"), {"run", "-i", "c=false", "-i", "x=[[1,2],[3,4]]"}).code, 0) << outputs;
    const Ended taken = run(path("m.so"), {"run", "-i", "c=true", "-i", "x=[[1,2],[3,4]]"});
    EXPECT_EQ(taken.code, 7) << outputs;
    EXPECT_TRUE(has(taken.err, "node `choice` does not fit these dims")) << outputs;
  }
}

}  // namespace
}  // namespace cameo
