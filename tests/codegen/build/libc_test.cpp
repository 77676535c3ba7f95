// The list of libc's symbols against the libc of this machine and against what our own objects ask for.
#include <dlfcn.h>

#include <cstdlib>
#include <set>

#include "codegen/build/embedded_files.h"
#include "codegen/build/stub_libc.h"
#include "tests/codegen/build/build_helpers.h"

namespace cameo {
namespace {

TEST(libc, every_row_is_in_a_real_libc) {
#ifdef __aarch64__
  const Machine machine = Machine::kAarch64;
#else
  const Machine machine = Machine::kX86_64;
#endif
  void* libc = dlopen("libc.so.6", RTLD_NOW);
  for (const LibcSymbol& symbol : libc_symbols()) {
    const std::string version = libc_version(symbol, machine);
    EXPECT_TRUE(dlvsym(libc, std::string(symbol.name).c_str(), version.c_str())) << symbol.name << "@" << version;
  }
  dlclose(libc);
}

TEST(libc, floor_is_2_34) {
  for (const LibcSymbol& symbol : libc_symbols()) {
    EXPECT_TRUE(symbol.version.starts_with("2.2.5") || std::atoi(symbol.version.data() + 2) <= 34) << symbol.name;
  }
}

TEST(libc, aarch64_began_with_2_17) {
  EXPECT_EQ(libc_version({"memcpy", "2.14"}, Machine::kX86_64), "GLIBC_2.14");
  EXPECT_EQ(libc_version({"memcpy", "2.14"}, Machine::kAarch64), "GLIBC_2.17");
  EXPECT_EQ(libc_version({"malloc", "2.2.5"}, Machine::kAarch64), "GLIBC_2.17");
  EXPECT_EQ(libc_version({"stat", "2.33"}, Machine::kAarch64), "GLIBC_2.33");
}

// What `nm` says of the objects, names only.
std::set<std::string> names_in(const std::string& paths, const char* flags) {
  std::set<std::string> names;
  const Ran listed = ran("nm -j " + std::string(flags) + paths);
  size_t begin = 0;
  for (size_t end; (end = listed.output.find('\n', begin)) != std::string::npos; begin = end + 1) {
    names.insert(listed.output.substr(begin, end - begin));
  }
  return names;
}

TEST(libc, has_all_that_our_objects_ask_for) {
  std::string paths;
  std::vector<ScratchFile> files;
  for (const LinkInput& object : runtime_objects(CodeTarget{}.triple, true, true)) {
    files.push_back(ScratchFile::in_memory());
    ASSERT_TRUE(files.back().write(as_bytes(object.bytes)).ok());
    paths += " " + files.back().path();
  }
  if (files.empty()) GTEST_SKIP() << "this build carries no runtime objects";
  std::set<std::string> known = names_in(paths, "-gU");
  for (const LibcSymbol& symbol : libc_symbols()) known.insert(std::string(symbol.name));
  for (const std::string& name : names_in(paths, "-gu")) {
    const bool printed = name.starts_with("cameo_");  // what the compiler prints for a model
    EXPECT_TRUE(printed || name.find("/proc") == 0 || known.count(name) || name == "_GLOBAL_OFFSET_TABLE_") << name;
  }
}

}  // namespace
}  // namespace cameo
