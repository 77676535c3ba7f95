// `build -o DIR/`: sources that g++ and clang build without cameo.
#include <algorithm>
#include <sstream>

#include "tests/cli/program.h"
#include "tests/frontend/import/onnx_writer.h"

namespace cameo {
namespace {

class Sources : public CliTest {
 protected:
  void SetUp() override {
    for (const char* tool : {"g++", "make"})
      if (!is_there(tool)) GTEST_SKIP() << "no " << tool;
    ASSERT_EQ(cameo({"build", digits_, "-o", "sources/", "--name=digits", "--golden=" + golden_,
                     "--target=cpu:x86-64-v2,x86-64-v3"})
                  .code,
              0);
  }
  static constexpr const char *kV2 = "objects/kernels_x86_64_v2_0.o", *kV3 = "objects/kernels_x86_64_v3_0.o";
  /// The names of which the linker takes one copy from all files.
  Words shared_functions(const std::string& object) {
    std::istringstream lines(run("nm", {"sources/" + object}).out);
    Words names;
    for (std::string line; std::getline(lines, line);)
      for (const char* kind : {" W ", " V ", " u "})
        if (const size_t at = line.find(kind); at != std::string::npos) names.push_back(line.substr(at + 3));
    return names;
  }
  Ended make(Words arguments) {
    arguments.insert(arguments.begin(), {"-C", "sources", "-j2", "-s"});
    return run("make", arguments);
  }
};

TEST_F(Sources, GccBuildsALibraryThatIsAProgram) {
  const Ended built = make({"CXX=g++"});
  ASSERT_EQ(built.code, 0) << built.err;
  EXPECT_EQ(built.err, "");  // no warnings either
  const Ended e = run(path("sources/digits.so"), {"test"});
  EXPECT_EQ(e.code, 0) << e.out << e.err;
  EXPECT_EQ(run(path("sources/digits.so"), {"test", golden_}).code, 0);
  ASSERT_EQ(make({"CXX=g++", "digits.a"}).code, 0);
  write("main.c", "#include \"sources/digits.h\"\nint main(void) { return digits_api(1)->io_count(0) != 1; }\n");
  const Ended linked = run("g++", {"-x", "c", "main.c", "-x", "none", "sources/digits.a", "-o", "main"});
  ASSERT_EQ(linked.code, 0) << linked.err;
  EXPECT_EQ(run(path("main"), {}).code, 0);
}

TEST_F(Sources, KernelsOfTwoInstructionSetsShareNoFunction) {
  if (!is_there("nm")) GTEST_SKIP() << "no nm";
  using namespace onnx_text;
  GraphText g;
  g.inputs = {value("x", 1, {1, 32, 34, 34})};
  g.outputs = {value("y", 1, {1, 32, 32, 32})};
  g.initializers = {tensor<float>("w", 1, {32, 32, 3, 3}, std::vector<float>(32 * 32 * 9, 1.f))};
  g.nodes = {node("Conv", {"x", "w"}, {"y"})};
  const std::string conv = write("conv.onnx", model(g));
  ASSERT_EQ(cameo({"build", conv, "-o", "sources/", "--name=digits", "--target=cpu:x86-64-v2,x86-64-v3"}).code, 0);
  for (const char* compiler : {"g++", "clang++-14", "clang++-19"}) {
    if (!is_there(compiler)) continue;
    ASSERT_EQ(make({"-B", std::string("CXX=") + compiler, kV2, kV3}).code, 0);
    const Words old = shared_functions(kV2);
    EXPECT_FALSE(old.empty()) << compiler << ": Winograd's transforms are functions that files share";
    for (const std::string& name : shared_functions(kV3))
      EXPECT_EQ(std::ranges::count(old, name), 0) << compiler << ": " << name;
  }
}

// Debian 12 has clang 14.
TEST_F(Sources, OldClangsBuildThem) {
  for (const char* compiler : {"clang++-14", "clang++-15", "clang++-16"}) {
    if (!is_there(compiler)) continue;
    const Ended built = make({"-B", std::string("CXX=") + compiler});
    ASSERT_EQ(built.code, 0) << compiler << built.err;
    EXPECT_EQ(built.err, "");
    const Ended e = run(path("sources/digits.so"), {"test"});
    EXPECT_EQ(e.code, 0) << e.out << e.err;
  }
}

// g++ 12 keeps vectors that are wider than a register in memory: sixty accesses to the stack a product, and a run of
// MobileNetV2 that takes sixty times as long.
TEST_F(Sources, GccKeepsSumsInRegisters) {
  if (!is_there("objdump")) GTEST_SKIP() << "no objdump";
  ASSERT_EQ(make({"CXX=g++", kV3}).code, 0);
  const std::string text = run("objdump", {"-d", std::string("sources/") + kV3}).out;
  const auto count = [&](std::string_view part) {
    size_t n = 0;
    for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++n;
    return n;
  };
  const size_t products = count("vfmadd"), on_stack = count("(%rsp") + count("(%rbp");
  EXPECT_GT(products, 50u);
  EXPECT_LT(on_stack, 6 * products);
}

TEST_F(Sources, OperandsAreNamed) {
  const std::string text = read("sources/kernels_x86_64_v3_0.cpp");
  EXPECT_TRUE(has(text, "auto* const x0 = rt::address<float>(call, 0);  // probabilities f32[1x10]"));
  EXPECT_TRUE(has(text, "  // contract<R, V, S, P>: "));
}

// As names of models, which are names of files, of targets of make and CMake, and of functions.
TEST_F(Sources, AnyNameWorks) {
  for (const char* name : {"program", "data", "clean", "all", "model", "objects", "runtime", "Makefile", "string",
                           "main", "int", "test", "help", "kernels_x86_64_v2_0"}) {
    const std::string folder = std::string("names/") + name;
    fs::create_directory(folder_ / "names");
    ASSERT_EQ(cameo({"build", digits_, "-o", folder + "/", "--target=cpu:x86-64-v2"}).code, 0) << name;
    for (const char* goal : {"", "model", "clean"}) {
      Words words = {"-n", "-C", folder};
      if (*goal) words.push_back(goal);
      const Ended e = run("make", words);
      EXPECT_EQ(e.code, 0) << name << " " << goal << e.err;
      EXPECT_EQ(e.err, "") << name;
      EXPECT_TRUE(has(e.out, *goal == 'm' ? "-o model " : std::string(name) + ".so"));
    }
    if (!is_there("cmake")) continue;
    const Ended e = run("cmake", {"-S", folder, "-B", folder + ".cmake"});
    EXPECT_EQ(e.code, 0) << name << e.err;
  }
}

TEST_F(Sources, TheyRunUnderSanitizers) {
  const Ended built = make({"CXX=g++", "CXXFLAGS=-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all",
                            "LDFLAGS=-fsanitize=address,undefined", "model"});
  ASSERT_EQ(built.code, 0) << built.err;
  const Ended e = run(path("sources/model"), {"test"});
  EXPECT_EQ(e.code, 0) << e.out << e.err;
}

TEST_F(Sources, CMakeBuildsThemInAFolderWithASpace) {
  if (!is_there("cmake")) GTEST_SKIP() << "no cmake";
  EXPECT_TRUE(has(read("sources/CMakeLists.txt"), "set(kernels kernels_x86_64_v2_0.cpp kernels_x86_64_v3_0.cpp)"));
  fs::create_directory(folder_ / "a b");
  fs::rename(folder_ / "sources", folder_ / "a b/c d");
  const Ended e = run("cmake", {"-S", "a b/c d", "-B", "a b/built", "-DCMAKE_BUILD_TYPE=Debug"});
  ASSERT_EQ(e.code, 0) << e.err;
  const Ended built = run("cmake", {"--build", "a b/built", "--target", "digits_library"});
  ASSERT_EQ(built.code, 0) << built.out << built.err;
  EXPECT_EQ(run(path("a b/built/digits.so"), {"test"}).code, 0);
}

TEST_F(Sources, ALinkStaysAndWhatItLeadsToIsReplaced) {
  fs::create_directory_symlink("sources", folder_ / "link");
  ASSERT_EQ(cameo({"build", digits_, "-o", "link/"}).code, 0);
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_TRUE(fs::exists(folder_ / "sources/link.h"));
  EXPECT_EQ(files(), (Words{"link", "sources"}));
}

TEST_F(Sources, TheFolderThatOneIsInIsNotReplaced) {
  fs::create_directory(folder_ / "sources/inside");
  const std::string program = CAMEO_PROGRAM " build " + digits_ + " -o ";
  for (const char* line : {"cd sources && ", "cd sources/inside && "}) {
    const Ended e = run("bash", {"-c", line + program + (std::string(line).ends_with("inside && ") ? ".." : ".")});
    EXPECT_EQ(e.code, 2);
    EXPECT_TRUE(has(e.err, "is the folder you are in, or one around it, which sources would replace")) << e.err;
  }
  EXPECT_TRUE(fs::exists(folder_ / "sources/inside"));
  ASSERT_EQ(cameo({"build", digits_, "-o", "sources/."}).code, 0);
  EXPECT_TRUE(fs::exists(folder_ / "sources/sources.h")) << "the folder's name";
}

TEST_F(Sources, AFolderOfOnesOwnIsLeftAlone) {
  EXPECT_EQ(cameo({"build", digits_, "-o", "sources/"}).code, 0);  // cameo's: replaced
  EXPECT_FALSE(fs::exists(folder_ / "sources/goldens.bin"));
  write("mine/notes.txt", "keep");
  const Ended e = cameo({"build", digits_, "-o", "mine/"});
  EXPECT_EQ(e.code, 2);
  EXPECT_TRUE(has(e.err, "was not written by cameo"));
  EXPECT_EQ(read("mine/notes.txt"), "keep");
  EXPECT_EQ(files(), (Words{"mine", "sources"}));
}

}  // namespace
}  // namespace cameo
