// A model on a GPU from C++: the device that is asked for, tensors of its memory, the caller's stream. Whatever driver
// LD_LIBRARY_PATH gives is called as a host that uses it directly would.
#include <dlfcn.h>

#include <cameo/cameo.hpp>
#include <cstdio>
#include <string>
#include <vector>

#include "require.h"

namespace {

/// Memory of the card, and the stream that copies it.
class Card {
 public:
  Card() {
    call<void**, int>("cuDevicePrimaryCtxRetain", &context_, 0);
    call<void*>("cuCtxPushCurrent", context_);
    call<void**, unsigned>("cuStreamCreate", &stream_, 0u);
  }
  Card(const Card&) = delete;
  ~Card() {
    call<void*>("cuStreamDestroy", stream_);
    for (void* memory : memories_) call<void*>("cuMemFree", memory);
    call<int>("cuDevicePrimaryCtxRelease", 0);
  }
  float* put(const std::vector<float>& from) {
    const size_t bytes = from.size() * sizeof(float);
    void* memory = nullptr;
    call<void**, size_t>("cuMemAlloc", &memory, bytes);
    memories_.push_back(memory);
    call<void*, const void*, size_t>("cuMemcpyHtoD", memory, from.data(), bytes);
    return static_cast<float*>(memory);
  }
  std::vector<float> get(const float* from, size_t count) {
    std::vector<float> to(count);
    call<void*, const void*, size_t, void*>("cuMemcpyDtoHAsync", to.data(), from, count * sizeof(float), stream_);
    call<void*>("cuStreamSynchronize", stream_);
    return to;
  }
  void* stream() const { return stream_; }

 private:
  template <class... A>
  void call(const char* name, A... arguments) {
    using Find = int (*)(const char*, void**, int, unsigned long long, void*);
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *entry = nullptr;
    require(library && !reinterpret_cast<Find>(dlsym(library, "cuGetProcAddress_v2"))(name, &entry, 12000, 0, nullptr),
            "there is a driver");
    require(reinterpret_cast<int (*)(A...)>(entry)(arguments...) == 0, name);
  }
  void *context_ = nullptr, *stream_ = nullptr;
  std::vector<void*> memories_;
};

}  // namespace

int main(int argc, char** argv) try {
  require(argc == 2, "usage: gpu MODEL.so");
  const std::vector<float> pixels(64, 0.25f);
  cameo::Context on_cpu(cameo::Model(argv[1], cameo::Options().on("cpu")));
  const std::vector<float> expected = on_cpu.run({pixels}).at(0).to_vector<float>();
  cameo::Context context(cameo::Model(argv[1], cameo::Options().on("cuda:0")));
  const std::vector<float> scores = context.run({pixels}).at(0).to_vector<float>();
  for (size_t i = 0; i < 10; ++i) require(std::abs(scores[i] - expected[i]) < 1e-6f, "both devices agree");

  Card card;
  const float* from = card.put(pixels);
  float* to = card.put(std::vector<float>(10));
  context.set_stream(card.stream());
  context.run({{from, 64, cameo::cuda(0)}}, {{to, 10, cameo::cuda(0)}});
  require(card.get(to, 10) == scores, "tensors of the card are used in place");
  std::vector<float> down(10);
  context.run({{from, 64, cameo::cuda()}}, {down});
  require(down == scores, "from the card to the host");

  require_refused(CAMEO_INVALID_ARGUMENT, "device type 2, expected 1",
                  [&] { on_cpu.run({{from, 64, cameo::cuda()}}); });
  require_refused(CAMEO_UNAVAILABLE, "there is no GPU 3",
                  [&] { cameo::Model(argv[1], cameo::Options().on("cuda:3")); });
  for (const char* where : {"gpu", "cuda:", "cuda:x", "cpu:0", ""})
    require_refused(CAMEO_INVALID_ARGUMENT, "there is no device", [&] { cameo::Options().on(where); });
  return 0;
} catch (const std::exception& e) { return std::fprintf(stderr, "%s\n", e.what()), 1; }
