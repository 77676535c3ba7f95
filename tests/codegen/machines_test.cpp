// Printed kernels on machines that this one is not. The calling convention, proved without a GPU: kernels with the
// GPU's frame have the bodies of the CPU's, become PTX without a toolkit, and, run on fibers step by step, compute what
// the interpreter computes. And NEON: the CPU's frame compiles for aarch64.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "codegen/pool_pieces.h"
#include "codegen/print_kernel.h"
#include "codegen/print_module.h"
#include "frontend/compare.h"
#include "frontend/import_onnx.h"
#include "frontend/interpret.h"
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

std::vector<Tensor> digits_input() {
  Tensor t(DType::f32, {1, 1, 8, 8});
  for (int64_t i = 0; i < t.size(); ++i) t.set(i, 0.25 * static_cast<double>(i * i % 64));
  return {t};
}

std::string printed(const Module& m, Frame frame) {
  Writer w;
  w.append(kernel_includes(m.plans[0].kernels));
  for (const Kernel& k : m.plans[0].kernels) print_kernel(w, k, *m.sources, frame);
  return w.take();
}

// ---- on fibers ------------------------------------------------------------------------------------------------------

/// The kernels' library and the memory of one run.
class FiberRun {
 public:
  FiberRun(const Module& m, std::span<const Tensor> inputs) : module_(m), inputs_(inputs.begin(), inputs.end()) {
    for (const std::span<const std::byte> piece : pool_pieces(m))
      weights_.insert(weights_.end(), piece.begin(), piece.end());
    arena_.resize(static_cast<size_t>(m.plans[0].arena_bytes), std::byte{0xff});  // NaN
    for (const Interface::Io& o : m.io.outputs) outputs_.emplace_back(o.type.dtype, extents(o.type.shape));
    if (!m.plans[0].kernels.empty()) load();
  }
  ~FiberRun() {
    if (library_) dlclose(library_);
  }
  FiberRun(const FiberRun&) = delete;

  std::vector<Tensor> run() {
    for (const Step& s : module_.plans[0].steps) {
      EXPECT_EQ(s.kind, StepKind::Kernel) << "a row that is not a kernel";
      launch(s);
      EXPECT_EQ(fault_.code, rt::kNoFault);
    }
    return outputs_;
  }

 private:
  void load() {
    CompileJob job = compile_job("kernels.cpp", printed(module_, Frame::Gpu));
    job.target.cpu = "x86-64-v3";  // with an fma, as a GPU has
    job.defines = {"RT_FIBERS"};
    const Outcome object = run_one(job);
    ASSERT_TRUE(object.ok) << object.message;
    std::vector<std::string> names{"cameo_fibers"};
    for (const Kernel& k : module_.plans[0].kernels) names.push_back(k.symbol);
    const std::string path =
        built(link_shared({{"kernels.o", object.bytes, {}}}, "kernels.so", "", names), "kernels.so");
    library_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_TRUE(library_) << dlerror();
  }
  void* address(const Ref& r) {
    std::byte* const base = r.base == Base::Weights ? weights_.data()
                            : r.base == Base::Arena ? arena_.data()
                            : r.base == Base::Input ? inputs_[r.number].mutable_bytes().data()
                                                    : outputs_[r.number].mutable_bytes().data();
    return base + r.offset;
  }
  void launch(const Step& s) {
    const Kernel& k = module_.plans[0].kernels[s.kernel];
    std::vector<void*> parameters;
    for (const Ref& r : s.refs) parameters.push_back(address(r));
    parameters.push_back(&fault_);
    void* const entry = dlsym(library_, k.symbol.c_str());
    const bool divisible = k.form == Form::Nest || k.form == Form::Contract;
    run_blocks(*static_cast<rt::Fibers*>(dlsym(library_, "cameo_fibers")), divisible ? 3 : 1,
               [&] { call(entry, parameters, std::make_index_sequence<12>()); });
  }
  template <size_t>
  using Pointer = void*;
  /// The function of as many pointers as there are parameters.
  template <size_t... I>
  static void call(void* entry, std::span<void* const> p, std::index_sequence<I...>) {
    (void)((p.size() == I && (call_with(entry, p, std::make_index_sequence<I>()), true)) || ...);
  }
  template <size_t... I>
  static void call_with(void* entry, [[maybe_unused]] std::span<void* const> p, std::index_sequence<I...>) {
    reinterpret_cast<void (*)(Pointer<I>...)>(entry)(p[I]...);
  }

