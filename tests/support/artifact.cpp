// See artifact.h.
#include "tests/support/artifact.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <deque>

#include "codegen/abi_values.h"
#include "codegen/build/compile.h"
#include "tests/gpu/mock/mock.h"

namespace cameo::test {
namespace fs = std::filesystem;

void build_graph(const Graph& g, const fs::path& path, const BuildOptions& options, const Target& target,
                 const std::vector<GoldenCase>& goldens, bool reduce_overhead) {
  BuildOptions quiet = options;
  quiet.with_program = false;
  Module module = plan_graph(g, "model", target);
  module.reduce_overhead = reduce_overhead;
  compile_module(module, goldens, OutputKind::SharedLibrary, path, quiet);
}

// ---- running --------------------------------------------------------------------------------------------------------
namespace {

std::string loader_error() {
  const char* e = dlerror();
  return e ? e : "no reason given";
}

class Error {
 public:
  cameo_error* get() { return &error_; }
  void check(cameo_status status, const cameo_api& api) {
    if (status == CAMEO_OK) return;
    const bool misfit = status == CAMEO_INVALID_ARGUMENT && error_.node >= 0;  // of a node, at the sizes of the data
    if (status == CAMEO_OUT_OF_RANGE || misfit) throw CompileError(Code::E0304, error_.message);
    throw std::runtime_error(fmt::format("{}: {}", api.status_string(status), error_.message));
  }

 private:
  cameo_error error_{sizeof(cameo_error), CAMEO_OK, -1, -1, {}};
};

}  // namespace

LoadedArtifact::LoadedArtifact(const fs::path& path) : library_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (!library_) throw std::runtime_error(loader_error());
  auto get = reinterpret_cast<cameo_get_api>(dlsym(library_, "cameo_model_api"));
  api_ = get ? get(CAMEO_ABI_MAJOR) : nullptr;
  if (!api_) throw std::runtime_error("no `cameo_model_api` in the artifact");
}

LoadedArtifact::~LoadedArtifact() { dlclose(library_); }

std::vector<Tensor> LoadedArtifact::run(std::span<const Tensor> inputs, int threads) const {
  Error error;
  cameo_options options{};
  options.struct_size = sizeof options;
  api_->options_init(&options);
  options.num_threads = threads;
  cameo_model* made = nullptr;
  error.check(api_->model_create(&options, &made, error.get()), *api_);
  std::unique_ptr<cameo_model, void (*)(cameo_model*)> model(made, api_->model_release);
  cameo_context* begun = nullptr;
  error.check(api_->context_create(made, &begun, error.get()), *api_);
  std::unique_ptr<cameo_context, void (*)(cameo_context*)> context(begun, api_->context_release);

  std::deque<AbiValue> given;
  std::vector<cameo_value> in, out;
  for (size_t i = 0; i < inputs.size(); ++i) in.push_back(given.emplace_back(*api_, i, inputs[i]).get());
  for (size_t i = 0; i < static_cast<size_t>(api_->io_count(1)); ++i) out.push_back(abi_output(*api_, i));
  error.check(api_->run(begun, in.data(), static_cast<int32_t>(in.size()), out.data(), static_cast<int32_t>(out.size()),
                        nullptr, error.get()),
              *api_);
  std::vector<Tensor> results;
  for (const cameo_value& v : out) results.push_back(tensor_of(v));
  return results;
}

std::shared_ptr<const LoadedArtifact> load_artifact(const Graph& g, const Target& target) {
  fs::path path = fs::temp_directory_path() / fmt::format("cameo_artifact_{}.so", getpid());
  struct Remove {
    const fs::path& path;
    ~Remove() {
      std::error_code ignored;
      fs::remove(path, ignored);
    }
  } remove{path};
  BuildOptions here;
  here.jobs = 0;
  build_graph(g, path, here, target);
  return std::make_shared<const LoadedArtifact>(path);
}

std::shared_ptr<const LoadedArtifact> load_for_emulated_gpu(const Graph& g) {
  load_mock();
  return load_artifact(g, gpu_target({"host"}));
}

std::vector<Tensor> run_through_artifact(const Graph& g, std::span<const Tensor> inputs, const Target& target) {
  return load_artifact(g, target)->run(inputs);
}

std::vector<Tensor> run_on_emulated_gpu(const Graph& g, std::span<const Tensor> inputs) {
  return load_for_emulated_gpu(g)->run(inputs);
}

void warm_up_compiler() {
  CompileJob job;
  job.name = "warm.cpp";
  job.source =
      "#include \"runtime/kernels/nest.h\"\nvoid f(float* x) { rt::store(x, 0l, rt::add(rt::load(x, 1l), 1.0f)); }\n";
  (void)compile(job);
}

}  // namespace cameo::test
