// Printed kernels on machines that this one is not. GPUs: kernels with their frame have the bodies of the CPU's, become
// PTX without a toolkit and cubins with one, hold everything in registers, and what a block's threads do together is
// right on fibers. (matrix_test.cpp runs every operator so.) And NEON: the CPU's frame compiles for aarch64.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <regex>

#include "codegen/device_code.h"
#include "codegen/print_kernel.h"
#include "codegen/print_module.h"
#include "frontend/import/import_onnx.h"
#include "optimizer/choose/family.h"
#include "runtime/call.h"
#include "tests/codegen/build/build_helpers.h"
#include "tests/support/artifact.h"
#include "tests/support/case.h"
#include "tests/support/fibers.h"

namespace cameo::test {
namespace {

namespace fs = std::filesystem;

Graph digits() {
  Diagnostics diagnostics;
  return import_onnx(fs::path(CAMEO_SOURCE_DIR) / "models/digits.onnx", {}, diagnostics).graph;
}

Module for_gpu(const Graph& g) { return plan_graph(g, "model", gpu_target({"ptx"})); }

// ---- text -----------------------------------------------------------------------------------------------------------

std::string printed(const Module& m, Frame frame) {
  Writer w;
  for (const Kernel& k : m.plans[0].kernels) print_kernel(w, k, print_body(k), *m.sources, frame);
  return w.take();
}

/// Without the lines that either frame consists of, and what stands on them of the operands.
std::string bodies(const std::string& text) {
  std::string kept;
  for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    const std::string_view line(text.data() + at, end + 1 - at);
    const bool frame = line.find("static void k") != line.npos || line.starts_with("RT_KERNEL k") ||
                       line.find("rt::address<") != line.npos || line.find("rt::block_call(") != line.npos ||
                       line.find("rt::assume_aligned(") != line.npos || line.starts_with("  // x");
    if (!frame) kept += line;
  }
  return kept;
}

TEST(GpuFrame, IsAllThatDiffers) {
  const Module m = for_gpu(digits());
  const std::string cpu = printed(m, Frame::Cpu), gpu = printed(m, Frame::Gpu);
  EXPECT_NE(cpu, gpu);
  EXPECT_EQ(bodies(cpu), bodies(gpu));
}

// ---- PTX and cubins -------------------------------------------------------------------------------------------------

std::string ptx_of(const Module& m, int files = 1) {
  const EmittedModule text = print_module(m, files, {});
  std::vector<Job> jobs;
  for (const SourceFile& f : text.kernels[0]) jobs.emplace_back(ptx_job(f));
  std::vector<std::string> modules;
  for (Outcome& o : run_jobs(jobs, 2)) {
    EXPECT_TRUE(o.ok) << o.message;
    modules.push_back(std::move(o.bytes));
  }
  return merge_ptx(modules);
}

std::string entry_of(const std::string& ptx, const std::string& symbol) {
  const size_t entry = ptx.find(fmt::format(".visible .entry {}(", symbol));
  EXPECT_NE(entry, std::string::npos) << symbol;
  return entry == std::string::npos ? "" : ptx.substr(entry, ptx.find(".visible .entry", entry + 1) - entry);
}

bool is(const Kernel& k, std::string_view family) { return k.family->name() == family; }

std::vector<std::string> parts_of_contract(const Kernel& k) {
  const bool narrow = k.operands[1] != DType::f32, staged = k.choice["stages"] > 0;
  const bool wide = staged && k.choice["lanes"] > 1;  // four columns a thread
  std::vector<std::string> parts{"bar.sync", wide ? "ld.shared.v4" : "ld.shared"};
  parts.push_back(wide && narrow ? "st.global.v" : wide ? "st.global.v4" : narrow ? "st.global" : "st.global.f32");
  parts.push_back(narrow && staged ? "mma.sync.aligned.m16n8k16" : "fma.rn.f32");
  if (staged) parts.push_back("cp.async.wait_group");
  if (narrow && staged) parts.push_back("ldmatrix");
  return parts;
}
std::vector<std::string> parts_of(const Kernel& k) {
  if (is(k, "contract")) return parts_of_contract(k);
  if (is(k, "transpose")) return {"st.shared", "bar.sync", "ld.shared"};
  if (k.choice.get("team", 1) > 1) return {"shfl.sync.bfly"};
  if (is(k, "nest") && k.choice["lanes"] > 1) return {"ld.global.v4", "st.global.v4"};
  return {};
}

/// Nothing in memory of its own, no call that was not inlined.
void expect_plain_kernels(const Module& m, const std::string& ptx) {
  for (const Kernel& k : m.plans[0].kernels) {
    const std::string code = entry_of(ptx, k.symbol);
    EXPECT_NE(code.find(fmt::format("{}_param_{}\n)", k.symbol, k.operands.size())), std::string::npos)
        << "the operands and the fault in\n"
        << code;
    EXPECT_EQ(code.find(".local"), std::string::npos) << "registers hold everything in\n" << code;
    EXPECT_EQ(code.find("\ncall"), std::string::npos) << "everything is inlined in\n" << code;
    for (const std::string& part : parts_of(k))
      EXPECT_NE(code.find(part), std::string::npos) << part << " in\n" << code;
  }
}

TEST(Ptx, NeedsNoToolkit) {
  const Module m = for_gpu(digits());
  expect_plain_kernels(m, ptx_of(m));
}

TEST(Ptx, OfSeveralFilesIsOneModule) {
  const Module m = for_gpu(digits());
  const std::string three = ptx_of(m, 3);
  for (const char* word : {".version", ".target", ".address_size"}) {
    EXPECT_NE(three.find(word), std::string::npos);
    EXPECT_EQ(three.find(word), three.rfind(word)) << word;
  }
  expect_plain_kernels(m, three);
}

TEST(Ptx, MergingKeepsOneOfEqualDeclarationsAndFunctions) {
  const std::string
      shared = ".func (.param .b64 r) f\n(\n\t.param .b64 p\n)\n;\n.global .align 4 .b8 t[4] = {1, 2, 3, 4};\n",
      function = ".func (.param .b64 r) f(\n\t.param .b64 p\n)\n{\n$L__BB%_1:\n\t{ // a call\n\t}\n\tret;\n}\n";
  const auto module = [&](char number) {
    std::string text = "//\n.version 7.0\n" + shared + ".visible .entry k%()\n{\n\tret; // x\n}\n" + function;
    std::replace(text.begin(), text.end(), '%', number);
    return text;
  };
  EXPECT_EQ(
      merge_ptx(std::vector<std::string>{module('1'), module('2')}),
      ".version 7.0\n.func (.param .b64 r) f\n(\n.param .b64 p\n)\n;\n.global .align 4 .b8 t[4] = {1, 2, 3, 4};\n"
      ".visible .entry k1()\n{\nret;\n}\n.func (.param .b64 r) f(\n.param .b64 p\n)\n{\n$L__BB1_1:\n{\n}\nret;\n}\n"
      ".visible .entry k2()\n{\nret;\n}\n");
}

class OperatorsOnGpu : public testing::TestWithParam<const char*> {};
TEST_P(OperatorsOnGpu, BecomePlainPtx) {
  for (const Case& c : load_case_file(fs::path(CAMEO_SOURCE_DIR) / fmt::format("tests/ops/{}.case", GetParam())))
    if (c.graph && !c.fail && is_static(c.graph->type(c.graph->outputs()[0].value).shape)) {
      SCOPED_TRACE(c.where + " " + c.name);
      const Module m = for_gpu(*c.graph);
      expect_plain_kernels(m, ptx_of(m));
    }
}
INSTANTIATE_TEST_SUITE_P(Ops, OperatorsOnGpu,
                         testing::Values("add", "arg_max", "conv", "mat_mul", "scatter_nd", "softmax", "top_k",
                                         "transpose"),
                         [](const auto& info) { return info.param; });

void written(const std::string& file, const std::string& text) {
  Status status;
  OutputFile out = OutputFile::create(file, false, status);
  EXPECT_TRUE(status.ok() && out.write(as_bytes(text)).ok() && out.commit().ok()) << file;
}

TEST(Cubins, HaveNoSpills) {
  const std::string ptxas = find_ptxas();
  if (ptxas.empty()) GTEST_SKIP() << "ptxas is not here: no cubins";
  const std::string ptx = ptx_of(for_gpu(digits())), file = testing::TempDir() + "digits.ptx";
  written(file, ptx);
  for (const char* architecture : {"sm_80", "sm_90a"}) {
    const Outcome cubin = run_one(AssembleJob{ptxas, architecture, ptx});
    EXPECT_TRUE(cubin.ok && cubin.bytes.starts_with("\177ELF")) << cubin.message;
    const Ran said = ran(fmt::format("{} -v -arch={} {} -o /dev/null", ptxas, architecture, file));
    EXPECT_NE(said.output.find("0 bytes spill stores"), std::string::npos) << said.output;
    EXPECT_FALSE(std::regex_search(said.output, std::regex("[1-9][0-9]* bytes (stack|spill)"))) << said.output;
  }
}

TEST(Cubins, WhatPtxasSaysIsTheMessage) {
  const std::string ptxas = find_ptxas();
  if (ptxas.empty()) GTEST_SKIP() << "ptxas is not here: no cubins";
  const Outcome outcome = run_one(AssembleJob{ptxas, "sm_80", ".version 7.0\n.target sm_80\nnonsense\n"});
  EXPECT_FALSE(outcome.ok);
  EXPECT_NE(outcome.message.find("error"), std::string::npos) << outcome.message;
}

/// The plan of the first case that has such a kernel.
template <class Has>
Module module_with(const char* file, Has has) {
  for (const Case& c : load_case_file(fs::path(CAMEO_SOURCE_DIR) / fmt::format("tests/ops/{}.case", file)))
    if (c.graph && !c.fail)
      if (Module m = for_gpu(*c.graph); std::ranges::any_of(m.plans[0].kernels, has)) return m;
  ADD_FAILURE() << "no case of " << file << " has it";
  return for_gpu(digits());
}

// Emitted sources go to nvcc, which knows no vectors and is no clang: a kernel of each family.
TEST(Nvcc, TakesEveryFamily) {
  const fs::path nvcc = fs::path(find_ptxas()).parent_path() / "nvcc";
  if (!fs::exists(nvcc)) GTEST_SKIP() << "nvcc is not here: emitted sources are not compiled";
  struct Wanted {
    const char* file;
    bool (*has)(const Kernel&);
  };
  for (const Wanted& w : {Wanted{"add", [](const Kernel& k) { return is(k, "nest") && k.choice["lanes"] > 1; }},
                          {"softmax", [](const Kernel& k) { return is(k, "nest") && k.choice["team"] > 1; }},
                          {"transpose", [](const Kernel& k) { return is(k, "transpose"); }},
                          {"scatter_nd", [](const Kernel& k) { return is(k, "scatter") && !k.choice["owners"]; }},
                          {"top_k", [](const Kernel& k) { return is(k, "opaque"); }},
                          {"max_pool", [](const Kernel& k) { return is(k, "window"); }},
                          {"conv", [](const Kernel& k) { return is(k, "contract"); }}}) {
    SCOPED_TRACE(w.file);
    const std::string file = testing::TempDir() + "kernels.cu";
    written(file, print_module(module_with(w.file, w.has), 1, {}).kernels[0][0].text);
    const Ran said =
        ran(fmt::format("{} -std=c++20 -fmad=false --expt-relaxed-constexpr -I{} -arch=compute_80 -ptx {} -o {}.ptx",
                        nvcc.string(), CAMEO_SOURCE_DIR, file, file));
    EXPECT_EQ(said.status, 0) << said.output.substr(0, 4000);
  }
}

// ---- what a block's threads do together -----------------------------------------------------------------------------

constexpr const char* kTeams = R"(
#include "runtime/kernels/nest.h"
template <int Team>
RT_FN void fold_all(const float* x, rt::i64 n, float* sum, float* least, rt::i64* at, rt::i64* last) {
  const auto of = [&](rt::i64 r) { return x[r]; };
  const auto s = rt::fold_team<rt::FoldKind::Sum, Team>(n, of), m = rt::fold_team<rt::FoldKind::Min, Team>(n, of);
  const auto a = rt::fold_team<rt::FoldKind::ArgMax, Team>(n, of), l = rt::fold_team<rt::FoldKind::ArgMaxLast, Team>(n, of);
  const int t = rt::thread();  // all threads have the result
  sum[t] = s, least[t] = m, at[t] = a, last[t] = l;
}
RT_KERNEL warps(const float* x, const rt::i64* n, float* sum, float* least, rt::i64* at, rt::i64* last, rt::Fault*) {
  fold_all<32>(x, *n, sum, least, at, last);
}
RT_KERNEL blocks(const float* x, const rt::i64* n, float* sum, float* least, rt::i64* at, rt::i64* last, rt::Fault*) {
  fold_all<128>(x, *n, sum, least, at, last);
}
RT_KERNEL halves(const double* x, double* to, rt::Fault*) { to[rt::thread()] = rt::shuffle(x[rt::thread()], 5); }
)";

