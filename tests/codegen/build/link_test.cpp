// Objects to artifacts: a library that is also a program, a program of several models, what is exported, what is
// needed.
#include <dlfcn.h>
#include <elf.h>

#include <cstring>
#include <filesystem>

#include "codegen/build/elf_object.h"
#include "tests/codegen/build/build_helpers.h"

namespace cameo {
namespace {

constexpr char kEntry[] = R"(
extern "C" long write(int, const void*, unsigned long);
extern "C" [[noreturn]] void exit(int);
int main_of(long count);
extern "C" void start_here(const long* stack) {
  write(1, "hello", 5);
  exit(main_of(stack[0]));
}
__asm__(".globl start\nstart:\n mov %rsp, %rdi\n and $-16, %rsp\n call start_here\n");
)";

std::string doubling_source() {
  return std::string(kEntry) +
         "extern \"C\" __attribute__((visibility(\"default\"))) int twice(int x) { return 2 * x; }\n"
         "extern \"C\" __attribute__((visibility(\"default\"))) int not_listed(int x) { return x; }\n"
         "int main_of(long count) { return int(count) + twice(20); }\n";
}

class Library {
 public:
  explicit Library(const std::string& path) : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    EXPECT_TRUE(handle_) << dlerror();
  }
  ~Library() { dlclose(handle_); }
  template <typename T>
  T* find(const char* name) const {
    return reinterpret_cast<T*>(dlsym(handle_, name));
  }

 private:
  void* handle_;
};

Elf64_Ehdr header_of(const std::string& bytes) {
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

TEST(link, shared_library_is_also_a_program) {
  const LinkInput object = compiled("twice", doubling_source());
  const std::string path = built(link_shared({object}, "twice.so", "start", {"twice"}), "twice.so");
  {
    const Library library(path);
    EXPECT_EQ(library.find<int(int)>("twice")(21), 42);
    EXPECT_EQ(library.find<int(int)>("not_listed"), nullptr);
  }
  EXPECT_EQ(dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD), nullptr) << "it stayed loaded";
  const Ran program = ran(path + " one more");
  EXPECT_EQ(program.output, "hello");
  EXPECT_EQ(program.status, 3 + 40);
}

TEST(link, program_runs) {
  const std::string path = built(link_program({compiled("twice", doubling_source())}, "start"), "twice_program");
  EXPECT_EQ(ran(path).status, 1 + 40);
}

TEST(link, two_links_in_one_worker_after_a_failed_one) {
  const LinkInput object = compiled("twice", doubling_source());
  const LinkInput lacking = compiled("lacking",
                                     "int nowhere(); int f() { return nowhere(); }\n"
                                     "extern \"C\" __attribute__((visibility(\"default\"))) int g() { return f(); }");
  const LinkJob good = link_shared({object}, "a.so", "start", {"twice"});
  const std::vector<Job> jobs = {good, link_shared({lacking}, "b.so", "", {"g"}), good};
  const std::vector<Outcome> outcomes = run_jobs(jobs, 1);
  EXPECT_TRUE(outcomes[0].ok) << outcomes[0].message;
  EXPECT_FALSE(outcomes[1].ok);
  EXPECT_NE(outcomes[1].message.find("undefined symbol: nowhere()"), std::string::npos) << outcomes[1].message;
  EXPECT_NE(outcomes[1].message.find("lacking.o"), std::string::npos) << outcomes[1].message;
  EXPECT_EQ(outcomes[1].message.find("/proc/"), std::string::npos) << outcomes[1].message;
  EXPECT_TRUE(outcomes[2].ok) << outcomes[2].message;
  EXPECT_EQ(outcomes[0].bytes, outcomes[2].bytes);
  std::printf("link %.1f ms, then %.1f ms\n", outcomes[0].nanoseconds / 1e6, outcomes[2].nanoseconds / 1e6);
}

TEST(link, unknown_libc_functions_are_refused) {
  const LinkInput object =
      compiled("new",
               "extern \"C\" int __isoc23_strtol();\n"
               "extern \"C\" __attribute__((visibility(\"default\"))) int g() { return __isoc23_strtol(); }");
  const Outcome outcome = run_one(link_shared({object}, "new.so", "", {"g"}));
  EXPECT_FALSE(outcome.ok);
  EXPECT_NE(outcome.message.find("undefined symbol: __isoc23_strtol"), std::string::npos) << outcome.message;
}

// Two models that happen to use the same names, linked into one program.
TEST(link, relocatable_objects_keep_to_themselves) {
  const auto model = [](int number) {
    const std::string n = std::to_string(number);
    return relocatable(
        {compiled("k" + n, "inline int shared_inline() { static int calls; return ++calls * 0 + " + n +
                               "; }\nint helper() { return shared_inline(); }\n"),
         compiled("api" + n, "int helper();\nextern \"C\" __attribute__((visibility(\"default\"))) int model" + n +
                                 "() { return helper(); }\n")},
        {"model" + n});
  };
  const Outcome one = run_one(model(1));
  const Outcome two = run_one(model(2));
  ASSERT_TRUE(one.ok && two.ok) << one.message << two.message;
  EXPECT_EQ(one.bytes, run_one(model(1)).bytes);
  const LinkInput main = compiled("main", std::string(kEntry) +
                                              "extern \"C\" int model1(); extern \"C\" int model2();\n"
                                              "int main_of(long) { return model1() * 10 + model2(); }\n");
  const std::string path =
      built(link_program({{"one.o", one.bytes, {}}, {"two.o", two.bytes, {}}, main}, "start"), "both");
  EXPECT_EQ(ran(path).status, 12);
}

