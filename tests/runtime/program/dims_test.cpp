// Sizes that only a run knows, on the command line: by files, lists, raw bytes, pictures and `--dim`; what verbs print
// of them.
#include "tests/runtime/growing_program.h"
#include "tests/runtime/program/fixture.h"
#include "tests/runtime/sized_programs.h"

namespace programs {

// A picture of any size, on which nothing is computed; `b` and `h` have bounds, the width has none.
enum PicturePlace : int32_t { kPictureBatch, kPictureHeight, kPictureWidth };
inline const int64_t kPictureDims[] = {-1, 3, -1, -1}, kPictureMin[] = {1, 3, 1, 1}, kPictureMax[] = {4, 3, 8, -1};
inline const int32_t kPictureSizes[] = {kPictureBatch, -1, kPictureHeight, kPictureWidth};
inline const char* const kPictureNames[] = {"b", nullptr, "h", nullptr};
inline const Io kPictureInputs[] = {
    {"image", CAMEO_KIND_TENSOR, rt::kU8, 4, kPictureDims, kPictureMin, kPictureMax, kPictureSizes, kPictureNames}};
inline const rt::Symbol kPictureSymbols[] = {{"b", 1, 4}, {"h", 1, 8}, {"w", 1, -1}};
inline const Program kAnyPicture = {.name = "picture",
                                    .manifest = "{}",
                                    .manifest_bytes = 2,
                                    .inputs = kPictureInputs,
                                    .input_count = 1,
                                    .images = kTypesImages,
                                    .image_count = 1,
                                    .symbols = kPictureSymbols,
                                    .symbol_count = 3,
                                    .size_count = 3,
                                    .sizing = &rt::sizing};

inline const rt::Symbol kOddlyNamedSymbols[] = {{"b=atch", 1, 4}, {"b", 1, 8}, {"w", 1, -1}};
constexpr Program oddly_named() {
  Program p = kAnyPicture;
  p.symbols = kOddlyNamedSymbols;
  return p;
}
inline const Program kOddlyNamed = oddly_named();

}  // namespace programs