class Library {
 public:
  Library(const std::string& text, std::vector<std::string> names) {
    names.push_back("cameo_fibers");
    const Outcome object = run_one(fiber_job({"kernels.cu", text}));
    EXPECT_TRUE(object.ok) << object.message;
    const std::string path = built(link_shared({{"k.o", object.bytes, {}}}, "k.so", "", names), "teams.so");
    handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_TRUE(handle_) << dlerror();
  }
  ~Library() { dlclose(handle_); }
  Library(const Library&) = delete;
  template <class... P>
  void launch(const char* name, P*... pointers) {
    auto* entry = reinterpret_cast<void (*)(P*...)>(dlsym(handle_, name));
    run_blocks(*static_cast<rt::Fibers*>(dlsym(handle_, "cameo_fibers")), 1, [&] { entry(pointers...); });
  }

 private:
  void* handle_;
};

TEST(Teams, AllThreadsGetTheFold) {
  Library library(kTeams, {"warps", "blocks", "halves"});
  for (const char* name : {"warps", "blocks"})
    for (const int64_t n : {0, 1, 31, 32, 33, 127, 1000, 20000}) {
      SCOPED_TRACE(fmt::format("{} of {}", name, n));
      std::vector<float> x(static_cast<size_t>(n)), sum(128), least(128);
      std::vector<int64_t> at(128), last(128);
      double want = 0;
      float lowest = INFINITY;
      for (int64_t i = 0; i < n; ++i) {
        const float v = x[static_cast<size_t>(i)] = static_cast<float>((i * 7919 % 101) * 0.25 + 0.1);
        want += v;
        lowest = std::min(lowest, v);
      }
      const auto greatest = std::ranges::max_element(x);
      const int64_t first = n ? greatest - x.begin() : 0;
      const int64_t final = n ? std::ranges::find(x.rbegin(), x.rend(), *greatest).base() - x.begin() - 1 : 0;
      library.launch(name, x.data(), &n, sum.data(), least.data(), at.data(), last.data(),
                     static_cast<rt::Fault*>(nullptr));
      for (size_t t = 0; t < 128; ++t) {
        EXPECT_EQ(sum[t], sum[0]);
        EXPECT_EQ(least[t], lowest);
        EXPECT_EQ(at[t], first);
        EXPECT_EQ(last[t], final);
      }
      EXPECT_NEAR(sum[0], want, 1e-6 * want);
    }
}

