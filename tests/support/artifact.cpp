// See artifact.h.
#include "tests/support/artifact.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>

#include "codegen/build/compile.h"
#include "runtime/dtype.h"
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

/// What the value of a tensor points to: its bytes as a caller has them, its dims, its strings.
struct Held {
  explicit Held(const Tensor& t) : bytes(packed(t)), shape(t.dims()) {
    if (t.dtype() == DType::str)
      for (int64_t i = 0; i < t.size(); ++i)
        texts.push_back(t.text(i).data()), lengths.push_back(std::ssize(t.text(i)));
  }
  Tensor bytes;
  std::vector<int64_t> shape;
  std::vector<const char*> texts;
  std::vector<int64_t> lengths;
};

cameo_value value_of(const Tensor& t, Held& held) {
  cameo_value v{};
  v.struct_size = sizeof v;
  v.kind = t.dtype() == DType::str ? CAMEO_KIND_STRINGS : CAMEO_KIND_TENSOR;
  v.tensor.shape = held.shape.data();
  v.tensor.ndim = t.rank();
  v.strings = held.texts.data();
  v.lengths = held.lengths.data();
  if (t.dtype() == DType::str) return v;
  v.tensor.data = const_cast<std::byte*>(held.bytes.bytes().data());
  v.tensor.device = {CAMEO_CPU, 0};
  v.tensor.dtype = rt::to_dlpack(static_cast<uint32_t>(t.dtype()));
  return v;
}

Tensor strings_of(const cameo_value& v) {
  const std::vector<int64_t> dims(v.tensor.shape, v.tensor.shape + v.tensor.ndim);
  std::vector<std::string> texts;
  for (int64_t i = 0; i < *element_count(dims); ++i)
    texts.emplace_back(v.strings[i], static_cast<size_t>(v.lengths[i]));
  return Tensor::of_strings(dims, texts);
}

Tensor tensor_of(const cameo_value& v) {
  if (v.kind == CAMEO_KIND_STRINGS) return strings_of(v);
  const cameo_tensor& t = v.tensor;
  const auto type = static_cast<DType>(rt::from_dlpack(t.dtype));
  const std::byte* bytes = static_cast<std::byte*>(t.data) + t.byte_offset;
  Tensor copy(type, {t.shape, t.shape + t.ndim});
  if (is_packed(type)) return unpacked(type, copy.dims(), std::span(bytes, packed_bytes(type, copy.size())));
  if (copy.size()) std::memcpy(copy.mutable_bytes().data(), bytes, copy.bytes().size());
  return copy;
}

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

  std::vector<Held> held(inputs.begin(), inputs.end());
  std::vector<cameo_value> in, out(static_cast<size_t>(api_->io_count(1)));
  for (size_t i = 0; i < inputs.size(); ++i) in.push_back(value_of(inputs[i], held[i]));
  for (size_t i = 0; i < out.size(); ++i) {
    cameo_io io{};
    io.struct_size = sizeof io;
    api_->io_get(1, static_cast<int32_t>(i), &io);
    out[i].struct_size = sizeof out[i], out[i].kind = io.kind;
  }
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
