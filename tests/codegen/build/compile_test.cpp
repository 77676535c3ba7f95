// Text to object and to PTX: what a job may see, what it says when it is wrong, and that it always says the same.
#include <elf.h>

#include <cstring>

#include "codegen/build/embedded_files.h"
#include "codegen/code_target.h"
#include "tests/codegen/build/build_helpers.h"

namespace cameo {
namespace {

std::string kernel_text(int number) {
  return "typedef float v8 __attribute__((vector_size(32)));\nextern \"C\" void k" + std::to_string(number) +
         "(const v8* a, v8* b, long n) { for (long i = 0; i < n; ++i) b[i] = a[i] * b[i] + a[i]; }\n";
}

TEST(compile, takes_milliseconds) {
  std::vector<Job> jobs;
  for (int i = 0; i < 8; ++i) {
    CompileJob job = compile_job("k.cpp", kernel_text(i));
    job.target.cpu = "x86-64-v3";
    jobs.emplace_back(job);
  }
  const std::vector<Outcome> outcomes = run_jobs(jobs, 1);
  for (const Outcome& outcome : outcomes) {
    ASSERT_TRUE(outcome.ok) << outcome.message;
    std::printf("%.1f ms ", outcome.nanoseconds / 1e6);
  }
  std::printf("a translation unit, in one worker\n");
}

TEST(compile, same_job_gives_same_bytes) {
  const CompileJob job = compile_job("k.cpp", kernel_text(1));
  const Outcome first = run_one(job);
  ASSERT_TRUE(first.ok) << first.message;
  EXPECT_EQ(first.bytes, run_one(job).bytes);
}

// Text that includes nothing finds what kernels include: each processor that has a name has their headers parsed ahead.
TEST(compile, headers_of_kernels_are_parsed_ahead) {
  CompileJob job =
      compile_job("k.cpp", "extern \"C\" long f() { return rt::round_up_div(7, rt::kPanel) + rt::c<3>; }\n");
  for (const Target& target : named_targets()) {
    if (target.is_gpu()) continue;
    job.target = code_target(target);
    job.vectorize = false;
    const Outcome ahead = run_one(job);
    EXPECT_TRUE(ahead.ok) << target.name << ": " << ahead.message;
    job.vectorize = true;
    EXPECT_FALSE(run_one(job).ok) << target.name;
  }
}

TEST(compile, wrong_text_is_explained) {
  const Outcome outcome = run_one(compile_job("bad.cpp", "int f() {\n  return undeclared_thing;\n}\n"));
  EXPECT_FALSE(outcome.ok);
  EXPECT_NE(outcome.message.find("bad.cpp:2:10: error: use of undeclared identifier 'undeclared_thing'"),
            std::string::npos)
      << outcome.message;
}

TEST(compile, sees_no_file_of_this_machine) {
  for (const char* header : {"<stdio.h>", "<vector>", "\"/usr/include/stdio.h\"", "\"/etc/passwd\""}) {
    const Outcome outcome = run_one(compile_job("a.cpp", std::string("#include ") + header + "\n"));
    EXPECT_FALSE(outcome.ok) << header;
    EXPECT_NE(outcome.message.find("file not found"), std::string::npos) << outcome.message;
  }
}

TEST(compile, finds_the_compilers_own_headers_and_the_jobs) {
  CompileJob job = compile_job("a.cpp",
                               "#include <stddef.h>\n#include <stdint.h>\n#include <stdarg.h>\n#include <float.h>\n"
                               "#include <limits.h>\n#include \"mine.h\"\nstatic_assert(kMine == 7);\n");
  job.headers.push_back({"mine.h", "constexpr int kMine = GIVEN;\n"});
  job.defines.push_back("GIVEN=7");
  const Outcome outcome = run_one(job);
  EXPECT_TRUE(outcome.ok) << outcome.message;
}

TEST(compile, every_header_of_the_runtime_stands_alone) {
  std::vector<Job> jobs;
  std::vector<std::string_view> names;
  for (const EmbeddedFile& file : embedded_under("runtime/")) {
    if (!file.path.ends_with(".h") || file.path.starts_with("runtime/program/")) continue;
    if (file.path.starts_with("runtime/stb/")) continue;  // needs a C library, which kernels have not
    names.push_back(file.path);
    CompileJob job = compile_job("a.cpp", "#include \"" + std::string(file.path) + "\"\n");
    job.target.cpu = "x86-64-v3";
    jobs.emplace_back(job);
  }
  const std::vector<Outcome> outcomes = run_jobs(jobs, 2);
  for (size_t i = 0; i < outcomes.size(); ++i) EXPECT_TRUE(outcomes[i].ok) << names[i] << "\n" << outcomes[i].message;
}

TEST(compile, nothing_is_contracted) {
  CompileJob job = compile_job("a.cpp", "float f(float a, float b, float c) { return a * b + c; }\n");
  job.target.cpu = "x86-64-v3";
  job.assembly = true;
  const Outcome outcome = run_one(job);
  ASSERT_TRUE(outcome.ok) << outcome.message;
  EXPECT_EQ(outcome.bytes.find("fmadd"), std::string::npos);
  EXPECT_NE(outcome.bytes.find("vmulss"), std::string::npos);
}

TEST(compile, target_decides_the_vector_width) {
  CompileJob job = compile_job("a.cpp", "void f(float* a, long n) { for (long i = 0; i < n; ++i) a[i] *= 3; }\n");
  job.assembly = true;
  job.target.cpu = "x86-64-v4";
  job.target.vector_bits = 256;
  const Outcome narrow = run_one(job);
  job.target.vector_bits = 512;
  const Outcome wide = run_one(job);
  ASSERT_TRUE(narrow.ok && wide.ok) << narrow.message << wide.message;
  EXPECT_EQ(narrow.bytes.find("zmm"), std::string::npos);
  EXPECT_NE(wide.bytes.find("zmm"), std::string::npos);
  job.vectorize = false;
  EXPECT_EQ(run_one(job).bytes.find("zmm"), std::string::npos);
}

TEST(compile, features_add_to_the_cpu) {
  CompileJob job = compile_job("a.cpp", "#if !__FMA__ || !__AVX512FP16__\n#error missing\n#endif\n");
  EXPECT_FALSE(run_one(job).ok);
  job.target.features = {"+fma", "+avx512fp16"};
  const Outcome outcome = run_one(job);
  EXPECT_TRUE(outcome.ok) << outcome.message;
}

TEST(compile, cuda_becomes_ptx_without_a_toolkit) {
  CompileJob job = compile_job("k.cu", R"(
#define __device__ __attribute__((device))
__device__ inline int thread() { return __nvvm_read_ptx_sreg_tid_x() + __nvvm_read_ptx_sreg_ctaid_x() * 256; }
template <typename Body>
__device__ void flat(int n, Body body) { const int i = thread(); if (i < n) body(i); }
extern "C" __attribute__((global)) void k001_add(const float* a, float* b, int n) {
  __attribute__((shared)) static float s[32];
  s[thread() & 31] = 1;
  __syncthreads();
  flat(n, [&](int i) { b[i] = a[i] * b[i] + s[i & 31]; });
}
)");
  job.target = {"nvptx64-nvidia-cuda", "sm_80", {"+ptx70"}, 0};
  job.assembly = true;
  const Outcome outcome = run_one(job);
  ASSERT_TRUE(outcome.ok) << outcome.message;
  std::printf("PTX in %.1f ms\n", outcome.nanoseconds / 1e6);
  for (const char* part : {".version 7.0", ".target sm_80", ".visible .entry k001_add(", "bar.sync", "mul.rn.f32"}) {
    EXPECT_NE(outcome.bytes.find(part), std::string::npos) << part << " in\n" << outcome.bytes;
  }
  EXPECT_EQ(outcome.bytes.find("fma"), std::string::npos) << outcome.bytes;
}

TEST(compile, aarch64_objects_are_aarch64) {
  const LinkInput object = compiled("a", "int f(int x) { return x + 1; }\n", kAarch64);
  Elf64_Ehdr header;
  std::memcpy(&header, object.bytes.data(), sizeof header);
  EXPECT_EQ(header.e_machine, EM_AARCH64);
}

TEST(compile, the_runtime_compiles_for_other_machines) {
  for (const CodeTarget& target : {CodeTarget{kAarch64, "generic", {}, 0}, CodeTarget{}}) {
    std::vector<Job> jobs;
    for (CompileJob& job : runtime_jobs(target)) jobs.emplace_back(std::move(job));
    for (const Outcome& outcome : run_jobs(jobs, 2))
      EXPECT_TRUE(outcome.ok) << target.triple << "\n" << outcome.message;
  }
}

}  // namespace
}  // namespace cameo
