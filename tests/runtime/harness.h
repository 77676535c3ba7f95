// A model and a context of a hand-written program, and values over vectors.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
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
inline constexpr uint32_t kDtype<int32_t> = rt::kI32;
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

/// What goes through options.alloc, which fails after `budget` allocations.
struct Counts {
  std::map<void*, size_t> live;
  int allocations = 0, budget = 1 << 30;
};

inline cameo_options counting(Counts& counts) {
  cameo_options options = rt::default_options();
  options.user = &counts;
  options.alloc = [](void* user, size_t bytes, size_t alignment, cameo_device) -> void* {
    Counts& counts = *static_cast<Counts*>(user);
    if (counts.allocations++ >= counts.budget) return nullptr;
    void* memory = std::aligned_alloc(alignment, bytes);
    counts.live[memory] = bytes;
    return memory;
  };
  options.free = [](void* user, void* memory, size_t bytes, size_t, cameo_device) {
    Counts& counts = *static_cast<Counts*>(user);
    EXPECT_EQ(counts.live.at(memory), bytes);
    counts.live.erase(memory);
    std::free(memory);
  };
  return options;
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
