// The vocabulary on every target it promises: the kernels of emitted_kernel.cpp compile without any system header and
// without warnings for x86-64 levels, AArch64 and NVPTX, call nothing but the vocabulary's own cold functions (no libm,
// no libgcc), and masks stay in mask registers on AVX-512. Prints how long the headers take to parse.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <regex>
#include <string>

namespace rt_test {
namespace {

struct Result {
  int status;
  std::string text;
};

Result run(const std::string& command) {
  Result r{-1, ""};
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (!pipe) return r;
  char buffer[4096];
  for (size_t n; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;) r.text.append(buffer, n);
  r.status = pclose(pipe);
  return r;
}

bool exists(const std::string& compiler) { return run(compiler + " --version").status == 0; }

const std::string kSource = std::string(CAMEO_SOURCE_DIR) + "/tests/runtime/rt/emitted_kernel.cpp";
const std::string kFlags =
    " -std=c++20 -O2 -ffreestanding -nostdinc -ffp-contract=off -Wall -Wextra -Werror -I" CAMEO_SOURCE_DIR " ";

std::string compile(const std::string& compiler, const std::string& flags) {
  const Result r = run(compiler + kFlags + flags + " -S -o - " + kSource);
  EXPECT_EQ(r.status, 0) << compiler << " " << flags << "\n" << r.text.substr(0, 4000);
  return r.text;
}

void expect_no_foreign_call(const std::string& assembly, const std::string& target) {
  static const std::regex call(R"(^\s*(?:call[a-z]*|jmp|bl)\s+([A-Za-z_][\w@.]*))", std::regex::multiline);
  for (auto it = std::sregex_iterator(assembly.begin(), assembly.end(), call); it != std::sregex_iterator(); ++it) {
    const std::string callee = (*it)[1];
    EXPECT_TRUE(callee.starts_with("_ZN2rt")) << target << " calls " << callee;
  }
}

std::string function(const std::string& assembly, const std::string& name) {
  const size_t begin = assembly.find("\n" + name + ":");
  if (begin == std::string::npos) return "";
  return assembly.substr(begin, assembly.find(".size\t" + name, begin) - begin);
}

TEST(Targets, Clang) {
  if (!exists("clang++-19")) GTEST_SKIP() << "there is no clang++-19 here";
  for (const char* flags : {"-march=x86-64", "-march=x86-64-v3", "-march=x86-64-v4 -mprefer-vector-width=512",
                            "--target=aarch64-linux-gnu"}) {
    expect_no_foreign_call(compile("clang++-19", flags), flags);
  }
}

// What Debian 12 calls clang; elsewhere of the oldest that builds written sources.
TEST(Targets, OldClang) {
  if (!exists("clang++-14")) GTEST_SKIP() << "there is no clang++-14 here";
  for (const char* flags : {"-march=x86-64", "-march=x86-64-v3", "-march=x86-64-v4 -mprefer-vector-width=512"})
    expect_no_foreign_call(compile("clang++-14", std::string("-fno-math-errno ") + flags), flags);
}

TEST(Targets, Gcc) {
  if (!exists("g++")) GTEST_SKIP() << "there is no g++ here";
  if (!run("g++ -dumpmachine").text.starts_with("x86_64")) GTEST_SKIP() << "g++ makes no x86-64 code here";
  expect_no_foreign_call(compile("g++", "-march=x86-64-v4 -Wno-psabi -DWIDTH=8"), "g++");
}

TEST(Targets, Nvptx) {
  if (!exists("clang++-19")) GTEST_SKIP() << "there is no clang++-19 here";
  for (const char* arch : {"sm_80"}) {
    const std::string text =
        compile("clang++-19", std::string("-x cuda --cuda-device-only -nocudainc -nocudalib -Wno-unknown-cuda-version "
                                          "--cuda-gpu-arch=") +
                                  arch);
    EXPECT_NE(text.find(".visible .entry everything"), std::string::npos);
    EXPECT_NE(text.find("fma.rn.f32"), std::string::npos);
    EXPECT_EQ(text.find(".extern .func"), std::string::npos) << "a function that nobody defines";
    EXPECT_EQ(text.find(".approx"), std::string::npos) << "an approximate instruction";
  }
}

TEST(Targets, MasksStayInMaskRegisters) {
  if (!exists("clang++-19")) GTEST_SKIP() << "there is no clang++-19 here";
  const std::string text = function(compile("clang++-19", "-march=znver4 -DONLY_MASKED"), "masked");
  ASSERT_FALSE(text.empty());
  EXPECT_NE(text.find("%zmm"), std::string::npos);
  EXPECT_NE(text.find("{%k"), std::string::npos);
  for (const char* detour : {"vpmovm2", "vpmovsxb", "vpmovdb", "vpmovb2m"}) {
    EXPECT_EQ(text.find(detour), std::string::npos) << detour << " in\n" << text;
  }
}

TEST(Targets, HalvesAreComparedAsVectorsOfFloats) {
  if (!exists("clang++-19")) GTEST_SKIP() << "there is no clang++-19 here";
  for (const char* flags : {"-march=x86-64-v3", "-march=x86-64-v4 -mprefer-vector-width=512"}) {
    const std::string text = function(compile("clang++-19", std::string(flags) + " -DONLY_MASKED"), "halves");
    ASSERT_FALSE(text.empty());
    static const std::regex one_by_one("vucomiss|vcmp[a-z_]*ss");
    const auto found =
        std::distance(std::sregex_iterator(text.begin(), text.end(), one_by_one), std::sregex_iterator());
    EXPECT_LE(found, 4) << flags << ", beside those of the rest:\n" << text;
  }
}

TEST(Targets, HeadersParseFast) {
  if (!exists("clang++-19")) GTEST_SKIP() << "there is no clang++-19 here";
  const auto seconds = [](const std::string& include) {
    double best = 1e9;
    for (int i = 0; i < 5; ++i) {
      const auto start = std::chrono::steady_clock::now();
      run("echo '" + include + "' | clang++-19 -fsyntax-only -x c++" + kFlags + "-");
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
  };
  const double all =
      seconds("#include \"runtime/rt/fold.h\"\n#include \"runtime/rt/load.h\"\n#include \"runtime/rt/math.h\"");
  std::printf("  parsing all of runtime/rt: %.0f ms more than an empty file\n", (all - seconds("")) * 1e3);
  EXPECT_LT(all, 3.0) << "something heavy was included";
}

}  // namespace
}  // namespace rt_test
