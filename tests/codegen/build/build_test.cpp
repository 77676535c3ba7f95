// The thin road: text -> object -> shared library that is also a program, all in workers.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "codegen/build/files.h"
#include "codegen/build/worker.h"

namespace cameo {
namespace {

constexpr char kSource[] = R"(
extern "C" long write(int, const void*, unsigned long);
extern "C" [[noreturn]] void exit(int);
extern "C" __attribute__((visibility("default"))) int twice(int x) { return 2 * x; }
extern "C" void start_here(const long* stack) {
  write(1, "hello", 5);
  exit(int(stack[0]) + twice(20));
}
__asm__(".globl start\nstart:\n mov %rsp, %rdi\n and $-16, %rsp\n call start_here\n");
)";

TEST(build, text_becomes_library_and_program) {
  CompileJob compile;
  compile.name = "twice.cpp";
  compile.source = kSource;
  WorkerPool pool(1);
  const Job compile_jobs[] = {compile};
  const Outcome object = pool.run(compile_jobs)[0];
  ASSERT_TRUE(object.ok) << object.message;
  const std::string path = testing::TempDir() + "/twice.so";
  Status status;
  OutputFile output = OutputFile::create(path, true, status);
  ASSERT_TRUE(status.ok()) << status.message;
  LinkJob link = link_shared({{"twice.o", object.bytes, ""}}, "twice.so", "start", {"twice"});
  link.output_path = output.scratch_path();
  const Job link_jobs[] = {link};
  const Outcome linked = pool.run(link_jobs)[0];
  ASSERT_TRUE(linked.ok) << linked.message;
  ASSERT_TRUE(output.commit().ok());
  std::printf("compile %.1f ms, link %.1f ms\n", object.nanoseconds / 1e6, linked.nanoseconds / 1e6);

  void* library = dlopen(path.c_str(), RTLD_NOW);
  ASSERT_TRUE(library) << dlerror();
  EXPECT_EQ(reinterpret_cast<int (*)(int)>(dlsym(library, "twice"))(21), 42);
  dlclose(library);
  FILE* program = popen((path + " one more").c_str(), "r");
  char text[16] = {};
  EXPECT_EQ(fread(text, 1, sizeof text, program), 5u);
  EXPECT_STREQ(text, "hello");
  EXPECT_EQ(WEXITSTATUS(pclose(program)), 3 + 40);
}

}  // namespace
}  // namespace cameo
