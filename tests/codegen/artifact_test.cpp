// What holds for an artifact as a whole: two live in one process without knowing of each other, unloading one leaves
// nothing behind, and the same model gives the same bytes however many workers built it.
#include "tests/support/artifact.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <sstream>

#include "frontend/import/import_onnx.h"
#include "frontend/reference/interpret.h"
#include "optimizer/choose/family.h"
#include "optimizer/pipeline.h"
#include "tests/support/case.h"
#include "tests/support/child.h"
#include "tests/support/graph_text.h"

namespace cameo::test {
namespace {

namespace fs = std::filesystem;

Model digits() {
  Diagnostics diagnostics;
  Model m = import_onnx(fs::path(CAMEO_SOURCE_DIR) / "models/digits.onnx", {}, diagnostics);
  EXPECT_FALSE(diagnostics.has_errors());
  return m;
}

Graph some_graph() {
  for (Case& c : load_case_file(fs::path(CAMEO_SOURCE_DIR) / "tests/ops/softmax.case"))
    if (c.graph) return std::move(*c.graph);
  throw std::runtime_error("no case");
}

std::vector<Tensor> inputs_of(const Graph& g, double from) {
  std::vector<Tensor> inputs;
  for (ValueId v : g.inputs()) {
    Tensor t(g.type(v).dtype, extents(g.type(v).shape));
    for (int64_t i = 0; i < t.size(); ++i) t.set(i, from + 0.125 * static_cast<double>(i % 7));
    inputs.push_back(std::move(t));
  }
  return inputs;
}

fs::path built(const Graph& g, const std::string& folder, int jobs) {
  fs::path path = fs::path(testing::TempDir()) / folder;
  fs::create_directories(path);
  BuildOptions options;
  options.jobs = jobs;
  build_graph(g, path / "model.so", options);
  return path / "model.so";
}

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return bytes.str();
}

size_t entries(const char* folder) {
  return static_cast<size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(Artifact, TwoBuildsAreEqual) {
  Graph g = digits().graph;
  std::string one = bytes_of(built(g, "cameo_first", 1)), two = bytes_of(built(digits().graph, "cameo_second", 2));
  EXPECT_FALSE(one.empty());
  EXPECT_TRUE(one == two) << "the same model gave different bytes";
}

struct NoSuchKernel final : Family {
  std::string_view name() const override { return "no_such_kernel"; }
  std::vector<Choice> candidates(const Kernel&, const Target&) const override { return {}; }
  int64_t chunks(const Kernel&, const Target&) const override { return 1; }
  void print(KernelPrinter&, const Kernel&) const override {}
};

TEST(Artifact, WhatDoesNotCompileIsSaidToBeOurBug) {
  const NoSuchKernel family;
  Module m = plan_graph(some_graph());
  m.plans[0].kernels[0].family = &family;
  try {
    compile_module(m, {}, OutputKind::SharedLibrary, fs::path(testing::TempDir()) / "cameo_broken.so", {});
    FAIL() << "it compiled";
  } catch (const CompileError& e) {
    EXPECT_EQ(code_name(e.diagnostic.code), "E0601");
    EXPECT_NE(e.diagnostic.message.find("no_such_kernel.h"), std::string::npos) << e.diagnostic.message;
  }
  EXPECT_FALSE(fs::exists(fs::path(testing::TempDir()) / "cameo_broken.so"));
}

TEST(Artifact, TwoInOneProcess) {
  Graph g = digits().graph, h = some_graph();
  LoadedArtifact one(built(g, "cameo_one", 2)), two(built(h, "cameo_two", 2));
  std::vector<Tensor> g_in = inputs_of(g, 0), h_in = inputs_of(h, -0.5);
  std::vector<Tensor> g_alone = one.run(g_in), h_alone = two.run(h_in), g_again = one.run(g_in);
  EXPECT_TRUE(g_alone == g_again);
  EXPECT_EQ(one.api().io_count(0), static_cast<int32_t>(g.inputs().size()));
  EXPECT_EQ(two.api().io_count(0), static_cast<int32_t>(h.inputs().size()));
  std::vector<Tensor> want = interpret(h, h_in).rounded;
  for (int64_t i = 0; i < want[0].size(); ++i) EXPECT_NEAR(h_alone[0].get(i), want[0].get(i), 1e-6);
}

TEST(Artifact, UnloadingLeavesNothing) {
  Graph g = digits().graph;
  fs::path path = built(g, "cameo_unload", 2);
  std::vector<Tensor> in = inputs_of(g, 0);
  constexpr int kWarmUp = 4, kRounds = 16;  // by then the loader and malloc's caches have made their own tables
  size_t files = 0, heap = 0;
  for (int round = 0; round < kWarmUp + kRounds; ++round) {
    std::vector<Tensor> out = LoadedArtifact(path).run(in, 3);
    out.clear();
    ASSERT_EQ(entries("/proc/self/task"), 1u) << "a thread outlives its library";
    ASSERT_EQ(bytes_of("/proc/self/maps").find(path.filename().string()), std::string::npos) << "it is still mapped";
    if (round == kWarmUp - 1) {
      files = entries("/proc/self/fd");
      heap = mallinfo2().uordblks;
    }
  }
  EXPECT_EQ(entries("/proc/self/fd"), files);
  // chunks that malloc's caches keep count as used; a context alone takes kilobytes
  EXPECT_LT(mallinfo2().uordblks, heap + kRounds * 256) << "memory of a run was not given back";
}

TEST(Artifact, ThreadsDoNotChangeBits) {
  Graph g = digits().graph;
  LoadedArtifact artifact(built(g, "cameo_threads", 2));
  std::vector<Tensor> in = inputs_of(g, 0.25), one = artifact.run(in, 1);
  for (int threads : {2, 3, 7}) EXPECT_TRUE(artifact.run(in, threads) == one) << threads << " threads";
}

TEST(Artifact, StripsAreTheSameOnAnyNumberOfThreads) {
  const ModelText m =
      parse_model({"input X f32[1x8x16x16]", "const E f32[32x8x1x1] = rand:2", "const D f32[32x1x3x3] = rand:3",
                   "const P f32[8x32x1x1] = rand:4", "e = Conv(X, E)", "f = Relu(e)",
                   "d = Conv(f, D) group=32 pads=[1, 1, 1, 1]", "p = Conv(d, P)", "y = Add(p, X)", "output y"});
  for (const char* name : {"x86-64-v2", "x86-64-v3"}) {
    const Target target = with_small_caches(name);
    const Plan plan = plan_graph(m.graph, "", target).plans[0];
    EXPECT_TRUE(std::ranges::any_of(plan.steps, &Step::follows)) << to_string(plan, m.graph.sources());
    const fs::path path = fs::path(testing::TempDir()) / "cameo_strips.so";
    build_graph(m.graph, path, {}, target);
    LoadedArtifact artifact(path);
    const std::vector<Tensor> one = artifact.run(m.inputs, 1);
    EXPECT_EQ(differences(one, interpret(m.graph, m.inputs)), "");
    for (int threads : {2, 3, 7}) EXPECT_TRUE(artifact.run(m.inputs, threads) == one) << threads << " threads";
  }
}

TEST(Child, SaysHowItEnds) {
  EXPECT_EQ(in_child([] { return std::string("a result"); }), "a result");
  EXPECT_EQ(in_child([] { return std::string(); }), "");
  EXPECT_NE(in_child([]() -> std::string {
              raise(SIGSEGV);
              return "";
            }).find("it crashed"),
            std::string::npos);
  EXPECT_NE(in_child([]() -> std::string { _exit(3); }).find("exit code 3"), std::string::npos);
  EXPECT_EQ(in_child(
                []() -> std::string {
                  for (volatile bool goes_on = true; goes_on;) continue;
                  return "";
                },
                1),
            "it took too long");
  EXPECT_EQ(in_child([]() -> std::string { throw std::runtime_error("no"); }), "exception: no");
}

}  // namespace
}  // namespace cameo::test