TEST(link, archive_is_found_by_a_system_linker) {
  const LinkInput object = compiled("twice", "extern \"C\" int twice(int x) { return 2 * x; }\n");
  const std::string path = built(archive({object}), "libtwice.a");
  EXPECT_EQ(run_one(archive({object})).bytes, run_one(archive({object})).bytes);
  const Ran listed = ran("nm -s " + path);
  EXPECT_NE(listed.output.find("twice in twice.o"), std::string::npos) << listed.output;
}

TEST(link, archives_of_models_keep_to_themselves) {
  const auto model = [](const std::string& name) {
    return archive({compiled("k" + name, "int helper() { return 1; }\n"),
                    compiled("api" + name, "int helper(); extern \"C\" int " + name + "() { return helper(); }\n")},
                   {name});
  };
  const std::string one = built(model("one"), "libone.a");
  const Ran listed = ran("nm -g " + one);
  EXPECT_NE(listed.output.find("T one"), std::string::npos) << listed.output;
  EXPECT_EQ(listed.output.find("helper"), std::string::npos) << listed.output;
  EXPECT_EQ(ran("ar t " + one).output, "one.o\n");
}

TEST(link, aarch64_library) {
  const LinkInput object = compiled("a",
                                    "extern \"C\" void* malloc(unsigned long);\nextern \"C\" "
                                    "__attribute__((visibility(\"default\"))) void* f() { return malloc(3); }\n",
                                    kAarch64);
  LinkJob job = link_shared({object}, "a.so", "f", {"f"});
  job.triple = kAarch64;
  const Outcome outcome = run_one(job);
  ASSERT_TRUE(outcome.ok) << outcome.message;
  EXPECT_EQ(header_of(outcome.bytes).e_machine, EM_AARCH64);
  EXPECT_EQ(header_of(outcome.bytes).e_type, ET_DYN);
  EXPECT_NE(outcome.bytes.find("/lib/ld-linux-aarch64.so.1"), std::string::npos);
  EXPECT_NE(outcome.bytes.find("GLIBC_2.17"), std::string::npos);
}

// Weights: a section of their own, at any distance.
TEST(link, weights_reach_the_code) {
  std::string weights(1 << 20, '\0');
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<char>(i * 7 + i / 256);
  ElfObject object;
  object.sections.push_back(weight_section(Machine::kX86_64, "m", {as_bytes(weights), as_bytes("the end")}));
  object.symbols = {{.name = "m_weights", .section = 0, .size = object.sections[0].size}};
  ScratchFile file = ScratchFile::beside(testing::TempDir() + "x");
  ASSERT_TRUE(write_elf_object(object, [&](auto bytes) { return file.write(bytes); }).ok());

  const LinkInput code = compiled("code", R"(
extern "C" {
extern __attribute__((visibility("hidden"))) const char m_weights[];
const char* const volatile pointers[] = {m_weights, m_weights + 64};
__attribute__((visibility("default"))) const char* weights() { return pointers[0]; }
__attribute__((visibility("default"))) const char* later() { return pointers[1]; }
}
)");
  const LinkJob job = link_shared({code, {"weights.o", {}, file.path()}}, "w.so", "", {"weights", "later"});
  const std::string path = built(job, "w.so");
  const Library library(path);
  const char* loaded = library.find<const char*()>("weights")();
  EXPECT_EQ(std::memcmp(loaded, weights.data(), weights.size()), 0);
  EXPECT_EQ(std::memcmp(loaded + weights.size(), "the end", 7), 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(loaded) % 64, 0u);
  EXPECT_EQ(library.find<const char*()>("later")(), loaded + 64);
  EXPECT_LT(std::filesystem::file_size(path), weights.size() + 8192);
}

TEST(link, needs_no_more_than_libc) {
  const LinkInput object = compiled(
      "a",
      "extern \"C\" int pthread_create(...); extern \"C\" void* dlopen(...);\n"
      "extern \"C\" __attribute__((visibility(\"default\"))) void* f() { pthread_create(); return dlopen(); }\n");
  const Outcome outcome = run_one(link_shared({object}, "a.so", "", {"f"}));
  ASSERT_TRUE(outcome.ok) << outcome.message;
  EXPECT_NE(outcome.bytes.find("GLIBC_2.34"), std::string::npos);
  const std::string path = built(link_shared({object}, "a.so", "", {"f"}), "a.so");
  const Ran needed = ran("readelf -d " + path);
  EXPECT_NE(needed.output.find("[libc.so.6]"), std::string::npos);
  EXPECT_EQ(needed.output.find("[libc.so.6]"), needed.output.rfind("Shared library: ") + 16) << needed.output;
  EXPECT_EQ(needed.output.find("TEXTREL"), std::string::npos);
}

}  // namespace
}  // namespace cameo
