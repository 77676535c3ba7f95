// Sequences, optionals and maps at the C ABI: what a caller gets wrong is a sentence, what a run hands out stays until
// the next one, runs of one size allocate once, and a list that another one shares its memory with stays as it is.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <deque>
#include <filesystem>

#include "codegen/abi_values.h"
#include "codegen/goldens.h"
#include "frontend/ir/build.h"
#include "tests/support/artifact.h"
#include "tests/support/tensor_text.h"

namespace cameo::test {
namespace {

Type sequence_of(Type element) { return Type::list(Kind::Sequence, std::move(element)); }

/// Two lists that begin with the same one, and the element of one of them.
Graph forks() {
  Build b;
  const ValueId s = b.input("s", sequence_of(Type(DType::f32, {any_extent()}))),
                x = b.input("x", Type(DType::f32, {2})), y = b.input("y", Type(DType::f32, {2}));
  const ValueId one = b.op("SequenceInsert", {s, x}), other = b.op("SequenceInsert", {s, y});
  const ValueId last = b.op("SequenceAt", {one, b.scalar(DType::i64, -1)});
  return b.finish({{"one", one}, {"other", other}, {"last", last}});
}

int64_t allocations = 0;
void* counted_alloc(void*, size_t bytes, size_t alignment, cameo_device) {
  ++allocations;
  return std::aligned_alloc(alignment, bytes);
}
void plain_free(void*, void* memory, size_t, size_t, cameo_device) { std::free(memory); }

/// A context of an artifact, and what its last run gave.
class Runner {
 public:
  explicit Runner(const Graph& g) : artifact_(load_artifact(g)), api_(artifact_->api()) {
    cameo_options options{};
    options.struct_size = sizeof options;
    api_.options_init(&options);
    options.num_threads = 1;
    options.alloc = counted_alloc;
    options.free = plain_free;
    api_.model_create(&options, &model_, nullptr);
    api_.context_create(model_, &context_, nullptr);
  }
  Runner(const Runner&) = delete;
  ~Runner() {
    api_.context_release(context_);
    api_.model_release(model_);
  }
  const cameo_api& api() const { return api_; }

  std::vector<Tensor> run(const std::vector<Tensor>& inputs) {
    std::deque<AbiValue> given;
    std::vector<cameo_value> in;
    for (size_t i = 0; i < inputs.size(); ++i) in.push_back(given.emplace_back(api_, i, inputs[i]).get());
    EXPECT_EQ(run(in), "");
    std::vector<Tensor> outputs;
    for (const cameo_value& v : out_) outputs.push_back(tensor_of(v));
    return outputs;
  }
  std::string run(const std::vector<cameo_value>& in) {
    out_.clear();
    for (int32_t i = 0; i < api_.io_count(1); ++i) out_.push_back(abi_output(api_, static_cast<size_t>(i)));
    cameo_error error{};
    error.struct_size = sizeof error;
    const cameo_status status = api_.run(context_, in.data(), static_cast<int32_t>(in.size()), out_.data(),
                                         static_cast<int32_t>(out_.size()), nullptr, &error);
    return status == CAMEO_OK ? "" : error.message;
  }

