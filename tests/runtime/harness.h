// A model and a context of a hand-written program, and values over vectors.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "runtime/abi.h"
#include "tests/runtime/programs.h"

struct Error : cameo_error {
  Error() : cameo_error{sizeof(cameo_error), 0, -1, -1, ""} {}
};

template <class T>
inline constexpr uint32_t kDtype = rt::kUndefined;
template <>
inline constexpr uint32_t kDtype<float> = rt::kF32;
template <>
inline constexpr uint32_t kDtype<int64_t> = rt::kI64;
template <>
inline constexpr uint32_t kDtype<unsigned char> = rt::kBool;

template <class T>
cameo_value value(std::vector<T>& data, std::vector<int64_t>& dims) {
  cameo_value v = {};
  v.struct_size = sizeof v;
  v.kind = CAMEO_KIND_TENSOR;
  v.tensor = {data.data(),
              {CAMEO_CPU, 0},
              static_cast<int32_t>(dims.size()),
              rt::to_dlpack(kDtype<T>),
              dims.data(),
              nullptr,
              0};
  return v;
}

inline cameo_value owned() {
  cameo_value v = {};
  v.struct_size = sizeof v;
  v.kind = CAMEO_KIND_TENSOR;
  return v;
}

inline cameo_value none() {
  cameo_value v = {};
  v.struct_size = sizeof v;
  return v;
}

template <const rt::Program& kProgram>
struct Session {
  static constexpr cameo_api api = rt::make_api<kProgram>();
  cameo_model* model = nullptr;
  cameo_context* context = nullptr;
  Error error;

  explicit Session(int threads = 0) {
    cameo_options options;
    options.struct_size = sizeof options;
    api.options_init(&options);
    options.num_threads = threads;
    start(&options);
  }
  explicit Session(const cameo_options& options) { start(&options); }
  void start(const cameo_options* options) {
    EXPECT_EQ(api.model_create(options, &model, &error), CAMEO_OK) << error.message;
    EXPECT_EQ(api.context_create(model, &context, &error), CAMEO_OK) << error.message;
  }
  ~Session() {
    api.context_release(context);
    api.model_release(model);
  }
  cameo_status run(std::vector<cameo_value> in, std::vector<cameo_value>& out) {
    return api.run(context, in.data(), static_cast<int32_t>(in.size()), out.data(), static_cast<int32_t>(out.size()),
                   nullptr, &error);
  }
};
