// Values of test data that are no tensors, against bytes that onnx 1.23 wrote, whole and cut anywhere; and what the
// importer says of inputs of such types.
#include <gtest/gtest.h>

#include "frontend/import/import_onnx.h"
#include "tests/frontend/import/onnx_writer.h"
#include "tests/support/list_files.h"

namespace cameo {
namespace {
using namespace onnx_text;
using namespace list_files;

template <size_t N>
std::span<const std::byte> bytes_of(const unsigned char (&file)[N]) {
  return std::as_bytes(std::span(file));
}

Type unranked() {
  Type t(DType::f32, {});
  t.ranked = false;
  return t;
}
const Type kOfSequence = Type::list(Kind::Sequence, unranked()), kOfOptional = Type::list(Kind::Optional, kOfSequence),
           kOfMap = Type::list(Kind::Map, Type(DType::f32, {any_extent()}), DType::i64),
           kOfMapOfStrings = Type::list(Kind::Map, Type(DType::str, {any_extent()}), DType::str);
const Tensor kItems = Tensor::of_items({floats({2}, {1, 2}), floats({1, 1}, {3})});

TEST(ImportLists, ReadsWhatOnnxWrote) {
  EXPECT_EQ(value_from_pb(bytes_of(kSequence), kOfSequence).tensor, kItems);
  EXPECT_EQ(value_from_pb(bytes_of(kSequence), kOfSequence).name, "s");
  EXPECT_EQ(value_from_pb(bytes_of(kOptional), kOfOptional).tensor, Tensor::of_items({kItems}));
  const int64_t keys[] = {7, -1};
  EXPECT_EQ(value_from_pb(bytes_of(kMap), kOfMap).tensor,
            Tensor::of_items({Tensor::i64({2}, keys), floats({2}, {0.5, 9})}));
  const std::string of_strings[][2] = {{"ab", ""}, {"c", "de"}};
  EXPECT_EQ(value_from_pb(bytes_of(kMapOfStrings), kOfMapOfStrings).tensor,
            Tensor::of_items({Tensor::of_strings({2}, of_strings[0]), Tensor::of_strings({2}, of_strings[1])}));
  EXPECT_EQ(value_from_pb({}, kOfSequence).tensor, Tensor::of_items({}));
}

TEST(ImportLists, AreRefusedOrReadWhereverTheyAreCut) {
  const auto cut = [](std::span<const std::byte> file, const Type& type) {
    int refused = 0;
    for (size_t size = 0; size < file.size(); ++size) try {
        EXPECT_TRUE(value_from_pb(file.first(size), type).tensor.is_list());
      } catch (const CompileError&) { ++refused; }
    EXPECT_GT(refused, 10);
  };
  cut(bytes_of(kSequence), kOfSequence);
  cut(bytes_of(kOptional), kOfOptional);
  cut(bytes_of(kMap), kOfMap);
  cut(bytes_of(kMapOfStrings), kOfMapOfStrings);
  EXPECT_THROW((void)value_from_pb(bytes_of(kMap), kOfSequence), CompileError);
  EXPECT_THROW((void)value_from_pb(bytes_of(kSequence), kOfOptional), CompileError);
}

/// A model of one node with an input of this type.
Result model_of(const Bytes& type, const Bytes& made, const ImportOptions& options = {}) {
  return import(model(GraphText{{made}, {bytes(1, "x") + bytes(2, type)}, {value("y")}}), options);
}
Bytes sequence_type(const Bytes& element) { return bytes(4, bytes(1, element)); }

TEST(ImportLists, TakesTheDimsOfElementsFromFlags) {
  const Bytes any = sequence_type(bytes(1, number(1, 1)));
  const Bytes first = node("SequenceAt", {"x", "i"}, {"y"});
  const auto at = [&](const ImportOptions& options) {
    return import(
        model(GraphText{{first}, {bytes(1, "x") + bytes(2, any)}, {value("y")}, {tensor<int64_t>("i", 7, {}, {0})}}),
        options);
  };
  EXPECT_EQ(at({}).codes(), "E0404");
  const Result ranked = at({.shapes = {{"x", {2, SizeRange(Interval{0, kOpen})}}}});
  EXPECT_EQ(ranked.text(), "");
  EXPECT_EQ(to_string(ranked.model.graph.type(ranked.model.graph.inputs()[0])), "seq(f32[2x?])");
  const Bytes matrices = sequence_type(type(1, {2, 3}));
  EXPECT_EQ(model_of(matrices, node("SequenceLength", {"x"}, {"y"}), {.shapes = {{"x", {3, 3}}}}).codes(), "E0503");
  EXPECT_EQ(model_of(matrices, node("SequenceLength", {"x"}, {"y"}), {.shapes = {{"x", {2, 3}}}}).text(), "");
}

TEST(ImportLists, PartsOfOneLengthHaveIt) {  // as loops over the rows of a tensor are exported
  constexpr int kFloat = 1, kInt64 = 7;
  const Bytes m = model(GraphText{
      {node("Shape", {"x"}, {"rows"}, {attr("end", int64_t{1})}),
       node("ConstantOfShape", {"rows"}, {"lengths"}, {attr_tensor("value", tensor<int64_t>("", kInt64, {1}, {1}))}),
       node("SplitToSequence", {"x", "lengths"}, {"list"}), node("SequenceAt", {"list", "at"}, {"y"})},
      {value("x", kFloat, {-1, 2}), value("at", kInt64, std::vector<AnyDim>{})},
      {value("y")}});
  Result r = import(m, {.ranges = {{"x[0]", {1, 9}}}});
  EXPECT_EQ(r.codes(), "") << r.text();
  EXPECT_EQ(to_string(r.model.graph.type(r.model.graph.outputs()[0].value)), "f32[1x2]");
}

}  // namespace
}  // namespace cameo
