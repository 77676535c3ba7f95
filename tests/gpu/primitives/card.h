// The first GPU that the driver has, with the image of kernels.cu that it takes, and launches of those kernels.
#pragma once
#include <string>
#include <vector>

#include "runtime/cuda/card.h"

namespace cameo::test {

class Card {
 public:
  Card();  // throws std::runtime_error: no driver, no GPU, no image for it
  ~Card();
  Card(const Card&) = delete;
  std::string description() const;

  /// What a kernel makes of `from`: `count` elements, zeros before it runs.
  template <class Out, class In>
  std::vector<Out> run(const char* kernel, int blocks, const std::vector<In>& from, size_t count) {
    std::vector<Out> to(count);
    launch(kernel, blocks, from.data(), from.size() * sizeof(In), to.data(), count * sizeof(Out));
    return to;
  }

 private:
  void launch(const char* kernel, int blocks, const void* from, size_t from_bytes, void* to, size_t to_bytes);
  template <class... P, class... A>
  void call(const rt::cuda::Entry<P...>& entry, A... arguments);
  void check(int32_t status);

  cameo_error error_{};
  rt::cuda::Driver driver_;
  rt::cuda::Card card_;
  std::string architecture_;
  void *primary_ = nullptr, *module_ = nullptr, *stream_ = nullptr;
};

}  // namespace cameo::test
