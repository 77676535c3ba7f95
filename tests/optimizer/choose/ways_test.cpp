// Numbers of a choice that the machine decides: each is among the candidates, and follows the target.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "frontend/ir/build.h"
#include "optimizer/choose/family.h"
#include "optimizer/choose/tiles_of_sums.h"
#include "tests/support/graph_text.h"
#include "tests/support/road.h"
#include "tests/support/sizes.h"

namespace cameo::test {
namespace {

/// The last kernel of a plan.
Kernel kernel_of(const std::vector<std::string>& model, const Target& target) {
  return plan_graph(parse_model(model).graph, "model", target).plans[0].kernels.back();
}
Target wide() { return *find_target("x86-64-v4"); }
Target gpu() { return gpu_target({"ptx"}); }

/// The values of a number among a kernel's candidates.
std::set<int64_t> values_of(std::string_view number, const Kernel& k, const Target& target) {
  std::set<int64_t> values;
  for (const Choice& c : k.family->candidates(k, target)) values.insert(c[number]);
  return values;
}
/// The kernel by its first candidate with this value.
Kernel with(std::string_view number, int64_t value, Kernel k, const Target& target) {
  const std::vector<Choice> all = k.family->candidates(k, target);
  const auto choice = std::ranges::find(all, value, [&](const Choice& c) { return c[number]; });
  if (choice == all.end()) throw std::runtime_error("no such candidate");
  k.family->apply(k, *choice, target);
  return k;
}
/// Its choice, and what the printed plan says of it.
std::string text_of(const Kernel& k) { return k.choice.text() + ":" + k.family->details(k); }
using Values = std::set<int64_t>;

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

TEST(Ways, SumsWithALongEpilogueGoThroughALoop) {
  std::vector<std::string> model = {"input A u8[64x64]",
                                    "const B i8[64x64] = rand:1",
                                    "const s f32[] = 0.02",
                                    "const z u8[] = 128",
                                    "const o i8[] = 0",
                                    "Q = QLinearMatMul(A, s, z, B, s, o, s, z)",
                                    "D = DequantizeLinear(Q, s, z)"};
  const auto with_end = [&](std::vector<std::string> end) {
    std::vector<std::string> whole = model;
    whole.insert(whole.end(), end.begin(), end.end());
    return kernel_of(whole, wide()).choice["in_registers"];
  };
  EXPECT_EQ(with_end({"Y = Relu(D)", "output Y"}), 1);
  EXPECT_EQ(with_end({"S = Sigmoid(D)", "Y = QuantizeLinear(S, s, z)", "output Y"}), 0) << "bytes are looked up";
  EXPECT_EQ(with_end({"Y = Tanh(D)", "output Y"}), 0);
}

TEST(Ways, WeightsComeAheadWhereAnySizeHasFewTiles) {
  const Graph g =
      parse_model({"input A f32[8x512]", "const B f32[512x1024] = rand:1", "C = MatMul(A, B)", "output C"}).graph;
  const auto ahead = [&](int64_t fewest, int64_t most) {
    const Graph ranged = over_sizes(g, [&](size_t, size_t axis, int64_t extent) {
      return axis == 0 ? Dim(symbol("rows", {fewest, most})) : Dim(extent);
    });
    return plan_graph(ranged, "model", wide()).plans[0].kernels.back().choice["ahead"];
  };
  EXPECT_EQ(ahead(1, 4096), 1);
  EXPECT_EQ(ahead(4000, 4096), 0);
  EXPECT_EQ(ahead(1, 2), 0);
}

Kernel product_by_weights(int64_t rows, int64_t terms, int64_t columns, std::string_view dtype) {
  return kernel_of({fmt::format("input A {}[{}x{}]", dtype, rows, terms),
                    fmt::format("const B {}[{}x{}] = rand:1", dtype, terms, columns), "C = MatMul(A, B)", "output C"},
                   wide());
}

TEST(Ways, WeightsOf16BitsAreWidenedOnceForManyTiles) {
  const auto kernel = [](int64_t rows, int64_t terms, std::string_view dtype) {
    return product_by_weights(rows, terms, 96, dtype);
  };
  EXPECT_EQ(kernel(128, 512, "f16").choice["widened"], 1);
  EXPECT_EQ(kernel(128, 512, "f32").choice["widened"], 0);
  EXPECT_EQ(kernel(8, 512, "f16").choice["widened"], 0) << "a single tile";
  EXPECT_EQ(kernel(64, 512, "f16").choice["widened"], 1);
  EXPECT_EQ(kernel(64, 8192, "f16").choice["widened"], 0) << "what is stored does not stay in the cache";
  const Kernel k = kernel(128, 512, "f16");
  EXPECT_EQ(k.scratch_bytes, Dim(rt::contract_scratch_bytes(tile_of(k.choice), 512)));
  const std::vector<Choice> others = k.family->reorderings(k, k.choice);
  EXPECT_NE(std::ranges::find(others, k.choice.with("widened", 0)), others.end());
}

TEST(Ways, ThreadsShareRowsWhereWeightsAreFewerThanThey) {
  const auto band = [](int64_t rows, int64_t terms, int64_t columns, std::string_view dtype = "f32") {
    return product_by_weights(rows, terms, columns, dtype).choice["band"];
  };
  EXPECT_EQ(band(192, 64, 384), 6) << "a quarter of 24 tiles";
  EXPECT_EQ(band(192, 384, 1024), 0) << "they are more than the rows that others made";
  EXPECT_EQ(band(192, 64, 32), 0) << "one tile has all columns";
  EXPECT_EQ(band(24, 64, 96), 0) << "a thread is alone";
  EXPECT_EQ(band(192, 64, 384, "f16"), 0) << "each band would widen them anew";
}

TEST(Ways, AProductMayGoThroughItsTilesInOtherOrders) {
  const std::vector<std::string> model = {"input A f32[960x64]", "const B f32[64x96] = rand:1", "C = MatMul(A, B)",
                                          "output C"};
  const Kernel k = kernel_of(model, wide());
  std::set<std::string> others;
  for (const Choice& c : k.family->reorderings(k, k.choice)) {
    EXPECT_EQ(c.with("band", k.choice["band"]).with("ahead", k.choice["ahead"]), k.choice);
    others.insert(fmt::format("band {} ahead {}", c["band"], c["ahead"]));
  }
  EXPECT_EQ(others, (std::set<std::string>{"band 0 ahead 0", "band 1 ahead 0", "band 15 ahead 0", "band 30 ahead 1",
                                           "band 60 ahead 0"}))
      << k.choice.text();
  const Kernel computed =
      kernel_of({"input A f32[960x64]", "input B f32[64x96]", "C = MatMul(A, B)", "output C"}, wide());
  EXPECT_TRUE(computed.family->reorderings(computed, computed.choice).empty()) << "panels are not its own";
}

TEST(Ways, ALastTapOfFewIsWrittenOut) {
  const auto pool = [](int64_t taps) {
    return kernel_of({"input X f32[1x16x12x40]",
                      fmt::format("Y = MaxPool(X) kernel_shape=[3, {}] strides=[1, 1]", taps), "output Y"},
                     wide());
  };
  const Kernel few = pool(3), many = pool(9);
  ASSERT_EQ(few.family->name(), "window");
  ASSERT_EQ(many.family->name(), "window");
  EXPECT_EQ(values_of("written", few, wide()), (Values{0, 1}));
  EXPECT_EQ(few.choice["written"], 1);
  EXPECT_EQ(text_of(with("written", 1, few, wide())), "rows=5 written=1 lanes=16: taps [3, 3] tile 5 written out");
  EXPECT_EQ(text_of(with("written", 0, few, wide())), "rows=5 written=0 lanes=16: taps [3, 3] tile 5");
  EXPECT_EQ(values_of("written", many, wide()), Values{0});
}

TEST(Ways, APoolOfMoreThanTheCachesHoldGoesInTheOrderOfMemory) {
  const auto pool = [](int64_t images) {
    return kernel_of({fmt::format("input X f32[{}x16x56x56]", images),
                      "Y = MaxPool(X) kernel_shape=[2, 2] strides=[1, 1]", "output Y"},
                     wide());
  };
  EXPECT_EQ(pool(1).family->name(), "window");
  EXPECT_EQ(pool(256).family->name(), "nest");
}

TEST(Ways, FoldsRunInLanesWhereTheyAreLong) {
  const auto sums = [](int64_t terms) {
    return kernel_of({fmt::format("input X f32[4x{}]", terms), "Y = ReduceSum(X) axes=[1] keepdims=0", "output Y"},
                     wide());
  };
  const Kernel wide_row = sums(256);
  EXPECT_EQ(values_of("fold_lanes", wide_row, wide()), (Values{1, 16}));
  EXPECT_EQ(wide_row.choice["fold_lanes"], 16);
  EXPECT_EQ(text_of(with("fold_lanes", 16, wide_row, wide())), "lanes=1 fold_lanes=16 team=1:");
  EXPECT_EQ(text_of(with("fold_lanes", 1, wide_row, wide())), "lanes=1 fold_lanes=1 team=1:");
  EXPECT_EQ(values_of("fold_lanes", sums(8), wide()), Values{1});
}

TEST(Ways, ShortRowsAreLanesWhereTheyAreMany) {
  const auto rows = [](int64_t n, int64_t length) {
    const Kernel k = kernel_of({fmt::format("input X f32[{}x{}]", n, length), "Y = Softmax(X)", "output Y"}, wide());
    const auto all = k.family->candidates(k, wide());
    const bool listed = std::ranges::any_of(all, [](const Choice& c) { return c.get("rows", 1) == 16; });
    return std::pair(listed, k.choice.get("rows", 1));
  };
  EXPECT_EQ(rows(128, 10), std::pair(true, int64_t(16)));
  EXPECT_EQ(rows(128, 64), std::pair(true, int64_t(1)));
  EXPECT_EQ(rows(8, 10), std::pair(false, int64_t(1)));
}

TEST(Ways, ATeamOfAGpusThreadsFolds) {
  const std::vector<std::string> sums = {"input X f32[64x1600]", "Y = ReduceSum(X) axes=[1] keepdims=0", "output Y"};
  const Kernel k = kernel_of(sums, gpu());
  EXPECT_EQ(values_of("team", k, gpu()), (Values{1, 32, gpu().block_threads}));
  EXPECT_EQ(k.choice["team"], gpu().block_threads);
  EXPECT_EQ(text_of(with("team", 32, k, gpu())), "lanes=1 fold_lanes=1 team=32: team 32");
  EXPECT_EQ(text_of(with("team", 1, k, gpu())), "lanes=1 fold_lanes=1 team=1:");
  EXPECT_EQ(k.axes.size(), 2u);  // its last one is the team's
  const Kernel of_processor = kernel_of(sums, wide());
  EXPECT_EQ(values_of("team", of_processor, wide()), Values{1});
}

TEST(Ways, StagesOfARingAreThoseThatABlocksMemoryHolds) {
  const std::vector<std::string> product = {"input A f32[512x256]", "const B f32[256x512] = rand:1", "C = MatMul(A, B)",
                                            "output C"};
  const Kernel k = kernel_of(product, gpu());
  EXPECT_EQ(values_of("stages", k, gpu()), (Values{2, 3, 4}));
  EXPECT_EQ(text_of(k),
            "packed=1 rows=64 vectors=2 splits=1 stages=3 in_registers=1 lanes=4: sum [256] packed tile 64x2 staged in "
            "registers");
  EXPECT_EQ(text_of(with("stages", 4, k, gpu())),
            "packed=1 rows=64 vectors=4 splits=1 stages=4 in_registers=1 lanes=4: sum [256] packed tile 64x4 staged in "
            "registers");
  Target small = gpu();
  small.card.block_shared_bytes = 16 << 10;
  EXPECT_EQ(values_of("stages", k, small), (Values{2, 3}));
  EXPECT_EQ(values_of("stages", kernel_of(product, wide()), wide()), Values{0});
}

TEST(Ways, AChunkTakesAsLongAsThreadsNeedToMeet) {
  const Kernel k = kernel_of({"input X f32[100000]", "Y = Exp(X)", "output Y"}, wide());
  const int64_t chunks = k.family->chunks(k, wide());
  EXPECT_GT(chunks, 8);
  EXPECT_LT(chunks, 64);
  const auto of_four = [](int64_t n) { return (n + 3) / 4 * 4; };
  EXPECT_EQ(chunks, of_four(chunks));
  Target other = wide();
  other.machine.barrier *= 2;
  EXPECT_EQ(k.family->chunks(k, other), of_four(chunks / 2));
  other.machine.clock *= 2;
  EXPECT_EQ(k.family->chunks(k, other), of_four(chunks / 4));
  other.machine.barrier = 1;
  EXPECT_EQ(k.family->chunks(k, other), 1);
}

TEST(Ways, TheFirstFewChunksAreShorter) {
  const auto chunks = [](int64_t n) {
    const Kernel k = kernel_of({fmt::format("input X f32[{}]", n), "Y = Neg(X)", "output Y"}, wide());
    return k.family->chunks(k, wide());
  };
  EXPECT_EQ(chunks(4 << 10), 1);     // 1.2 us
  EXPECT_EQ(chunks(8 << 10), 2);     // 2.4 us: less than threads need to meet
  EXPECT_EQ(chunks(32 << 10), 4);    // 9.8 us
  EXPECT_EQ(chunks(100 << 10), 12);  // 31 us
}

TEST(Ways, ARowTimesAMatrixHasChunksForTheBytesOfTheMatrix) {
  const auto chunks = [](const std::string& columns) {
    const Kernel k = kernel_of(
        {"input X f32[1x512]", "const W f32[512x" + columns + "] = rand:1", "Y = MatMul(X, W)", "output Y"}, wide());
    return k.family->chunks(k, wide());
  };
  EXPECT_GE(chunks("1024"), 4);  // 2 MB
  EXPECT_EQ(chunks("16"), 1);
}

TEST(Ways, ARunOfAWideRangeHasTheChunksOfItsOwnSize) {
  Build b;
  const Dim n(symbol("n", {1, 1 << 20}));
  const Graph over = b.finish({{"y", b.op("Exp", {b.input("x", Type(DType::f32, {n}))})}});
  const Step step = plan_graph(over, "model", wide()).plans[0].steps.back();
  const auto chunks_at = [&](int64_t size) {
    return simplify_index(bind_symbols(step.size, {{"n", size}})).int_value();
  };
  const Kernel k = kernel_of({"input X f32[100000]", "Y = Exp(X)", "output Y"}, wide());
  EXPECT_NEAR(static_cast<double>(chunks_at(100000)), static_cast<double>(k.family->chunks(k, wide())), 1);
  EXPECT_EQ(chunks_at(1 << 20), 64);
  EXPECT_EQ(chunks_at(1), 1);
}

TEST(Ways, ALongSumOfFewColumnsIsSharedByTwoThreads) {
  const Target& amx = *find_target("x86-64-v4-amx");
  const Kernel k =
      kernel_of({"input A f32[128x1536]", "const B f32[1536x384] = rand:1", "C = MatMul(A, B)", "output C"}, amx);
  EXPECT_EQ(k.family->name(), "bf16x3");
  EXPECT_EQ(k.family->chunks(k, amx), 2);
  EXPECT_TRUE(k.family->chunks_repeat(k));
}

TEST(Ways, ARunOfOneRowHasChunksThatShareTheWeights) {
  const auto chunks_at = [](int64_t rows, const std::string& target) {
    const Graph ranged = over_sizes(
        parse_model({"input A f32[64x1024]", "const B f32[1024x1024] = rand:1", "C = MatMul(A, B)", "output C"}).graph,
        [](size_t, size_t axis, int64_t extent) { return axis == 0 ? Dim(symbol("n", {1, 4096})) : Dim(extent); });
    const Plan plan = plan_graph(ranged, "model", *find_target(target)).plans[0];
    EXPECT_EQ(plan.kernels.back().family->name(), target == "x86-64-v4" ? "contract" : "bf16x3");
    return simplify_index(bind_symbols(plan.steps.back().size, {{"n", rows}})).int_value();
  };
  for (const int64_t rows : {1, 15, 40}) EXPECT_GE(chunks_at(rows, "x86-64-v4"), 8) << rows;
  for (const int64_t rows : {1, 15}) EXPECT_GE(chunks_at(rows, "x86-64-v4-amx"), 8) << "the sums are plain ones";
  EXPECT_EQ(chunks_at(16, "x86-64-v4-amx"), 1) << "each would bring all rows into parts";
}

}  // namespace
}  // namespace cameo::test
