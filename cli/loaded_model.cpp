// See loaded_model.h.
#include "cli/loaded_model.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "cli/console.h"
#include "frontend/ir/string_codes.h"
#include "runtime/dtype.h"
#include "runtime/program/tool.h"

namespace cameo {
namespace {

cameo_error new_error() {
  cameo_error error = {};
  error.struct_size = sizeof error;
  return error;
}

/// Tensors as the ABI takes them; the dims live here, and what strings are given by.
class Values {
 public:
  explicit Values(size_t count) : values_(count), shapes_(count), texts_(count), lengths_(count) {
    for (cameo_value& v : values_) v.struct_size = sizeof v, v.kind = CAMEO_KIND_TENSOR;
  }
  void set(size_t i, const Tensor& t, void* data) {
    shapes_[i] = t.dims();
    cameo_value& v = values_[i];
    v.tensor = {
        data, {CAMEO_CPU, 0}, t.rank(), rt::to_dlpack(static_cast<uint32_t>(t.dtype())), shapes_[i].data(), nullptr, 0};
    if (t.dtype() == DType::str) set_texts(i, t);
  }
  void expect_strings(size_t i) { values_[i].kind = CAMEO_KIND_STRINGS; }
  cameo_value* data() { return values_.data(); }
  int32_t size() const { return static_cast<int32_t>(values_.size()); }

 private:
  void set_texts(size_t i, const Tensor& t) {
    for (int64_t k = 0; k < t.size(); ++k) {
      texts_[i].push_back(t.text(k).data());
      lengths_[i].push_back(std::ssize(t.text(k)));
    }
    expect_strings(i);
    values_[i].strings = texts_[i].data();
    values_[i].lengths = lengths_[i].data();
  }

  std::vector<cameo_value> values_;
  std::vector<std::vector<int64_t>> shapes_;
  std::vector<std::vector<const char*>> texts_;
  std::vector<std::vector<int64_t>> lengths_;
};

Tensor copy_of(const cameo_tensor& t) {
  const std::vector<int64_t> dims(t.shape, t.shape + t.ndim);
  const auto type = static_cast<DType>(rt::from_dlpack(t.dtype));
  Tensor copy(type, dims);
  if (is_packed(type))
    return unpacked(type, dims, std::span(static_cast<const std::byte*>(t.data), packed_bytes(type, copy.size())));
  if (copy.size()) std::memcpy(copy.mutable_bytes().data(), t.data, copy.bytes().size());
  return copy;
}

Tensor copy_of(const cameo_value& v) {
  if (v.kind != CAMEO_KIND_STRINGS) return copy_of(v.tensor);
  Tensor copy(DType::str, {v.tensor.shape, v.tensor.shape + v.tensor.ndim});
  for (int64_t i = 0; i < copy.size(); ++i) copy.set_int(i, code_of({v.strings[i], static_cast<size_t>(v.lengths[i])}));
  return copy;
}

void keep_tap(void* user, const cameo_tap* tap) {
  (*static_cast<std::map<std::string, Tensor>*>(user))[tap->name] = copy_of(*tap->tensor);
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
  std::vector<Tensor> outputs(io.outputs.size());
  Values in(inputs.size()), out(io.outputs.size());
  std::vector<Tensor> held;
  std::ranges::transform(inputs, std::back_inserter(held), packed);
  for (size_t i = 0; i < inputs.size(); ++i) in.set(i, inputs[i], const_cast<std::byte*>(held[i].bytes().data()));
  for (size_t i = 0; i < io.outputs.size(); ++i) {
    if (io.outputs[i].type.dtype == DType::str) {
      out.expect_strings(i);
      continue;
    }
    if (!is_static(io.outputs[i].type.shape) || is_packed(io.outputs[i].type.dtype)) continue;  // the context's own
    outputs[i] = Tensor(io.outputs[i].type.dtype, extents(io.outputs[i].type.shape));
    out.set(i, outputs[i], outputs[i].mutable_bytes().data());
  }
  cameo_error error = new_error();
  if (const cameo_status status = api_->run(context_, in.data(), in.size(), out.data(), out.size(), nullptr, &error))
    throw Failure(rt::program::exit_code(status), error.message);
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].dtype() == DType::undefined) outputs[i] = copy_of(out.data()[i]);
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