TEST(Teams, AShuffleMovesWholeElements) {
  Library library(kTeams, {"warps", "blocks", "halves"});
  std::vector<double> x(128), to(128);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 1.0 / static_cast<double>(i + 1);
  library.launch("halves", x.data(), to.data(), static_cast<rt::Fault*>(nullptr));
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(to[i], x[i ^ 5]);
}

TEST(Fibers, ABarrierThatSomeDoNotReachIsSaid) {
  rt::Fibers words{};
  EXPECT_THROW(run_blocks(words, 1,
                          [&] {
                            if (words.thread != 5) words.barrier();
                          }),
               std::runtime_error);
}

// ---- aarch64 --------------------------------------------------------------------------------------------------------

CompileJob job_for_aarch64(const Graph& g) {
  const Module m = plan_graph(g, "model", {"aarch64", "generic", "0", 16, 32});
  CompileJob job = compile_job("kernels.cpp", print_module(m, 1, {}).kernels[0][0].text);
  job.target = {kAarch64, "generic", {}, 0};
  job.assembly = true;
  job.vectorize = false;
  return job;
}

/// Nothing but functions of its own: kernels are linked with no library.
void expect_no_foreign_call(const std::string& assembly) {
  for (size_t at = 0; (at = assembly.find("\tbl\t", at)) != std::string::npos; ++at) {
    const std::string called = assembly.substr(at + 4, assembly.find('\n', at + 4) - at - 4);
    EXPECT_NE(assembly.find("\n" + called + ":"), std::string::npos) << called;
  }
}

