// See loaded_model.h.
#include "cli/loaded_model.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <iterator>

#include "cli/console.h"
#include "codegen/abi_values.h"
#include "runtime/program/tool.h"

namespace cameo {
namespace {

cameo_error new_error() {
  cameo_error error = {};
  error.struct_size = sizeof error;
  return error;
}

void keep_tap(void* user, const cameo_tap* tap) {
  (*static_cast<std::map<std::string, Tensor>*>(user))[tap->name] =
      tensor_of({sizeof(cameo_value), CAMEO_KIND_TENSOR, *tap->tensor, nullptr, 0, nullptr, nullptr});
}

}  // namespace

LoadedModel::LoadedModel(const std::filesystem::path& library, int threads) {
  library_ = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library_) throw Failure(kBug, fmt::format("cannot load `{}`: {}", library.string(), ::dlerror()));
  const auto get = reinterpret_cast<cameo_get_api>(::dlsym(library_, "cameo_model_api"));
  api_ = get ? get(CAMEO_ABI_MAJOR) : nullptr;
  if (!api_) fail(kBug, fmt::format("`{}` has no function table", library.string()));
  cameo_options options = {};
  options.struct_size = sizeof options;
  api_->options_init(&options);
  options.num_threads = threads;
  cameo_error error = new_error();
  cameo_status status = api_->model_create(&options, &model_, &error);
  if (!status) status = api_->context_create(model_, &context_, &error);
  if (status) fail(rt::program::exit_code(status), error.message);
}

LoadedModel::~LoadedModel() { close(); }

void LoadedModel::fail(int code, const std::string& message) {
  close();
  throw Failure(code, message);
}

void LoadedModel::close() {
  if (context_) api_->context_release(context_);
  if (model_) api_->model_release(model_);
  if (library_) ::dlclose(library_);
  library_ = nullptr;
}

std::vector<Tensor> LoadedModel::run(std::span<const Tensor> inputs, const Interface& io) {
  std::deque<AbiValue> given;
  std::vector<cameo_value> in, out;
  for (size_t i = 0; i < inputs.size(); ++i) in.push_back(given.emplace_back(*api_, i, inputs[i]).get());
  for (size_t i = 0; i < io.outputs.size(); ++i) out.push_back(abi_output(*api_, i));
  cameo_error error = new_error();
  const cameo_status status = api_->run(context_, in.data(), static_cast<int32_t>(in.size()), out.data(),
                                        static_cast<int32_t>(out.size()), nullptr, &error);
  if (status) throw Failure(rt::program::exit_code(status), error.message);
  std::vector<Tensor> outputs;
  std::ranges::transform(out, std::back_inserter(outputs), tensor_of);
  return outputs;
}

std::map<std::string, Tensor> LoadedModel::run_with_taps(std::span<const Tensor> inputs, const Interface& io) {
  std::map<std::string, Tensor> values;
  cameo_error error = new_error();
  const cameo_status status = api_->tap(context_, keep_tap, &values, &error);
  if (status == CAMEO_NOT_FOUND) return values;  // nothing is written but outputs
  if (status) throw Failure(rt::program::exit_code(status), error.message);
  run(inputs, io);
  api_->tap(context_, nullptr, nullptr, nullptr);
  return values;
}

}  // namespace cameo
