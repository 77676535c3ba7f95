// Outputs of `build`: over none of its inputs, under any name, and nothing left behind where one cannot be written.
#include "tests/cli/program.h"
#include "tests/frontend/import/onnx_writer.h"

namespace cameo {
namespace {

using Outputs = CliTest;

TEST_F(Outputs, AnOutputThatCannotBeWrittenEndsBeforeTheWork) {
  const Ended e = cameo({"build", digits_, "-o", "no_such_folder/a.so"});
  EXPECT_EQ(e.code, 2);
  EXPECT_TRUE(has(e.err, "error[E0602]"));
  EXPECT_EQ(files(), Words{});
}

TEST_F(Outputs, NothingThatItReadsIsOverwritten) {
  using namespace onnx_text;
  GraphText g;
  g.inputs = {value("x", 1, {3})};
  g.outputs = {value("y", 1, {3})};
  g.initializers = {external("w", {3}, "model.data")};
  g.nodes = {node("Mul", {"x", "w"}, {"y"})};
  write("model.onnx", model(g));
  write("model.data", std::string(12, '\0'));
  write("other.onnx", small_model());
  const std::string custom = CAMEO_SOURCE_DIR "/models/custom/requant_shift.cpp";
  fs::copy(custom, folder_ / "mine.cpp");
  ASSERT_EQ(cameo({"build", "model.onnx", "-o", "src/"}).code, 0);
  write("src/model.onnx", small_model());
  write("choices", "");
  const auto before = contents();
  const std::pair<Words, const char*> wrong[] = {
      {{"model.onnx", "-o", "model.data"}, "`-o model.data` would overwrite `model.data`, which the build reads"},
      {{"model.onnx", "--emit=so", "-o", "other.onnx"}, "`-o other.onnx` would overwrite a model"},
      {{"model.onnx", "-o", "mine.cpp", "--custom=mine.cpp"}, "`-o mine.cpp` would overwrite `mine.cpp`, which"},
      {{"model.onnx", "-o", "choices", "--tune-lock=choices"}, "`-o choices` would overwrite `choices`, which"},
      {{"src/model.onnx", "-o", "src/"}, "`-o src/` would replace the folder that has the model"}};
  for (const auto& [flags, why] : wrong) {
    Words words = {"build"};
    words.insert(words.end(), flags.begin(), flags.end());
    const Ended e = cameo(words);
    EXPECT_EQ(e.code, 2) << testing::PrintToString(flags) << e.err;
    EXPECT_TRUE(has(e.err, why));
  }
  EXPECT_TRUE(contents() == before);
}

TEST_F(Outputs, ALockIsNoOutputAndInNoFolderOfOne) {
  fs::create_directory(folder_ / "src");
  const std::pair<Words, const char*> wrong[] = {
      {{"-o", "z.lock", "--emit=so"}, "`-o z.lock` would overwrite the lock, `z.lock`"},
      {{"-o", "src/", "--tune-lock=src/z.lock"}, "`-o src/` would replace the folder that has the lock, `src/z.lock`"},
      {{"-o", "z.so", "--weights=file", "--tune-lock=z.weights"}, "`--weights z.weights` would overwrite the lock"},
      {{"-o", "z.a", "--tune-lock=z.h"}, "`the header of -o z.h` would overwrite the lock"}};
  for (const auto& [flags, why] : wrong) {
    Words words = {"build", digits_, "--mode=max-autotune", "--budget=1000s"};
    words.insert(words.end(), flags.begin(), flags.end());
    const Ended e = cameo(words);
    EXPECT_EQ(e.code, 2) << testing::PrintToString(flags) << e.err;
    EXPECT_TRUE(has(e.err, why));
  }
  EXPECT_EQ(files(), Words{"src"});
}

TEST_F(Outputs, AHeaderOfOnesOwnIsLeftAlone) {
  write("digits.h", "#define DIGITS 10\n");
  for (const char* name : {"digits.o", "libdigits.a"}) {
    const Ended e = cameo({"build", digits_, "-o", name});
    EXPECT_EQ(e.code, 2) << e.err;
    EXPECT_TRUE(has(e.err, "cannot write the header `digits.h`: it is there already, and was not written by cameo"));
  }
  EXPECT_EQ(read("digits.h"), "#define DIGITS 10\n");
  EXPECT_EQ(files(), Words{"digits.h"});
  for (int i = 0; i < 2; ++i)  // cameo's own is replaced
    EXPECT_EQ(cameo({"build", digits_, "-o", "digits.o", "--name=mine", "--target=cpu:x86-64-v2"}).code, 0);
}

TEST_F(Outputs, NamesOfDimsDoNotEndTheCommentOfAHeader) {
  using namespace onnx_text;
  GraphText g;
  g.inputs = {value("x", 1, {"a*/b"})};
  g.outputs = {value("y", 1, {"a*/b"})};
  g.nodes = {node("Relu", {"x"}, {"y"})};
  ASSERT_EQ(cameo({"build", write("dims.onnx", model(g)), "-o", "dims.o", "--target=cpu:x86-64-v2"}).code, 0);
  const std::string header = read("dims.h");
  EXPECT_TRUE(has(header.substr(0, header.find("*/")), "output 0: y f32[a*<2f>b]")) << header.substr(0, 300);
}

TEST_F(Outputs, NamesOfOutputsMayHaveAllTheirBytes) {
  constexpr size_t kMost = 255;
  for (const std::string& ending : {std::string(".so"), std::string("/"), std::string()}) {
    const std::string name = std::string(kMost - (ending == "/" ? 0 : ending.size()), 'x') + ending;
    const Ended e = cameo({"build", digits_, "-o", name, "--target=cpu:x86-64-v2"});
    ASSERT_EQ(e.code, 0) << e.err;
    EXPECT_TRUE(fs::exists(folder_ / name));
    fs::remove_all(folder_ / name.substr(0, kMost));
  }
  const Ended beyond = cameo({"build", digits_, "-o", std::string(kMost + 1, 'x'), "--time"});
  EXPECT_EQ(beyond.code, 2);
  EXPECT_TRUE(has(beyond.err, "File name too long"));
  EXPECT_FALSE(has(beyond.err, "import")) << "it was asked first";
  EXPECT_EQ(files(), Words{});
}

TEST_F(Outputs, ALibraryMayHaveAVersion) {
  const Ended e = cameo({"build", digits_, "-o", "libdigits.so.1.2", "--weights=file"});
  ASSERT_EQ(e.code, 0) << e.err;
  EXPECT_TRUE(has(e.out, "exports digits_api"));
  EXPECT_EQ(files(), (Words{"libdigits.so.1.2", "libdigits.so.1.2.weights"}));
  EXPECT_TRUE(!is_there("readelf") || has(run("readelf", {"-d", "libdigits.so.1.2"}).out, "[libdigits.so.1.2]"));
  EXPECT_EQ(run(path("libdigits.so.1.2"), {"test", golden_}).code, 0);
  EXPECT_FALSE(has(cameo({"build", digits_, "-o", "digits.so.1a"}).out, "exports")) << "a program";
}

}  // namespace
}  // namespace cameo
