// ONNX's SequenceProto, OptionalProto and MapProto against bytes that onnx 1.23 wrote, cut anywhere, and written again.
#include "tests/runtime/program/fixture.h"
#include "tests/support/list_files.h"

namespace rt::program {
namespace {

using namespace list_files;
using ListFiles = ProgramTest<programs::kTypes>;

const Io kTensor = {.name = "", .dtype = kF32, .rank = kAnyRank};
const int64_t kAny[] = {-1};
const Io kTexts = {.name = "", .kind = CAMEO_KIND_STRINGS, .dtype = kString, .rank = 1, .dims = kAny};
const Io kValues = {.name = "", .dtype = kF32, .rank = 1, .dims = kAny};
const Io kOfSequence = {.name = "s", .kind = CAMEO_KIND_SEQUENCE, .dtype = kU64, .of = &kTensor};
const Io kOfOptional = {.name = "o", .kind = CAMEO_KIND_OPTIONAL, .dtype = kU64, .of = &kOfSequence};
const Io kOfMap = {.name = "m", .kind = CAMEO_KIND_MAP, .dtype = kU64, .key = kI64, .of = &kValues};
const Io kOfMapOfStrings = {.name = "t", .kind = CAMEO_KIND_MAP, .dtype = kU64, .key = kString, .of = &kTexts};

std::string text_of(const Array& array) {
  if (!is_list(array)) {
    std::string text = array.type().text;
    for (int64_t i = 0; array.is_strings() && i < array.count(); ++i)
      text += " `" + std::string(array.texts()[i].data, array.texts()[i].size) + "`";
    if (array.is_strings()) return text;
    for (double v : numbers(array)) text += " " + std::to_string(static_cast<int>(2 * v));
    return text;
  }
  std::string text = "{";
  for (int64_t i = 0; i < array.item_count; ++i) text += (i ? "; " : "") + text_of(array.items[i]);
  return text + "}";
}

TEST_F(ListFiles, AreReadAndWritten) {
  struct Case {
    std::string file, text;
    Io io;
  };
  for (const auto& [file, text, io] :
       {Case{bytes_of(kSequence), "{f32[2] 2 4; f32[1,1] 6}", kOfSequence},
        Case{bytes_of(kOptional), "{{f32[2] 2 4; f32[1,1] 6}}", kOfOptional},
        Case{bytes_of(kMap), "{i64[2] 14 -2; f32[2] 1 18}", kOfMap}, Case{"", "{}", kOfSequence},
        Case{bytes_of(kMapOfStrings), "{str[2] `ab` ``; str[2] `c` `de`}", kOfMapOfStrings}}) {
    Array array, again;
    ASSERT_TRUE(read_list_pb(tool, io, slice_of(file), "x.pb", &array)) << tool.message;
    EXPECT_EQ(text_of(array), text);
    Text written(tool.arena);
    write_list_pb(tool, array, &written);
    ASSERT_TRUE(read_list_pb(tool, io, written.slice(), "again.pb", &again)) << tool.message;
    EXPECT_EQ(text_of(again), text);
    for (size_t size = 0; size < file.size(); ++size) {
      Tool fresh;
      const std::string cut = file.substr(0, size);
      const bool ok = read_list_pb(fresh, io, slice_of(cut), "cut.pb", &again);
      EXPECT_EQ(fresh.code, ok ? kOk : kBadData);
    }
  }
}

TEST_F(ListFiles, OfAnotherTypeAreRefused) {
  const auto said = [](const std::string& file, const Io& io) {
    Tool fresh;
    Array array;
    EXPECT_FALSE(read_list_pb(fresh, io, slice_of(file), "x.pb", &array));
    return std::string(fresh.message);
  };
  const int64_t any[] = {-1, -1};
  const Io integers = {.name = "", .dtype = kI64, .rank = kAnyRank},
           matrix = {.name = "", .dtype = kF32, .rank = 2, .dims = any};
  Io sequence = kOfSequence;
  sequence.of = &integers;
  EXPECT_NE(said(bytes_of(kSequence), sequence).find("holds f32[2] where the model takes i64[..]"), std::string::npos);
  sequence.of = &kOfMap;
  EXPECT_NE(said(bytes_of(kSequence), sequence).find("is no value of seq(map(i64, f32[?]))"), std::string::npos);
  EXPECT_NE(said(bytes_of(kMap), kOfSequence).find("is no value of seq(f32[..])"), std::string::npos);
  EXPECT_NE(said(bytes_of(kMapOfStrings), kOfMap).find("holds str[] where the model takes f32[..]"), std::string::npos);
  EXPECT_NE(said("no protobuf", kOfMap).find("is no value of map(i64, f32[?])"), std::string::npos);
  sequence.of = &matrix;
  EXPECT_NE(said(bytes_of(kSequence), sequence).find("holds f32[2]"), std::string::npos);
}

}  // namespace
}  // namespace rt::program
