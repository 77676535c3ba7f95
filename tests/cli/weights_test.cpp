// `--weights=file`: artifacts of code alone, and the file that they map; where it is found, who shares it, what is said
// of one that does not fit.
#include "tests/cli/program.h"
#include "tests/frontend/import/onnx_writer.h"

namespace cameo {
namespace {

class Weights : public CliTest {
 protected:
  Ended build(const std::string& output, const std::string& weights, Words more = {}) {
    Words words = {"build", digits_, "-o", output, "--weights=" + weights};
    words.insert(words.end(), more.begin(), more.end());
    return cameo(words);
  }
  testing::AssertionResult works(const fs::path& program, Words more = {}) {
    more.insert(more.begin(), {"test", golden_});
    const Ended e = run(program, more);
    if (e.code == 0 && e.err.empty()) return testing::AssertionSuccess();
    return testing::AssertionFailure() << e.code << e.out << e.err;
  }
  testing::AssertionResult fails(const fs::path& program, int code, const std::string& sentence, Words words = {}) {
    const Ended e = run(program, words.empty() ? Words{"test", golden_} : words);
    return e.code == code ? has(e.err, sentence) : testing::AssertionFailure() << e.code << e.out << e.err;
  }
  void damage(const std::string& file) {
    std::string bytes = read(file);
    bytes.back() ^= 1;
    write(file, bytes);
  }
};

TEST_F(Weights, LieBesideTheArtifact) {
  ASSERT_EQ(cameo({"build", digits_, "-o", "inside.so"}).code, 0);
  const Ended e = build("digits.so", "file", {"--json"});
  ASSERT_EQ(e.code, 0) << e.err;
  EXPECT_EQ(e.json()["weights"], "digits.weights");
  EXPECT_EQ(e.json()["weights_bytes"], fs::file_size(path("digits.weights")));
  EXPECT_LT(fs::file_size(path("digits.so")) + 20'000, fs::file_size(path("inside.so")));
  EXPECT_TRUE(works(path("digits.so")));
  EXPECT_TRUE(works("./digits.so"));
  fs::create_directory(folder_ / "elsewhere");
  fs::create_symlink("../digits.so", folder_ / "elsewhere/link.so");
  EXPECT_TRUE(works(path("elsewhere/link.so"))) << "beside what the link leads to";
  EXPECT_EQ(cameo({"test", "digits.so", golden_}).code, 0);

  for (const char* file : {"digits.so", "digits.weights"}) fs::rename(folder_ / file, folder_ / "elsewhere" / file);
  EXPECT_TRUE(works(path("elsewhere/digits.so"))) << "they are moved together";
  fs::rename(folder_ / "elsewhere/digits.weights", folder_ / "w");
  EXPECT_TRUE(fails(path("elsewhere/digits.so"), 7, "elsewhere/digits.weights`: No such file or directory"));
  for (const char* verb : {"test", "bench", "profile"})
    EXPECT_EQ(run(path("elsewhere/digits.so"), {verb, "--weights", "w", "--json"}).json()["exit_code"],
              verb == std::string("test") ? 2 : 0);  // there are no golden cases
  EXPECT_TRUE(works(path("elsewhere/digits.so"), {"--weights", "w"}));
}

TEST_F(Weights, OfEveryKindOfOutput) {
  EXPECT_EQ(build("digits-1.2", "file", {"--golden=random:1"}).code, 0);
  EXPECT_TRUE(works(path("digits-1.2")));
  EXPECT_EQ(run(path("digits-1.2"), {"test"}).code, 0);
  EXPECT_EQ(build("libdigits.a", "file").code, 0);
  EXPECT_EQ(build("digits.o", "file").code, 0);
  EXPECT_EQ(files(), (Words{"digits-1.2", "digits-1.2.weights", "digits.h", "digits.o", "digits.weights", "libdigits.a",
                            "libdigits.weights"}));
}

TEST_F(Weights, LieBesideSources) {
  ASSERT_EQ(build("sources/", "file").code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "sources/weights.bin"));
  ASSERT_EQ(run("make", {"-s", "-C", "sources", "CXXFLAGS=-O0", "sources.so"}).code, 0);
  EXPECT_TRUE(works(path("sources/sources.so")));
  if (std::system("command -v cmake >/dev/null") == 0) {
    EXPECT_EQ(run("cmake", {"-S", "sources", "-B", "built"}).code, 0);
    EXPECT_TRUE(read("built/sources.weights") == read("sources/sources.weights"));
  }

  ASSERT_EQ(build("sources/", "file:w/x.weights").code, 2) << "there is no such folder";
  fs::create_directory(folder_ / "w");
  ASSERT_EQ(build("sources/", "file:w/x.weights").code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "sources/sources.weights"));
  EXPECT_TRUE(has(read("sources/program.cpp"), "\"../w/x.weights\""));
}

TEST_F(Weights, OneFileIsSharedByArtifacts) {
  ASSERT_EQ(build("a.so", "file:shared.weights", {"--target=cpu:x86-64-v3", "--mode=size"}).code, 0);
  const auto written = fs::last_write_time(folder_ / "shared.weights");
  const Ended e = build("b.so", "file:shared.weights", {"--target=cpu:x86-64-v2,x86-64-v3", "--mode=size"});
  ASSERT_EQ(e.code, 0) << e.err;
  EXPECT_EQ(e.err, "note: `shared.weights` has these weights already, and is kept\n");
  EXPECT_EQ(fs::last_write_time(folder_ / "shared.weights"), written);
  EXPECT_TRUE(works(path("a.so")));
  EXPECT_TRUE(works(path("b.so")));

  damage("shared.weights");
  EXPECT_TRUE(
      has(build("c.so", "file:shared.weights", {"--target=cpu:x86-64-v3", "--mode=size"}).err, "had other weights"))
      << "a damaged one is written anew";
  EXPECT_TRUE(works(path("a.so")));
}

TEST_F(Weights, OfAnotherModelAreRefusedAndReplaced) {
  ASSERT_EQ(build("a.so", "file:x.weights").code, 0);
  const Ended e =
      cameo({"build", write("small.onnx", small_model()), "-o", "b.so", "--dim", "n=2", "--weights=file:x.weights"});
  ASSERT_EQ(e.code, 0) << e.err;
  EXPECT_EQ(e.err, "note: `x.weights` had other weights; what was built with those needs its own file\n");
  EXPECT_EQ(run(path("b.so"), {"run", "-i", "x=iota"}).code, 0);
  EXPECT_TRUE(fails(path("a.so"), 7, "x.weights` holds other weights (hash "));
  const Ended inspect = run(path("a.so"), {"inspect", "--json"});
  EXPECT_EQ(inspect.code, 0) << "whoever looks is told";
  EXPECT_TRUE(has(inspect.json()["weights_file"]["why_not"].get<std::string>(), "holds other weights"));
  EXPECT_TRUE(has(run(path("a.so"), {"inspect"}).out, "in no file that fits: `" + path("x.weights") + "` holds other"));
}

TEST_F(Weights, AreVerifiedByInspect) {
  ASSERT_EQ(build("a.so", "file").code, 0);
  EXPECT_TRUE(has(run(path("a.so"), {"inspect"}).out, "in `" + path("a.weights") + "`, which fits\n"));
  EXPECT_TRUE(has(run(path("a.so"), {"inspect", "--verify"}).out, "a.weights`, undamaged\n"));
  const auto file = run(path("a.so"), {"inspect", "--json"}).json();
  EXPECT_EQ(file["weights_file"]["name"], "a.weights");
  EXPECT_EQ(file["weights_file"]["path"], path("a.weights"));
  EXPECT_EQ(file["weights_file"]["hash"], file["manifest"]["weights_file"]["hash"]);
  damage("a.weights");
  EXPECT_EQ(run(path("a.so"), {"inspect"}).code, 0);
  EXPECT_TRUE(
      fails(path("a.so"), 7, "the weights in `" + path("a.weights") + "` are damaged", {"inspect", "--verify"}));
  EXPECT_EQ(run(path("a.so"), {"inspect", "--verify", "--json"}).json()["exit_code"], 7);
}

TEST_F(Weights, AreWrittenOverNothingElse) {
  const std::string model = read(write("model.onnx", small_model()));
  EXPECT_EQ(build("a.so", "file:model.onnx").code, 2);
  EXPECT_EQ(read("model.onnx"), model);
  EXPECT_TRUE(has(build("a.so", "file:" + golden_).err, "it is there already, and no file of weights"));
  EXPECT_EQ(build("a.so", "file:a.so").code, 2);
  EXPECT_EQ(build("a.weights", "file:a.weights").code, 2);
  EXPECT_EQ(build("a.so", "file:no/such/folder").code, 2);
  const Ended header = build("x.a", "file:x.h");
  EXPECT_EQ(header.code, 2);
  EXPECT_TRUE(has(header.err, "`--weights` and `the header of -o` are one file, `x.h`"));
  for (const char* name : {"program.cpp", "runtime/program.h", ".cameo"}) {
    const Ended e = build("src/", std::string("file:src/") + name);
    EXPECT_EQ(e.code, 2) << name;
    EXPECT_TRUE(has(e.err, std::string("src/") + name + "`: a file of the sources has that name"));
  }
  EXPECT_EQ(build("src/", "file:src").code, 2);
  EXPECT_EQ(files(), Words{"model.onnx"});
}

TEST_F(Weights, ThatAreNotInAFileNeedNone) {
  ASSERT_EQ(build("a.so", "embed").code, 0);
  EXPECT_EQ(files(), Words{"a.so"});
  for (const Words& flags : {Words{"test", golden_, "--weights", "x"}, Words{"inspect", "--weights", "x"}})
    EXPECT_TRUE(fails(path("a.so"), 2,
                      "the weights are inside of this artifact; `--weights` is for those of "
                      "`--weights=file`",
                      flags));
  EXPECT_TRUE(fails(path("a.so"), 2, "`--verify` is for", {"inspect", "--verify"}));
  for (const char* wrong : {"files", "file:", "filet", "random", "random:x"})
    EXPECT_TRUE(has(build("b.so", wrong).err, "is not embed, file, file:PATH or random:SEED")) << wrong;

  onnx_text::GraphText g;
  g.inputs = {onnx_text::value("x", 1, {3})};
  g.outputs = {onnx_text::value("y", 1, {3})};
  g.nodes = {onnx_text::node("Relu", {"x"}, {"y"})};
  ASSERT_EQ(cameo({"build", write("relu.onnx", onnx_text::model(g)), "-o", "relu.so", "--weights=file"}).code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "relu.weights")) << "a model without weights";
  EXPECT_EQ(run(path("relu.so"), {"run", "-i", "x=iota"}).code, 0);
}

TEST_F(Weights, GoToAGpuFromTheirFile) {
  ASSERT_EQ(build("gpu.so", "file", {"--target=cuda:host,cpu"}).code, 0);
  const RunOptions mock = {.folder = folder_, .variables = {"LD_LIBRARY_PATH=" CAMEO_BINARY_DIR "/mock"}};
  for (const char* device : {"--device=cuda:0", "--device=cpu"}) {
    const Ended e = run_program(path("gpu.so"), {"test", golden_, device}, mock);
    EXPECT_EQ(e.code, 0) << e.out << e.err;
  }
  fs::remove(folder_ / "gpu.weights");
  const Ended e = run_program(path("gpu.so"), {"test", golden_, "--device=cuda:0"}, mock);
  EXPECT_EQ(e.code, 7) << e.out << e.err;
}

}  // namespace
}  // namespace cameo
