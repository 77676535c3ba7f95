// Whole artifacts with weights, in every kind: what was put in is what code finds, and the file is a proper ELF file.
#include "codegen/build/artifact.h"

#include <dlfcn.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "runtime/huge_pages.h"
#include "tests/codegen/build/build_helpers.h"

namespace cameo {
namespace {

constexpr char kReader[] = R"(
extern "C" {
long write(int, const void*, unsigned long);
[[noreturn]] void exit(int);
extern const unsigned char m_weights[];
int scratch[1000];
int given = 3;
struct Table { const void* first; const unsigned char* weights; };
extern const Table kTable;
const Table kTable = {&kTable, m_weights};
__attribute__((visibility("default"))) const Table* table(int i) { scratch[i] += given; return &kTable; }
void start_here(const long*) { write(1, table(0)->weights, 5); exit(0); }
}
__asm__(".globl start\nstart:\n mov %rsp, %rdi\n and $-16, %rsp\n call start_here\n");
)";

struct Table {
  const void* first;
  const char* weights;
};

class artifact : public testing::Test {
 protected:
  artifact() {
    first_ = "first piece";
    second_.resize(5 << 20);
    for (size_t i = 0; i < second_.size(); ++i) second_[i] = static_cast<char>(i * 31 + i / 4096);
    object_ = compiled("reader", kReader);
  }

  std::string write(LinkJob job, const std::string& name) {
    const std::string path = testing::TempDir() + name;
    WorkerPool pool(1);
    const Status status =
        write_artifact(pool, {std::move(job), "m_weights", {as_bytes(first_), as_bytes(second_)}, path});
    EXPECT_TRUE(status.ok()) << status.message;
    return path;
  }

  std::string content(const std::string& path) const {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string first_, second_;
  LinkInput object_;
};

TEST_F(artifact, library_carries_its_weights) {
  const std::string path = write(link_shared({object_}, "m.so", "start", {"table"}), "m.so");
  void* library = dlopen(path.c_str(), RTLD_NOW);
  ASSERT_TRUE(library) << dlerror();
  const Table* table = reinterpret_cast<const Table* (*)(int)>(dlsym(library, "table"))(999);
  EXPECT_EQ(std::memcmp(table->weights, first_.data(), first_.size()), 0);
  EXPECT_EQ(std::memcmp(table->weights + first_.size(), second_.data(), second_.size()), 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(table->weights) % 64, 0u);
  const size_t offset = content(path).find(first_ + second_.substr(0, 64));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(table->weights) % rt::kHugePage, offset % rt::kHugePage);
  dlclose(library);
  EXPECT_EQ(ran(path).output, "first");
  EXPECT_LT(std::filesystem::file_size(path), first_.size() + second_.size() + 16384);
  const Ran read = ran("LC_ALL=C readelf -W -a " + path);
  EXPECT_EQ(read.output.find("arning"), std::string::npos) << read.output;
  EXPECT_EQ(read.output.find("rror"), std::string::npos) << read.output;
}

// Neither .data nor .bss in the code: the slot must get a segment of its own all the same.
TEST_F(artifact, smallest_library_carries_its_weights) {
  second_.resize(1000);
  const LinkInput code = compiled("small",
                                  "extern \"C\" {extern const char m_weights[]; extern __attribute__((visibility("
                                  "\"default\"))) const char* const table; const char* const table = m_weights;}");
  const std::string data =
      "int given = 3; extern \"C\" __attribute__((visibility(\"default\"))) int get() { return ++given; }";
  const std::string path = write(link_shared({code}, "s.so", "", {"table"}), "small.so");
  write(link_shared({code, compiled("data", data)}, "s.so", "", {"table", "get"}), "small_data.so");
  void* library = dlopen(path.c_str(), RTLD_NOW);
  ASSERT_TRUE(library) << dlerror();
  EXPECT_EQ(std::memcmp(*static_cast<const char**>(dlsym(library, "table")), first_.data(), first_.size()), 0);
  dlclose(library);
}

TEST_F(artifact, strip_keeps_it_working) {
  const std::string path = write(link_shared({object_}, "m.so", "start", {"table"}), "stripped.so");
  const Ran stripped = ran("strip " + path);
  EXPECT_EQ(stripped.status, 0) << stripped.output;
  EXPECT_LT(std::filesystem::file_size(path), first_.size() + second_.size() + 16384);
  EXPECT_EQ(ran(path).output, "first");
}

TEST_F(artifact, program_carries_its_weights) {
  EXPECT_EQ(ran(write(link_program({object_}, "start"), "m")).output, "first");
}

TEST_F(artifact, relocatable_carries_its_weights) {
  const std::string path = write(relocatable({object_}, {"table", "start"}), "m.o");
  const Outcome merged = run_one(link_program({{"m.o", content(path), {}}}, "start"));
  ASSERT_TRUE(merged.ok) << merged.message;
  const std::string program = built(link_program({{"m.o", content(path), {}}}, "start"), "from_object");
  EXPECT_EQ(ran(program).output, "first");
  const Ran symbols = ran("nm -g " + path);
  EXPECT_EQ(symbols.output.find("m_weights"), std::string::npos) << symbols.output;
}

TEST_F(artifact, same_parts_same_bytes) {
  for (const bool shared : {true, false}) {
    const LinkJob job = shared ? link_shared({object_}, "m.so", "start", {"table"}) : relocatable({object_}, {"table"});
    EXPECT_EQ(content(write(job, "one")), content(write(job, "two")));
  }
}

TEST_F(artifact, aarch64_links_its_weights) {
  LinkJob job = link_shared({compiled("reader",
                                      "extern \"C\" const char m_weights[]; extern \"C\" "
                                      "__attribute__((visibility(\"default\"))) const char* const table = m_weights;",
                                      kAarch64)},
                            "m.so", "", {"table"});
  job.triple = kAarch64;
  EXPECT_NE(content(write(job, "arm.so")).find(first_ + second_), std::string::npos);
}

TEST_F(artifact, a_failed_link_leaves_the_old_file) {
  const std::string path = testing::TempDir() + "old.so";
  std::ofstream(path) << "old";
  WorkerPool pool(1);
  const Status status = write_artifact(pool, {link_shared({object_}, "m.so", "nowhere", {"table"}), {}, {}, path});
  EXPECT_NE(status.message.find("undefined symbol: m_weights"), std::string::npos) << status.message;
  EXPECT_EQ(content(path), "old");
}

}  // namespace
}  // namespace cameo