  const Module& module_;
  std::vector<std::byte> weights_, arena_;
  std::vector<Tensor> inputs_, outputs_;
  rt::Fault fault_{};
  void* library_ = nullptr;
};

void expect_fibers_agree(const Graph& g, std::span<const Tensor> inputs) {
  const Module m = plan_graph(g, "model", *find_target("x86-64-v4"));
  const std::vector<Tensor> got = FiberRun(m, inputs).run();
  const Interpretation want = interpret(g, inputs);
  for (size_t i = 0; i < got.size(); ++i) {
    const Comparison c = compare(got[i], want.rounded[i], want.unrounded[i]);
    EXPECT_TRUE(c.pass) << "output " << i << ": " << c.why;
  }
}

// ---- tests ----------------------------------------------------------------------------------------------------------

/// Without the lines that either frame consists of.
std::string bodies(const std::string& text) {
  std::string kept;
  for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    const std::string_view line(text.data() + at, end + 1 - at);
    const bool frame = line.find("static void k") != line.npos || line.starts_with("RT_KERNEL k") ||
                       line.find("rt::address<") != line.npos || line.find("rt::block_call(") != line.npos;
    if (!frame) kept += line;
  }
  return kept;
}

TEST(GpuFrame, IsAllThatDiffers) {
  const Module m = plan_graph(digits(), "digits");
  const std::string cpu = printed(m, Frame::Cpu), gpu = printed(m, Frame::Gpu);
  EXPECT_NE(cpu, gpu);
  EXPECT_EQ(bodies(cpu), bodies(gpu));
}

TEST(GpuFrame, BecomesPtxWithoutAToolkit) {
  const Module m = plan_graph(digits(), "digits", *find_target("x86-64-v4"));
  CompileJob job = compile_job("kernels.cu", printed(m, Frame::Gpu));
  job.target = {"nvptx64-nvidia-cuda", "sm_80", {"+ptx70"}, 0};
  job.assembly = true;
  const Outcome outcome = run_one(job);
  ASSERT_TRUE(outcome.ok) << outcome.message;
  const std::string& ptx = outcome.bytes;
  for (const Kernel& k : m.plans[0].kernels) {
    const size_t entry = ptx.find(fmt::format(".visible .entry {}(", k.symbol));
    ASSERT_NE(entry, std::string::npos) << k.symbol;
    const std::string code = ptx.substr(entry, ptx.find(".visible .entry", entry + 1) - entry);
    EXPECT_NE(code.find(fmt::format("{}_param_{}\n)", k.symbol, k.operands.size())), std::string::npos)
        << "the operands and the fault in\n"
        << code;
    EXPECT_EQ(code.find(".local"), std::string::npos) << "registers hold everything in\n" << code;
    EXPECT_EQ(code.find("call"), std::string::npos) << "everything is inlined in\n" << code;
    if (k.form != Form::Contract) continue;
    for (const char* part : {"fma.rn.f32", "bar.sync", "ld.shared.f32", "st.global.f32"})
      EXPECT_NE(code.find(part), std::string::npos) << part << " in\n" << code;
  }
}

TEST(GpuFrame, DigitsRunsOnFibers) { expect_fibers_agree(digits(), digits_input()); }

class OperatorsOnFibers : public testing::TestWithParam<const char*> {};
TEST_P(OperatorsOnFibers, Agree) {
  for (const Case& c : load_case_file(fs::path(CAMEO_SOURCE_DIR) / fmt::format("tests/ops/{}.case", GetParam())))
    if (c.graph && !c.fail) {
      SCOPED_TRACE(c.where + " " + c.name);
      expect_fibers_agree(*c.graph, c.inputs);
    }
}
INSTANTIATE_TEST_SUITE_P(Ops, OperatorsOnFibers, testing::Values("conv", "mat_mul", "top_k", "scatter_nd", "softmax"),
                         [](const auto& info) { return info.param; });

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
  for (size_t at = 0; (at = assembly.find("\tbl\t", at)) != std::string::npos; ++at)
    EXPECT_EQ(assembly.compare(at + 4, 6, "_ZN2rt"), 0)
        << assembly.substr(at + 4, assembly.find('\n', at + 4) - at - 4);
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

TEST(Fibers, ABarrierThatSomeDoNotReachIsSaid) {
  rt::Fibers words{};
  EXPECT_THROW(run_blocks(words, 1,
                          [&] {
                            if (words.thread != 5) words.barrier();
                          }),
               std::runtime_error);
}

}  // namespace
}  // namespace cameo::test