TEST(OnAarch64, DigitsMultipliesInVectors) {
  const Outcome outcome = run_one(job_for_aarch64(digits()));
  ASSERT_TRUE(outcome.ok) << outcome.message;
  EXPECT_NE(outcome.bytes.find("fmla\tv"), std::string::npos) << outcome.bytes;
  expect_no_foreign_call(outcome.bytes);
}

TEST(OnAarch64, OperatorsCompile) {
  std::vector<Job> jobs;
  std::vector<std::string> names;
  for (const char* op : {"conv", "mat_mul", "softmax", "top_k", "gelu", "erf", "gather_nd"})
    for (const Case& c : load_case_file(fs::path(CAMEO_SOURCE_DIR) / fmt::format("tests/ops/{}.case", op)))
      if (c.graph && !c.fail && is_static(c.graph->type(c.graph->outputs()[0].value).shape)) {
        jobs.emplace_back(job_for_aarch64(*c.graph));
        names.push_back(c.where + " " + c.name);
      }
  const std::vector<Outcome> outcomes = run_jobs(jobs, 2);
  for (size_t i = 0; i < outcomes.size(); ++i) {
    SCOPED_TRACE(names[i]);
    EXPECT_TRUE(outcomes[i].ok) << outcomes[i].message;
    expect_no_foreign_call(outcomes[i].bytes);
  }
}

}  // namespace
}  // namespace cameo::test
