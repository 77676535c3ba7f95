// What the cases of kernel families share. Each file of cases is compiled once for each instruction set, so nothing
// here may be linked with another one's.
#pragma once
#include <sys/mman.h>

#include <cstring>
#include <initializer_list>
#include <limits>
#include <string>
#include <vector>

#include "runtime/call.h"
#include "runtime/kernels/contract_shape.h"

namespace {

using rt::i64;
using Floats = std::vector<float>;

constexpr i64 kGap = 3;  // columns of a row behind the last

inline Floats small_integers(i64 count, unsigned seed) {
  Floats v(count);
  for (float& x : v) x = static_cast<float>(static_cast<int>((seed = seed * 1664525u + 1013904223u) >> 24) % 7 - 3);
  return v;
}

// A copy that ends where a page ends and nothing may be read behind it.
template <class T>
class Guarded {
 public:
  explicit Guarded(const std::vector<T>& v) : bytes_((v.size() * sizeof(T) + kPage - 1) / kPage * kPage + kPage) {
    map_ = static_cast<char*>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(map_ + bytes_ - kPage, kPage, PROT_NONE);
    data_ = reinterpret_cast<T*>(map_ + bytes_ - kPage) - v.size();
    if (!v.empty()) std::memcpy(data_, v.data(), v.size() * sizeof(T));
  }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;
  ~Guarded() { munmap(map_, bytes_); }
  T* data() const { return data_; }

 private:
  static constexpr size_t kPage = 4096;
  size_t bytes_;
  char* map_;
  T* data_;
};

inline std::string difference(const Floats& want, const Floats& got, const std::string& what) {
  for (size_t i = 0; i < want.size(); ++i)
    if (want[i] != got[i])
      return what + ": element " + std::to_string(i) + " is " + std::to_string(got[i]) + ", not " +
             std::to_string(want[i]);
  return "";
}

inline std::string first_of(std::initializer_list<std::string> differences) {
  for (const std::string& d : differences)
    if (!d.empty()) return d;
  return "";
}

inline Floats pack(const Floats& b, i64 n, i64 k_total) {  // b is [k_total][n]
  Floats packed(rt::packed_b_elements(n, k_total));
  rt::pack_b(packed.data(), n, k_total, [&](i64 k, i64 col) { return b[k * n + col]; });
  if (const i64 last = n % rt::kPanel)  // what stands behind the last column must not matter
    for (i64 k = 0; k < k_total; ++k)
      for (i64 l = last; l < rt::kPanel; ++l)
        packed[(n / rt::kPanel * k_total + k) * rt::kPanel + l] = std::numeric_limits<float>::quiet_NaN();
  return packed;
}

// In several chunks as in an odd round of a loop.
template <class F>
void in_chunks(int chunks, float* scratch, F run) {
  for (int c = 0; c < chunks; ++c) run(rt::Call{nullptr, scratch, c, chunks, nullptr, chunks > 1});
}

inline bool runs_here() { return __builtin_cpu_supports(CASES_TARGET); }

}  // namespace
