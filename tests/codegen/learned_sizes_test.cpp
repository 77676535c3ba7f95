// Sizes that a run computes: artifacts that learn them as they go, from run to run others, on a processor and on a GPU.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "codegen/goldens.h"
#include "frontend/ir/build.h"
#include "frontend/ir/limits.h"
#include "frontend/ir/operator.h"
#include "runtime/dtype.h"
#include "tests/gpu/mock/mock.h"
#include "tests/support/artifact.h"
#include "tests/support/child.h"

namespace cameo::test {
namespace {

/// The places of x[3, 5] that are not zero as rows[n, 2], and of the rows' sums, y, those above 2: two sizes, one after
/// the other.
Graph sums_above_two() {
  Build b;
  const ValueId x = b.input("x", Type(DType::f32, {3, 5})), rows = b.transpose(b.op("NonZero", {x}), {1, 0});
  const ValueId sums = b.reduce("ReduceSum", rows, {1}, false);
  const ValueId high = b.squeeze(b.op("NonZero", {b.op("Greater", {sums, b.scalar(DType::i64, 2)})}), {0});
  return b.finish({{"rows", rows}, {"y", b.gather(sums, high)}});
}

/// The first k[0] + k[1] of x[4], largest first.
Graph largest_of_four() {
  Build b;
  const ValueId x = b.input("x", Type(DType::f32, {4})), k = b.input("k", Type(DType::i64, {2}));
  const ValueId count = b.reduce("ReduceSum", k, {0});
  b.graph().decide(count);
  return b.finish({{"y", b.op("TopK", {x, count})}});
}

/// While x < limit: x = x + x, which a scan keeps.
Graph doubled_up_to_limit() {
  Build body;
  const ValueId round = body.input("round", Type(DType::i64, {})), go = body.input("go", Type(DType::b1, {}));
  const ValueId x = body.input("x", Type(DType::f32, {})), limit = body.input("limit", Type(DType::f32, {}));
  const ValueId next = body.add(x, x);
  (void)round, (void)go;
  auto graph = std::make_shared<const Graph>(
      body.finish({{"go", body.op("Less", {next, limit})}, {"x", next}, {"kept", body.op("Identity", {next})}}));
  Build b;
  const ValueId first = b.input("first", Type(DType::f32, {})), most = b.input("most", Type(DType::f32, {}));
  const std::vector<ValueId> out = b.graph().add(get_operator("Loop"), {ValueId(), ValueId(), first, most},
                                                 {{"captures", int64_t{1}}}, {}, 0, 2, {graph});
  return b.finish({{"last", out[0]}, {"kept", out[1]}});
}

/// x[n, 3] with itself behind it as often as `rounds` says, then those of its first column that are above each round's
/// number, of which there are fewer each time.
Graph grown_and_thinned() {
  Build b;
  const ValueId x = b.input("x", Type(DType::f32, {Dim(symbol("n", {1, 40})), 3}));
  const ValueId rounds = b.input("rounds", Type(DType::i64, {}));
  const ValueId grown = b.loop(rounds, {x}, [&](Build& body, ValueId, std::span<const ValueId> kept) {
    return Build::Step{{body.concat({kept[0], body.capture(x)}, 0)}, {}};
  })[0];
  const ValueId column = b.squeeze(b.slice(grown, 1, 0, 1), {1});
  const ValueId thinned = b.loop(rounds, {column}, [&](Build& body, ValueId i, std::span<const ValueId> kept) {
    const ValueId above = body.op("Greater", {kept[0], body.cast(i, DType::f32)});
    return Build::Step{{body.op("Compress", {kept[0], above}, {{"axis", int64_t{0}}})}, {}};
  })[0];
  return b.finish({{"grown", b.add(grown, grown)}, {"thinned", thinned}});
}

/// Two elements of x[6] each round, from the round's number on, and their sums.
Graph pairs_of_rounds() {
  Build b;
  const ValueId x = b.input("x", Type(DType::f32, {6})), rounds = b.input("rounds", Type(DType::i64, {}));
  const auto out = b.loop(rounds, {b.scalar(DType::f32, 0)}, [&](Build& body, ValueId i, std::span<const ValueId> sum) {
    const ValueId first = body.unsqueeze(i, {0}), here = body.capture(x);
    body.graph().decide(first);
    const ValueId two = body.op("Slice", {here, first, body.add(first, body.ints({2}))});
    return Build::Step{{body.add(sum[0], body.reduce("ReduceSum", two, {0}, false))}, {two}};
  });
  return b.finish({{"sum", out[0]}, {"pairs", out[1]}});
}

/// The places of x[6] that are not zero, once for each round.
Graph places_of_rounds() {
  Build b;
  const ValueId x = b.input("x", Type(DType::f32, {6})), rounds = b.input("rounds", Type(DType::i64, {}));
  const auto out = b.loop(rounds, {}, [&](Build& body, ValueId, std::span<const ValueId>) {
    return Build::Step{{}, {body.op("NonZero", {body.capture(x)})}};
  });
  return b.finish({{"places", out[0]}});
}

/// The first two rows of x[4, 3] where it adds up to more than 0, else the last three.
Graph one_of_two_slices() {
  const auto branch = [](int64_t from, int64_t to) {
    Build b;
    const ValueId x = b.input("x", Type(DType::f32, {4, 3}));
    return std::make_shared<const Graph>(b.finish({{"", b.slice(x, 0, from, to)}}));
  };
  Build b;
  const ValueId x = b.input("x", Type(DType::f32, {4, 3})), sum = b.reduce("ReduceSum", x, {0, 1}, false);
  const ValueId some = b.op("Greater", {sum, b.scalar(DType::f32, 0)});
  const ValueId rows = b.graph().add(get_operator("If"), {some, x}, {}, {}, 0, 1, {branch(0, 2), branch(1, 4)})[0];
  return b.finish({{"y", b.add(rows, rows)}});
}

/// The places of x[n, 5] that are not zero where it adds up to more than 0, else those above -1, as rows and columns;
/// and twice the columns.
Graph places_of_either_kind() {
  const Type type(DType::f32, {Dim(symbol("n", {1, 40})), 5});
  const auto branch = [&](double limit) {
    Build b;
    const ValueId x = b.input("x", type), kept = b.op(limit ? "Greater" : "Equal", {x, b.scalar(DType::f32, limit)});
    const ValueId places = b.op("NonZero", {limit ? kept : b.op("Not", {kept})});
    return std::make_shared<const Graph>(b.finish({{"", places}, {"", b.slice(places, 0, 1, 2)}}));
  };
  Build b;
  const ValueId x = b.input("x", type), sum = b.reduce("ReduceSum", x, {0, 1}, false);
  const ValueId some = b.op("Greater", {sum, b.scalar(DType::f32, 0)});
  const auto places = b.graph().add(get_operator("If"), {some, x}, {}, {}, 0, 2, {branch(0), branch(-1)});
  return b.finish({{"places", places[0]}, {"twice", b.add(places[1], places[1])}});
}

/// The rows of x[n, m, k] that differ, and their places, for any sizes: at the largest of these no machine holds one.
Graph different_rows() {
  const auto open = [](const char* name) { return Dim(symbol(name, {0, most_of_open(3)}, true)); };
  Build b;
  const ValueId x = b.input("x", Type(DType::i32, {open("n"), open("m"), open("k")}));
  const std::vector<ValueId> out = b.ops("Unique", {x}, {{"axis", int64_t{1}}}, 2);
  return b.finish({{"y", out[0]}, {"places", out[1]}});
}

/// The rows of x[n, 64] that differ, for any n, from the second on up to the largest i32, which exporters write for the
/// end.
Graph different_rows_but_the_first() {
  Build b;
  const ValueId x = b.input("x", Type(DType::f32, {Dim(symbol("n", {0, most_of_open(2)}, true)), 64}));
  const ValueId rows = b.op("Unique", {x}, {{"axis", int64_t{0}}});
  return b.finish({{"y", b.slice(rows, 0, 1, INT32_MAX)}});
}

/// At most `most` of the boxes of x[n, 4], whose scores are their first numbers, and the boxes themselves.
Graph boxes_left() {
  Build b;
  const ValueId x = b.input("x", Type(DType::f32, {Dim(symbol("n", {0, 64})), 4}));
  const ValueId most = b.input("most", Type(DType::i64, {1}));
  const ValueId scores = b.transpose(b.slice(x, 1, 0, 1), {1, 0});
  const ValueId rows = b.op("NonMaxSuppression", {b.unsqueeze(x, {0}), b.unsqueeze(scores, {0}), most});
  return b.finish({{"rows", rows}, {"boxes", b.gather(x, b.squeeze(b.slice(rows, 1, 2, 3), {1}))}});
}

Tensor number(float value) {
  Tensor t(DType::f32, {});
  t.set(0, value);
  return t;
}
Tensor all_of(float value) {
  Tensor t(DType::f32, {4, 3});
  for (int64_t i = 0; i < t.size(); ++i) t.set(i, value);
  return t;
}
/// Elements 0 to `most`, in no order.
Tensor scrambled(DType t, std::vector<int64_t> dims, int64_t most) {
  Tensor x(t, std::move(dims));
  for (int64_t i = 0; i < x.size(); ++i) x.set(i, static_cast<double>((i * i + 3 * i) % 37 % (most + 1)));
  return x;
}
Tensor with_elements(int64_t count) {
  Tensor t(DType::f32, {3, 5});
  for (int64_t i = 0; i < t.size(); ++i) t.set(i, i * 7 % t.size() < count ? 1 : 0);
  return t;
}
Tensor pair(int64_t a, int64_t b) {
  Tensor t(DType::i64, {2});
  t.set_int(0, a), t.set_int(1, b);
  return t;
}

Tensor whole_number(int64_t value) { return Tensor::i64({}, std::vector{value}); }
Tensor one_number(int64_t value) { return Tensor::i64({1}, std::vector{value}); }

/// What `work` says of the graph's artifacts, in a child: for this processor, for a GPU, and for one whose rows are
/// graphs. All must say the same.
std::string with_artifact(const Graph& g, const std::function<std::string(const LoadedArtifact&)>& work,
                          const std::vector<GoldenCase>& goldens = {}) {
  return in_child([&] {
    load_mock();
    const std::filesystem::path path =
        std::filesystem::path(testing::TempDir()) / fmt::format("cameo_learned_{}.so", getpid());
    const auto say = [&](const Target& target, bool reduce_overhead) {
      build_graph(g, path, {}, target, goldens, reduce_overhead);
      const LoadedArtifact artifact(path);
      std::filesystem::remove(path);
      return work(artifact);
    };
    const std::string said = say(native_target(), false);
    for (bool reduce_overhead : {false, true})
      if (const std::string other = say(gpu_target({"host"}), reduce_overhead); other != said)
        return fmt::format("{} but on a GPU{}: {}", said, reduce_overhead ? " by graphs" : "", other);
    return said;
  });
}

/// What is wrong with an artifact that runs on one set of inputs after the other.
std::string runs(const Graph& g, const std::vector<std::vector<Tensor>>& inputs) {
  return with_artifact(g, [&](const LoadedArtifact& artifact) {
    std::string wrong;
    for (const std::vector<Tensor>& in : inputs) wrong += differences(artifact.run(in), interpret(g, in));
    return wrong;
  });
}

TEST(LearnedSizes, AreThoseOfEachRun) {
  EXPECT_EQ(runs(sums_above_two(), {{with_elements(0)}, {with_elements(1)}, {with_elements(15)}, {with_elements(9)}}),
            "");
}

TEST(LearnedSizes, AreAsManyAsALoopHasRounds) {
  const Graph g = doubled_up_to_limit();
  EXPECT_EQ(runs(g, {{number(1), number(100)}, {number(1), number(1)}, {number(3), number(4e6)}}), "");
  EXPECT_EQ(interpret(g, std::vector{number(1), number(100)}).rounded[1].dims(), std::vector<int64_t>{7});
}

TEST(LearnedSizes, AreThoseOfWhatALoopCarries) {
  const Graph g = grown_and_thinned();
  const auto of = [](int64_t rows, int64_t rounds) {
    return std::vector{scrambled(DType::f32, {rows, 3}, 5), whole_number(rounds)};
  };
  EXPECT_EQ(runs(g, {of(1, 3), of(40, 1), of(2, 7), of(5, 0), of(3, -1)}), "");
  EXPECT_EQ(interpret(g, of(2, 7)).rounded[0].dims(), (std::vector<int64_t>{16, 3}));
}

TEST(LearnedSizes, AreThoseOfWhatALoopStacks) {
  const Graph g = pairs_of_rounds();
  const auto of = [](int64_t rounds) { return std::vector{scrambled(DType::f32, {6}, 5), whole_number(rounds)}; };
  EXPECT_EQ(runs(g, {of(3), of(1), of(5)}), "");
  EXPECT_EQ(interpret(g, of(5)).rounded[1].dims(), (std::vector<int64_t>{5, 2}));
  EXPECT_THROW((void)interpret(g, of(6)), CompileError);  // the last round has one element
}

TEST(LearnedSizes, ThatABodyDoesNotTakeAreNoFaultWhereItDoesNotRun) {
  const Dim n(symbol("n", {0, 9}));
  Build pairs, whole;
  const ValueId p = pairs.input("x", Type(DType::f32, {n})), w = whole.input("x", Type(DType::f32, {n}));
  const auto branch = [](Build& b, ValueId y) { return std::make_shared<const Graph>(b.finish({{"", y}})); };
  const auto even = branch(pairs, pairs.reduce("ReduceSum", pairs.op("Reshape", {p, pairs.ints({2, -1})}), {0}, false));
  const auto any = branch(whole, whole.op("Neg", {w}));
  Build b;
  const ValueId x = b.input("x", Type(DType::f32, {n})), wanted = b.input("wanted", Type(DType::b1, {}));
  const auto y = b.graph().add(get_operator("If"), {wanted, x}, {}, {}, 0, 1, {even, any});
  const Graph g = b.finish({{"y", y[0]}});
  const auto of = [](int64_t size, bool wanted) {
    Tensor flag(DType::b1, {});
    flag.set_int(0, wanted);
    return std::vector{scrambled(DType::f32, {size}, 5), flag};
  };
  EXPECT_EQ(runs(g, {of(4, true), of(3, false), of(8, true), of(5, false)}), "");
  EXPECT_THROW((void)interpret(g, of(3, true)), CompileError);
  EXPECT_NE(with_artifact(g,
                          [&](const LoadedArtifact& artifact) -> std::string {
                            try {
                              artifact.run(of(3, true));
                              return "";
                            } catch (const std::runtime_error& e) { return e.what(); }
                          }),
            "");
}

TEST(LearnedSizes, AreThoseOfNoRounds) {
  const Graph g = places_of_rounds();
  const auto of = [](int64_t rounds) { return std::vector{scrambled(DType::f32, {6}, 5), whole_number(rounds)}; };
  EXPECT_EQ(runs(g, {of(2), of(0), of(3), of(-1)}), "");
  EXPECT_EQ(interpret(g, of(0)).rounded[0].dims(), (std::vector<int64_t>{0, 1, 0})) << "a round would know the last";
}

TEST(LearnedSizes, AreThoseOfTheBranchThatIsTaken) {
  const Graph g = one_of_two_slices();
  EXPECT_EQ(runs(g, {{all_of(1)}, {all_of(-1)}, {all_of(2)}}), "");
  EXPECT_EQ(interpret(g, std::vector{all_of(-1)}).rounded[0].dims(), (std::vector<int64_t>{3, 3}));
}

TEST(LearnedSizes, AreThoseThatABranchComputes) {
  const auto x = [](int64_t rows, double offset) {
    Tensor t = scrambled(DType::f32, {rows, 5}, 3);
    for (int64_t i = 0; i < t.size(); ++i) t.set(i, t.get(i) - offset);
    return std::vector{t};
  };
  EXPECT_EQ(runs(places_of_either_kind(), {x(4, 0), x(4, 3), x(40, 0), x(1, 2), x(7, 9)}), "");
}

TEST(LearnedSizes, AreThoseOfDifferentRows) {
  const auto rows = [](std::vector<int64_t> dims, int64_t most) {
    return std::vector{scrambled(DType::i32, std::move(dims), most)};
  };
  EXPECT_EQ(runs(different_rows(), {rows({2, 9, 1}, 1), rows({1, 40, 2}, 3), rows({3, 1, 2}, 9), rows({2, 0, 3}, 0),
                                    rows({0, 5, 3}, 0), rows({1, 300, 1}, 36)}),
            "");
}

TEST(LearnedSizes, StayOpenBelowAnEndOfAllIntegers) {
  const auto rows = [](int64_t n) { return std::vector{scrambled(DType::f32, {n, 64}, 5)}; };
  EXPECT_EQ(runs(different_rows_but_the_first(), {rows(9), rows(1), rows(40)}), "");
}

TEST(LearnedSizes, AreThoseOfBoxesThatAreLeft) {
  const auto boxes = [](int64_t count, int64_t most) {
    return std::vector{scrambled(DType::f32, {count, 4}, 36), one_number(most)};
  };
  EXPECT_EQ(runs(boxes_left(), {boxes(20, 64), boxes(64, 64), boxes(64, 2), boxes(1, 1), boxes(0, 5), boxes(7, 0)}),
            "");
}

TEST(LearnedSizes, OfOneContextFollowEachOther) {
  EXPECT_EQ(with_artifact(sums_above_two(),
                          [](const LoadedArtifact& artifact) {
                            const cameo_api& api = artifact.api();
                            cameo_model* model = nullptr;
                            cameo_context* context = nullptr;
                            api.model_create(nullptr, &model, nullptr);
                            api.context_create(model, &context, nullptr);
                            std::string dims;
                            for (int64_t count : {9, 0, 15}) {
                              const Tensor x = with_elements(count);
                              cameo_value in{}, out[2]{};
                              in.struct_size = out[0].struct_size = out[1].struct_size = sizeof in;
                              in.kind = out[0].kind = out[1].kind = CAMEO_KIND_TENSOR;
                              in.tensor.data = const_cast<std::byte*>(x.bytes().data());
                              in.tensor.device = {CAMEO_CPU, 0};
                              in.tensor.ndim = 2;
                              in.tensor.dtype = rt::to_dlpack(static_cast<uint32_t>(DType::f32));
                              in.tensor.shape = const_cast<int64_t*>(x.dims().data());
                              const cameo_status status = api.run(context, &in, 1, out, 2, nullptr, nullptr);
                              dims += fmt::format("{}: {} {}, ", static_cast<int>(status), out[0].tensor.shape[0],
                                                  out[1].tensor.shape[0]);
                            }
                            api.context_release(context);
                            api.model_release(model);
                            return dims;
                          }),
            "0: 9 6, 0: 0 0, 0: 15 9, ");
}

/// The values `rows` and `y` of `sums_above_two`, with room for so many elements in memory of the caller's.
struct InRoom {
  std::vector<int64_t> rows, y;
  cameo_value out[2]{};
  InRoom(size_t rows_room, size_t y_room) : rows(rows_room + 1), y(y_room + 1) {
    for (cameo_value& value : out) {
      value.struct_size = sizeof value;
      value.kind = CAMEO_KIND_TENSOR;
      value.tensor.device = {CAMEO_CPU, 0};
      value.tensor.dtype = rt::to_dlpack(static_cast<uint32_t>(DType::i64));
    }
    out[0].tensor.data = rows.data(), out[0].count = static_cast<int64_t>(rows_room);
    out[1].tensor.data = y.data(), out[1].count = static_cast<int64_t>(y_room);
  }
  std::string run(const cameo_api& api, cameo_context* context, int64_t count) {
    Tensor x = with_elements(count);
    cameo_value in{};
    in.struct_size = sizeof in;
    in.kind = CAMEO_KIND_TENSOR;
    in.tensor = out[0].tensor;
    in.tensor.data = x.mutable_bytes().data();
    in.tensor.ndim = 2;
    in.tensor.dtype = rt::to_dlpack(static_cast<uint32_t>(DType::f32));
    in.tensor.shape = const_cast<int64_t*>(x.dims().data());
    cameo_error error{sizeof error, CAMEO_OK, -1, -1, {}};
    const cameo_status status = api.run(context, &in, 1, out, 2, nullptr, &error);
    const std::string shapes =
        fmt::format("{} of {}: {}", out[0].tensor.ndim ? out[0].tensor.shape[0] : -1, count,
                    status ? fmt::format("{} {} {}", static_cast<int>(status), error.arg, error.message) : "");
    return shapes +
           (status ? "; " : fmt::format("{}, {}; ", out[1].tensor.shape[0], rows == first_rows(x) ? "right" : "wrong"));
  }
  /// What `rows` holds after a run: what no element came to stays 0.
  std::vector<int64_t> first_rows(const Tensor& x) const {
    std::vector<int64_t> expected(rows.size());
    size_t next = 0;
    for (int64_t i = 0; i < x.size(); ++i)
      if (x.get(i) != 0) expected[next++] = i / 5, expected[next++] = i % 5;
    return expected;
  }
};

TEST(LearnedSizes, AreWrittenIntoRoomOfTheCallers) {
  const auto work = [](const LoadedArtifact& artifact) {
    const cameo_api& api = artifact.api();
    cameo_model* model = nullptr;
    cameo_context* context = nullptr;
    api.model_create(nullptr, &model, nullptr);
    api.context_create(model, &context, nullptr);
    std::string said = InRoom(30, 9).run(api, context, 15) + InRoom(30, 9).run(api, context, 9);
    said += InRoom(18, 9).run(api, context, 9) + InRoom(17, 9).run(api, context, 9) + InRoom(0, 0).run(api, context, 0);
    InRoom wrong(30, 9);
    wrong.out[1].count = -1;
    said += wrong.run(api, context, 3);
    InRoom same(30, 9);
    same.out[1].tensor.data = same.rows.data() + 29;
    said += same.run(api, context, 3);
    InRoom typed(30, 9);
    typed.out[0].tensor.dtype.bits = 32;
    said += typed.run(api, context, 3);
    api.context_release(context);
    api.model_release(model);
    return said;
  };
  EXPECT_EQ(with_artifact(sums_above_two(), work),
            "15 of 15: 9, right; 9 of 9: 6, right; 9 of 9: 6, right; "
            "9 of 9: 18 0 output 0 `rows` has 18 elements in this run, there is room for 17; 0 of 0: 0, right; "
            "-1 of 3: 3 1 output 1 `y`: `count` is -1, for how many elements is room; "
            "-1 of 3: 3 1 output 1 `y` overlaps output 0 `rows`; "
            "-1 of 3: 3 0 output 0 `rows` has element type i32 (code 0, 32 bits, 1 lanes), the model declares i64; ");
}

TEST(LearnedSizes, ThatTheModelDoesNotTakeNameTheNode) {
  EXPECT_EQ(with_artifact(largest_of_four(),
                          [](const LoadedArtifact& artifact) -> std::string {
                            const Tensor x(DType::f32, {4});
                            const size_t fit = artifact.run(std::vector{x, pair(1, 2)})[0].size();
                            try {
                              artifact.run(std::vector{x, pair(3, 2)});
                              return "5 of 4 elements";
                            } catch (const std::runtime_error& e) { return fmt::format("{}, {}", fit, e.what()); }
                          }),
            "3, node `?` does not fit these sizes, of which must hold: le(size:0, 4)");
}

TEST(LearnedSizes, OfGoldenCasesAreExpectedToo) {
  const Graph g = sums_above_two();
  const std::vector<GoldenCase> goldens{golden_case(g, "nine", {with_elements(9)}),
                                        golden_case(g, "none", {with_elements(0)})};
  std::vector<GoldenCase> wrong = goldens;
  wrong[0].inputs = wrong[1].inputs;
  wrong[0] = with_held(wrong[0]);
  const auto selftest = [](const LoadedArtifact& artifact) -> std::string {
    cameo_error error{sizeof error, CAMEO_OK, -1, -1, {}};
    artifact.api().selftest(nullptr, nullptr, nullptr, &error);
    return error.message;
  };
  EXPECT_EQ(with_artifact(g, selftest, goldens), "");
  EXPECT_EQ(with_artifact(g, selftest, wrong), "case `nine`: output 0 `rows` has other dims: i64[0,2]");
  const auto failed = [](const LoadedArtifact& artifact) -> std::string {
    int count = 0;
    const auto report = [](void* user, const cameo_check* check) { *static_cast<int*>(user) += !check->passed; };
    artifact.api().selftest(nullptr, report, &count, nullptr);
    return fmt::format("{}", count);
  };
  EXPECT_EQ(with_artifact(g, failed, wrong), "1") << "what has other dims is reported";
}

}  // namespace
}  // namespace cameo::test