 private:
  std::shared_ptr<const LoadedArtifact> artifact_;
  const cameo_api& api_;
  cameo_model* model_ = nullptr;
  cameo_context* context_ = nullptr;
  std::vector<cameo_value> out_;
};

Tensor value(const std::string& text) { return parse_value(text).value; }

TEST(Lists, ThatBeginWithTheSameOneAreApart) {
  Runner runner(forks());
  for (int round = 0; round < 3; ++round) {
    const std::vector<Tensor> out =
        runner.run({value("seq{f32[1] = 5; f32[3] = 6 7 8}"), value("f32[2] = 1 2"), value("f32[2] = 3 4")});
    EXPECT_EQ(out[0], value("seq{f32[1] = 5; f32[3] = 6 7 8; f32[2] = 1 2}"));
    EXPECT_EQ(out[1], value("seq{f32[1] = 5; f32[3] = 6 7 8; f32[2] = 3 4}"));
    EXPECT_EQ(out[2], value("f32[2] = 1 2"));
  }
}

TEST(Lists, OfOneSizeAllocateOnce) {
  Runner runner(forks());
  const std::vector<Tensor> in{value("seq{f32[1] = 5}"), value("f32[2] = 1 2"), value("f32[2] = 3 4")};
  runner.run(in);
  const int64_t before = allocations;
  for (int round = 0; round < 20; ++round) runner.run(in);
  EXPECT_EQ(allocations, before);
  Tensor large(DType::f32, {1 << 20});
  runner.run({Tensor::of_items({large}), in[1], in[2]});
  EXPECT_GT(allocations, before);
  const int64_t after = allocations;
  for (int round = 0; round < 3; ++round) runner.run({Tensor::of_items({large}), in[1], in[2]});
  EXPECT_EQ(allocations, after);
}

TEST(Lists, SayWhatTheyHold) {
  Build b;
  const ValueId map = b.input("m", Type::list(Kind::Map, Type(DType::f32, {any_extent()}), DType::i64));
  const ValueId optional = b.input("o", Type::list(Kind::Optional, sequence_of(Type(DType::u8, {2}))));
  const ValueId found = b.graph().add(get_operator("LookUp", "cameo"), {map, b.ints({7})})[0];
  Runner runner(b.finish({{"found", found}, {"same", b.op("Identity", {optional})}}));
  cameo_io io{};
  io.struct_size = sizeof io;
  EXPECT_EQ(runner.api().io_get(0, 0, &io), CAMEO_OK);
  EXPECT_EQ(io.kind, uint32_t{CAMEO_KIND_MAP});
  EXPECT_EQ(io.dtype.bits, 64);
  EXPECT_EQ(runner.api().io_element(0, 0, 0, &io), CAMEO_OK);
  EXPECT_EQ(io.kind, uint32_t{CAMEO_KIND_TENSOR});
  EXPECT_EQ(io.dims[0], -1);
  EXPECT_EQ(runner.api().io_element(0, 0, 1, &io), CAMEO_NOT_FOUND);
  EXPECT_EQ(runner.api().io_element(1, 1, 0, &io), CAMEO_OK);
  EXPECT_EQ(io.kind, uint32_t{CAMEO_KIND_SEQUENCE});
  EXPECT_EQ(runner.api().io_element(1, 1, 1, &io), CAMEO_OK);
  EXPECT_EQ(io.dims[0], 2);
  const std::vector<Tensor> out =
      runner.run({value("map{i64[2] = 5 7; f32[2] = 1 2}"), value("opt{seq{u8[2] = 1 2}}")});
  EXPECT_EQ(out[0], value("f32[1] = 2"));
  EXPECT_EQ(out[1], value("opt{seq{u8[2] = 1 2}}"));
}

/// Texts that are made go into one list, in which they stay while others are made; keys of a map are strings.
TEST(Lists, HoldStrings) {
  Build b;
  const ValueId s = b.input("s", sequence_of(Type(DType::str, {any_extent()}))),
                m = b.input("m", Type::list(Kind::Map, Type(DType::str, {any_extent()}), DType::str)),
                x = b.input("x", Type(DType::str, {2}));
  const ValueId more = b.op("SequenceInsert", {s, b.op("StringConcat", {x, x})});
  const ValueId found = b.graph().add(get_operator("LookUp", "cameo"), {m, x})[0];
  Runner runner(b.finish({{"more", more}, {"found", found}, {"same", b.op("Identity", {m})}}));
  cameo_io io{};
  io.struct_size = sizeof io;
  EXPECT_EQ(runner.api().io_get(0, 1, &io), CAMEO_OK);
  EXPECT_EQ(io.dtype.code, 3);
  EXPECT_EQ(runner.api().io_element(0, 0, 0, &io), CAMEO_OK);
  EXPECT_EQ(io.kind, uint32_t{CAMEO_KIND_STRINGS});
  const Tensor map = value("map{str[2] = \"a\" \"\"; str[2] = \"one\" \"none\"}"),
               words = value("str[2] = \"a\" \"c\"");
  for (int round = 0; round < 3; ++round) {
    const std::vector<Tensor> out = runner.run({value("seq{str[1] = \"b\"; str[0] = }"), map, words});
    EXPECT_EQ(out[0], value("seq{str[1] = \"b\"; str[0] = ; str[2] = \"aa\" \"cc\"}"));
    EXPECT_EQ(out[1], value("str[2] = \"one\" \"\""));
    EXPECT_EQ(out[2], map);
  }
  std::deque<AbiValue> given;
  std::vector<cameo_value> in, items;
  for (const Tensor& t : {value("seq{str[1] = \"b\"}"), map, words})
    in.push_back(given.emplace_back(runner.api(), in.size(), t).get());
  items.assign(in[0].items, in[0].items + 1);
  in[0].items = items.data();
  items[0].strings = nullptr;
  EXPECT_NE(runner.run(in).find("`strings` or `lengths` is null"), std::string::npos);
  items[0].kind = CAMEO_KIND_TENSOR;
  EXPECT_NE(runner.run(in).find("another kind"), std::string::npos);
}

TEST(Lists, ThatAreWrongAreASentence) {
  Runner runner(forks());
  const Tensor x = value("f32[2] = 1 2");
  std::deque<AbiValue> tensors;
  tensors.emplace_back(runner.api(), 1, x);
  tensors.emplace_back(runner.api(), 2, x);
  const auto said = [&](const Tensor& list, const auto& change) {
    const AbiValue given(runner.api(), 0, list);
    cameo_value v = given.get();
    std::vector<cameo_value> items(v.items, v.items + v.count);
    v.items = items.data();
    change(v, items);
    return runner.run(std::vector{v, tensors[0].get(), tensors[1].get()});
  };
  const auto contains = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  using Items = std::vector<cameo_value>;
  const Tensor good = value("seq{f32[1] = 5}");
  EXPECT_EQ(said(good, [](cameo_value&, Items&) {}), "");
  contains(said(good, [](cameo_value& v, Items&) { v.kind = CAMEO_KIND_TENSOR; }), "expected a sequence (3)");
  contains(said(good, [](cameo_value& v, Items&) { v.kind = CAMEO_KIND_MAP; }), "expected a sequence (3)");
  contains(said(good, [](cameo_value& v, Items&) { v.items = nullptr; }), "items is null");
  contains(said(good, [](cameo_value& v, Items&) { v.count = -1; }), "a number of items");
  contains(said(good, [](cameo_value&, Items& i) { i[0].struct_size = 0; }), "struct_size is not set");
  contains(said(good, [](cameo_value&, Items& i) { i[0].kind = CAMEO_KIND_SEQUENCE; }), "another kind");
  contains(said(good, [](cameo_value&, Items& i) { i[0].tensor.data = nullptr; }), "data is null");
  contains(said(good, [](cameo_value&, Items& i) { i[0].tensor.device.device_type = CAMEO_CUDA; }), "device type 2");
  contains(said(value("seq{f32[1x1] = 5}"), [](cameo_value&, Items&) {}), "another rank");
  contains(said(value("seq{f64[1] = 5}"), [](cameo_value&, Items&) {}), "has element type f64");
  cameo_value none = abi_output(runner.api(), 0);
  none.kind = CAMEO_KIND_NONE;
  contains(runner.run(std::vector{none, tensors[0].get(), tensors[1].get()}), "expected a sequence");
  EXPECT_EQ(said(value("seq{f32[1] = 5; f32[2] = 6 7}"), [](cameo_value&, Items&) {}), "");
}

/// With an optional of nothing, a map, strings and a list in a list; what is not as expected is said.
TEST(Lists, AreHeldByGoldenCases) {
  Build b;
  const ValueId s = b.input("s", sequence_of(Type(DType::f32, {any_extent()}))),
                o = b.input("o", Type::list(Kind::Optional, sequence_of(Type(DType::u8, {2})))),
                m = b.input("m", Type::list(Kind::Map, Type(DType::f32, {any_extent()}), DType::str)),
                x = b.input("x", Type(DType::f32, {2}));
  const Graph g = b.finish({{"more", b.op("SequenceInsert", {s, b.op("Exp", {x})})},
                            {"same", b.op("Identity", {o})},
                            {"map", b.op("Identity", {m})},
                            {"y", b.add(x, x)}});
  const Tensor map = value("map{str[2] = \"a\" \"\"; f32[2] = 1 2}"), pair = value("f32[2] = 1 2");
  const std::vector<GoldenCase> goldens{
      golden_case(g, "some", {value("seq{f32[1] = 5; f32[0] = }"), value("opt{seq{u8[2] = 1 2}}"), map, pair}),
      golden_case(g, "none", {value("seq{f32}"), value("opt{seq{u8}}"), map, pair})};
  EXPECT_EQ(goldens[0].tolerances.size(), 3u + 1 + 2 + 1);
  const auto with = [&](size_t output, const Tensor& expected) {
    std::vector<GoldenCase> wrong = goldens;
    wrong[0].outputs[output] = expected;
    wrong[0].tolerances.assign(tensors_of(expected).size() + 10, 0);
    wrong[0] = with_held(wrong[0]);
    return wrong;
  };
  const auto selftest = [&](const std::vector<GoldenCase>& cases) -> std::string {
    const auto path = std::filesystem::path(testing::TempDir()) / fmt::format("cameo_lists_{}.so", getpid());
    build_graph(g, path, {}, native_target(), cases);
    const LoadedArtifact artifact(path);
    std::filesystem::remove(path);
    cameo_error error{sizeof error, CAMEO_OK, -1, -1, {}};
    artifact.api().selftest(nullptr, nullptr, nullptr, &error);
    return error.message;
  };
  EXPECT_EQ(selftest(goldens), "");
  EXPECT_EQ(selftest(with(0, value("seq{f32[1] = 5; f32[0] = }"))),
            "case `some`: output 0 `more` has other items: seq(f32[?])");
  EXPECT_EQ(selftest(with(1, value("opt{seq{u8[2] = 1 3}}"))).find("case `some`: output 1 `same` differs"), 0u);
  EXPECT_EQ(
      selftest(with(2, value("map{str[2] = \"a\" \"b\"; f32[2] = 1 2}"))).find("case `some`: output 2 `map` differs"),
      0u);
}

TEST(Lists, AreNoStates) {
  Build b;
  const ValueId s = b.input("s", sequence_of(Type(DType::f32, {1})));
  const auto artifact = load_artifact(b.finish({{"t", b.op("Identity", {s})}}));
  cameo_model* model = nullptr;
  cameo_context* context = nullptr;
  artifact->api().model_create(nullptr, &model, nullptr);
  artifact->api().context_create(model, &context, nullptr);
  EXPECT_EQ(artifact->api().bind_state(context, 0, 0, nullptr), CAMEO_UNIMPLEMENTED);
  artifact->api().context_release(context);
  artifact->api().model_release(model);
}

}  // namespace
}  // namespace cameo::test
