// What ships inside an artifact calls nothing but what libc.h lists: no C++ library, no libgcc, no other libc function.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace {

std::set<std::string> symbols(const std::string& flags) {
  std::set<std::string> names;
  const std::string command = "nm -P " + flags + " " CAMEO_BINARY_DIR "/runtime/libcameo_runtime.a";
  FILE* pipe = popen(command.c_str(), "r");
  char line[4096];
  while (pipe && std::fgets(line, sizeof line, pipe)) {
    const std::string name = std::string(line).substr(0, std::string(line).find(' '));
    if (name.find(':') == std::string::npos && name != "\n") names.insert(name);
  }
  if (pipe) pclose(pipe);
  return names;
}

std::set<std::string> listed() {
  std::set<std::string> names = {"memcpy", "memmove", "memset", "memcmp", "strlen"};  // which compilers call
  std::stringstream text;
  text << std::ifstream(CAMEO_SOURCE_DIR "/runtime/libc.h").rdbuf();
  const std::string header = text.str();
  const std::regex pattern("__asm__\\(\"(\\w+)\"\\)");
  for (std::sregex_iterator i(header.begin(), header.end(), pattern), end; i != end; ++i) names.insert((*i)[1]);
  return names;
}

TEST(Libc, NothingElseIsCalled) {
  const std::set<std::string> defined = symbols("--defined-only"), allowed = listed();
  ASSERT_GT(defined.size(), 100u) << "nm found no library";
  EXPECT_GT(allowed.size(), 25u);
  std::set<std::string> used;
  for (const std::string& name : symbols("--undefined-only")) {
    if (name.rfind("__asan", 0) == 0 || name.rfind("__ubsan", 0) == 0 || name.rfind("__tsan", 0) == 0)
      GTEST_SKIP() << "a sanitizer's functions are in the library";
    if (defined.count(name) || name == "_GLOBAL_OFFSET_TABLE_") continue;
    EXPECT_TRUE(allowed.count(name)) << name;
    used.insert(name);
  }
  for (const std::string& name : allowed) EXPECT_TRUE(used.count(name)) << name << " is listed and not used";
}

TEST(Libc, NoGlobalStateButThePrograms) {
  for (const char* file : {"execute", "threads", "model", "run", "tap", "values", "describe", "selftest", "compare"}) {
    const std::string object = CAMEO_BINARY_DIR "/runtime/CMakeFiles/cameo_runtime.dir/" + std::string(file) + ".cpp.o";
    FILE* pipe = popen(("nm " + object).c_str(), "r");
    char line[4096];
    int lines = 0;
    while (pipe && std::fgets(line, sizeof line, pipe)) {
      const char kind = std::string(line).size() > 17 ? line[17] : '?';
      EXPECT_FALSE(kind == 'B' || kind == 'b' || kind == 'D' || kind == 'C') << file << ": " << line;
      ++lines;
    }
    if (pipe) pclose(pipe);
    EXPECT_GT(lines, 3) << object;
  }
}

}  // namespace
