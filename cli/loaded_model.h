// A built `.so` in this process, through nothing but its C ABI.
#pragma once
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "frontend/ir/tensor.h"
#include "optimizer/plan/plan.h"
#include "runtime/cameo.h"

namespace cameo {

class LoadedModel {
 public:
  /// Throws Failure.
  LoadedModel(const std::filesystem::path& library, int threads);
  ~LoadedModel();
  LoadedModel(const LoadedModel&) = delete;
  LoadedModel& operator=(const LoadedModel&) = delete;

  std::vector<Tensor> run(std::span<const Tensor> inputs, const Interface& io);
  /// The same, and each intermediate value that the artifact writes and the model names.
  std::map<std::string, Tensor> run_with_taps(std::span<const Tensor> inputs, const Interface& io);

 private:
  void close();
  [[noreturn]] void fail(int code, const std::string& message);

  void* library_ = nullptr;
  const cameo_api* api_ = nullptr;
  cameo_model* model_ = nullptr;
  cameo_context* context_ = nullptr;
};

}  // namespace cameo