namespace rt::program {
namespace {

using BoundedProgram = ProgramTest<programs::kSized<false>>;
using OpenProgram = ProgramTest<programs::kSized<true>>;
using GrowingProgram = ProgramTest<programs::kGrowing<false>>;
using OpenGrowingProgram = ProgramTest<programs::kGrowing<true>>;
using AnyPicture = ProgramTest<programs::kAnyPicture>;
using OddlyNamed = ProgramTest<programs::kOddlyNamed>;
using Fixed = ProgramTest<programs::kLinear>;

const std::vector<std::string> kRun = {"run", "-i", "x=[[1,2,3],[4,5,6]]", "-i", "bias=[0.5,0,-1]", "-i", "mask=ones"};
constexpr char kFlat[] = "# flat f32[6]\n2.5 4 5 8.5 10 11\n";

std::vector<std::string> with(std::vector<std::string> arguments, const std::vector<std::string>& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST_F(BoundedProgram, RunTakesSizesFromLists) {
  const Result r = call(with(kRun, {"-o", "flat=text", "-o", "y=text"}));
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_EQ(r.out, kFlat + std::string("# y f32[2,3]\n2.5 4 5\n8.5 10 11\n"));
  EXPECT_EQ(r.err, "");
}

TEST_F(BoundedProgram, TheOrderOfTheArgumentsDoesNotMatter) {
  const Result r =
      call({"run", "-i", "mask=ones", "-i", "bias=[0.5,0,-1]", "-i", "x=2x3xf32=[1,2,3,4,5,6]", "-o", "flat=text"});
  EXPECT_EQ(r.out, kFlat) << r.err;
}

TEST_F(BoundedProgram, RunTakesSizesFromFiles) {
  file("x.bin", std::string(reinterpret_cast<const char*>(programs::kSizedX), 24));
  ASSERT_EQ(
      call(with(kRun, {"-o", "y=@" + path("y.npy"), "-o", "@" + path("all.npz"), "-o", "y=@" + path("y.pb")})).code, 0);
  for (const char* name : {"y.npy", "y.pb"}) {
    const Result r = call({"run", "-i", "x=@" + path(name), "-i", "bias=zeros", "-i", "mask=ones", "-o", "rows=text",
                           "-o", "columns=text"});
    EXPECT_EQ(r.out, "# rows i64[]\n2\n# columns f32[3]\n0 1 2\n") << name << r.err;
  }
  const Result raw =
      call({"run", "-i", "x=raw:" + path("x.bin"), "-i", "bias=[0.5,0,-1]", "-i", "mask=ones", "-o", "flat=text"});
  EXPECT_EQ(raw.code, 7) << "its n is bias's, which stands behind it";
  const Result order =
      call({"run", "-i", "bias=[0.5,0,-1]", "-i", "x=raw:" + path("x.bin"), "-i", "mask=ones", "-o", "flat=text"});
  EXPECT_EQ(order.out, kFlat) << order.err;
  EXPECT_EQ(call({"run", "--dim", "n=3", "-i", "x=raw:" + path("x.bin"), "-i", "bias=zeros", "-i", "mask=ones"}).code,
            0);
}

TEST_F(BoundedProgram, SaysWhatDoesNotFit) {
  const auto refused = [&](std::vector<std::string> more, const std::string& message, int code = 7) {
    const Result r = call(with({"run", "-i", "bias=zeros", "-i", "mask=ones"}, more));
    EXPECT_EQ(r.code, code) << message;
    EXPECT_TRUE(has(r.err, message)) << r.err;
  };
  file("x.bin", std::string(20, 'x'));
  refused({"-i", "x=raw:" + path("x.bin")},
          "`x` is f32[batch=1..4,n=0..5]: no one size is missing that makes the 20 bytes of `" + path("x.bin") +
              "` fit; `--dim NAME=N` says more");
  refused({"-i", "x=[1,2,3]"}, "`x` is f32[batch=1..4,n=0..5]: no one size is missing that makes the 3 elements");
  refused({"-i", "x=[1,2,3]", "--dim", "n=2"}, "no one size is missing");
  refused({"-i", "x=5x1xf32=[1,2,3,4,5]"},
          "`x`: `5x1xf32=[1,2,3,4,5]` has 5 in dim 0 (batch), which the model was built for 1 to 4");
  refused({"-i", "x=[[1,2],[3,4]]", "--dim", "n=3"},
          "`x`: `[[1,2],[3,4]]` has 2 in dim 1 (n), which is 3 by what else is given");
  refused({"-i", "x=[[1],[2]]", "-i", "mask=[1,1,1]"}, "`mask`: the model takes bool[2], the list is bool[3]");
  refused({"-i", "x=2xf32=[1,2]"}, "`x`: the model takes f32[batch=1..4,n=0..5], `2xf32=[1,2]` holds f32[2]");
  refused({"-i", "x=rand", "--dim", "batch=9"}, "`--dim batch=9`: the model was built for 1 to 4", 2);
  refused({"-i", "x=rand", "--dim", "rows=2"},
          "`--dim rows=2`: no input has a size of that name; there are `batch`, `n`", 2);
  refused({"-i", "x=rand", "--dim", "n"}, "`--dim n`: the model was built for 0 to 5", 2);
  const Result missing = call({"run"});
  EXPECT_TRUE(has(missing.err, "input `x`, f32[batch=1..4,n=0..5], has no value")) << missing.err;
}

const std::vector<std::string> kStep = {"run", "--state",   "present=past", "-i",         "x=[[2],[3]]",
                                        "-i",  "mask=ones", "-o",           "total=text", "--steps"};

TEST_F(GrowingProgram, MadeValuesHaveTheSizesOfTheirStep) {
  const Result r = call(with(kStep, {"4", "-o", "present=text"}));
  EXPECT_EQ(r.out, "# total f32[2]\n8 12\n# present f32[2,4]\n2 2 2 2\n3 3 3 3\n") << r.err;
  EXPECT_EQ(r.err, "note: past=0, the least; `--dim NAME=N` says another size\n") << "once";
  const Result begun = call(with(kStep, {"2", "-i", "past=[[1],[1]]", "-o", "present=text"}));
  EXPECT_EQ(begun.out, "# total f32[2]\n5 7\n# present f32[2,3]\n1 2 2\n1 3 3\n") << begun.err;
  const Result zeros = call(with(kStep, {"1", "-i", "past=zeros", "--dim", "past=2", "-o", "present=text"}));
  EXPECT_EQ(zeros.out, "# total f32[2]\n2 3\n# present f32[2,3]\n0 0 2\n0 0 3\n") << zeros.err;
  const Result full = call(with(kStep, {"7"}));
  EXPECT_EQ(full.code, 7);
  EXPECT_TRUE(has(full.err, "input 0 `past` has 6 in dim 1 (past), which the model was built for 0 to 5")) << full.err;
}

TEST_F(OpenGrowingProgram, ValuesWithDimsOfTheirOwnFitOneStep) {
  const Result r = call({"run", "--state", "0=past", "-i", "x=[[2]]", "-i", "mask=[1]", "--steps", "2"});
  EXPECT_EQ(r.code, 7);
  EXPECT_TRUE(has(r.err, "input 2 `mask` has 1 in dim 0 (past + 1), which must be 2 at the sizes of the other dims"))
      << r.err;
}

TEST_F(BoundedProgram, WhatNothingSaysIsTheLeast) {
  const Result r =
      call({"run", "-i", "x=rand", "-i", "bias=rand", "-i", "mask=ones", "--dim", "n=2", "-o", "columns=text"});
  EXPECT_EQ(r.out, "# columns f32[2]\n0 1\n") << r.err;
  EXPECT_EQ(r.err, "note: batch=1, the least; `--dim NAME=N` says another size\n");
}

TEST_F(BoundedProgram, BenchAndProfileSayTheirSizes) {
  const Result r = call({"bench", "--runs", "3", "--dim=batch=4", "--dim=n=5", "--threads=1"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(has(r.out, "sized on baseline, 1 thread, batch=4, n=5, clock CLOCK_MONOTONIC\n")) << r.out;
  EXPECT_FALSE(has(r.err, "the least"));
  const Result least = call({"bench", "--runs", "3", "--json"});
  EXPECT_TRUE(has(least.err, "note: batch=1, n=0, the least; `--dim NAME=N` says another size\n")) << least.err;
  EXPECT_TRUE(has(least.out, ",\"sizes\":{\"batch\":1,\"n\":0},\"threads\":")) << least.out;
  const Result profile = call({"profile", "--runs", "3", "--json", "--dim", "n=1", "--dim", "batch=2"});
  EXPECT_TRUE(has(profile.out, ",\"sizes\":{\"batch\":2,\"n\":1},\"peak\":{")) << profile.out;
}

TEST_F(BoundedProgram, InspectShowsBoundsAndNames) {
  const Result r = call({"inspect"});
  EXPECT_TRUE(has(r.out, "  0  x  f32[batch=1..4,n=0..5]\n")) << r.out;
  EXPECT_TRUE(has(r.out, "  1  flat  f32[batch*n=0..20]\n")) << r.out;
  const Result json = call({"inspect", "--json"});
  EXPECT_TRUE(
      has(json.out,
          "{\"name\":\"x\",\"dtype\":\"f32\",\"shape\":[-1,-1],\"dim_min\":[1,0],\"dim_max\":[4,5],\"dim_names\":"
          "[\"batch\",\"n\"]}"))
      << json.out;
  EXPECT_TRUE(has(json.out, "{\"name\":\"rows\",\"dtype\":\"i64\",\"shape\":[]}")) << json.out;
  EXPECT_TRUE(has(call({}).out, "  ./m.so run --dim batch=1 --dim n=0 -i x=rand -i bias=rand -i mask=zeros\n"))
      << call({}).out;
}

TEST_F(OpenProgram, InspectShowsThatASizeIsOpen) {
  EXPECT_TRUE(has(call({"inspect"}).out, "  1  bias  f32[n=0..]\n"));
  EXPECT_TRUE(has(call({"inspect", "--json"}).out, "\"dim_max\":[4,-1]"));
}

TEST_F(BoundedProgram, TestRunsTheEmbeddedCasesAtTheirSizes) {
  const Result r = call({"test"});
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_TRUE(has(r.out, "case_0\n  PASS  y f32[2,3]  max error 0 ")) << r.out;
  EXPECT_TRUE(has(r.out, "  PASS  flat f32[6]  max error 0 ")) << r.out;
}

struct SizedFolders : OpenProgram {
  // y = 2 * x + bias of a run with every x 1 and every bias 2
  void write_case(const std::string& name, int64_t batch, int64_t n, double y) {
    const auto write = [&](const std::string& value, const Io& io, std::vector<int64_t> dims, double number) {
      Array array = array_of(io);
      Text text(tool.arena);
      std::copy(dims.begin(), dims.end(), array.dims);
      ASSERT_TRUE(allocate(tool, &array, "x"));
      for (int64_t i = 0; i < array.count(); ++i) set_number(array.dtype, array.data, i, number);
      write_pb(array, &text);
      file(name + "/" + value, string_of(text.slice()));
    };
    write("input_0.pb", program.inputs[0], {batch, n}, 1);
    write("input_1.pb", program.inputs[1], {n}, 2);
    write("input_2.pb", program.inputs[2], {batch * n}, 1);
    write("output_0.pb", program.outputs[0], {batch, n}, y);
    write("output_1.pb", program.outputs[1], {batch * n}, y);
  }
};

TEST_F(SizedFolders, EachHasItsOwnSizes) {
  write_case("data/test_data_set_0", 1, 40, 4);
  write_case("data/test_data_set_1", 4, 7, 4);
  const Result r = call({"test", path("data")});
  EXPECT_EQ(r.code, 0) << r.out << r.err;
  EXPECT_TRUE(has(r.out, "  PASS  y f32[1,40]  max error 0 ")) << r.out;
  EXPECT_TRUE(has(r.out, "  PASS  flat f32[28]  max error 0 ")) << r.out;
  EXPECT_TRUE(has(r.out, "4 of 4 outputs in 2 cases passed\n")) << r.out;
}

TEST_F(SizedFolders, ExpectedOutputsHaveTheSizesOfTheInputs) {
  write_case("data", 2, 3, 4);
  write_case("other", 2, 4, 4);
  std::filesystem::copy_file(folder / "other/output_1.pb", folder / "data/output_1.pb",
                             std::filesystem::copy_options::overwrite_existing);
  const Result r = call({"test", path("data")});
  EXPECT_EQ(r.code, 7);
  EXPECT_TRUE(has(r.err, "has 8 in dim 0 (batch*n), which is 6 by what else is given")) << r.err;
}

TEST_F(OpenProgram, ALongFileIsReadWhole) {
  file("bias.bin", std::string(4 << 20, '\0'));
  const Result r = call({"run", "--dim", "batch=1", "-i", "bias=raw:" + path("bias.bin"), "-i", "x=ones", "-i",
                         "mask=ones", "-o", "rows=text"});
  EXPECT_EQ(r.out, "# rows i64[]\n1\n") << r.err;
  const Result endless = call({"run", "-i", "bias=raw:/dev/zero"});
  EXPECT_EQ(endless.code, 7);
  EXPECT_TRUE(has(endless.err, "what has no size is read no further")) << endless.err;
}

TEST_F(AnyPicture, APictureSaysItsRowsAndColumns) {
  const std::string picture = file("p.ppm", "P6\n3 2\n255\n" + std::string("abcdefghijklmnopqr"));
  const Array image = input("@" + picture, 0);
  ASSERT_TRUE(image.data) << tool.message;
  EXPECT_EQ(std::vector<int64_t>(image.dims, image.dims + 4), (std::vector<int64_t>{1, 3, 2, 3}));
  EXPECT_EQ(image.data[0], 'a');
  EXPECT_EQ(image.data[6], 'b') << "the second channel";
}

TEST_F(AnyPicture, ItMustBeWithinTheBounds) {
  const std::string picture = file("p.ppm", "P6\n3 2\n255\n" + std::string("abcdefghijklmnopqr"));
  EXPECT_TRUE(has(refusal("@" + picture + ",resize=3x20"), "has 20 in dim 2 (h), which the model was built for 1 to 8"))
      << tool.message;
}

TEST_F(OddlyNamed, TheLastEqualsSignEndsAName) {
  const auto said = [&](const char* dim) { return call({"run", "-i", "image=rand", "--dim", dim}).err; };
  EXPECT_TRUE(has(said("b=atch=9"), "`--dim b=atch=9`: the model was built for 1 to 4"));
  EXPECT_TRUE(has(said("b=9"), "`--dim b=9`: the model was built for 1 to 8"));
  EXPECT_FALSE(has(said("b=atch=4"), "`--dim b=atch"));
}

TEST_F(Fixed, AModelOfFixedSizesTakesNone) {
  const Result r = call({"run", "-i", "x=rand", "--dim", "batch=2"});
  EXPECT_EQ(r.code, 2);
  EXPECT_EQ(r.err, "error: `--dim batch=2`: no input has a size of that name\n");
}

}  // namespace
}  // namespace rt::program
