// twister: the numbers of NumPy's RandomState(seed).random_sample(): the Mersenne Twister MT19937 (Matsumoto and
// Nishimura, 1998), two of whose 32-bit numbers make the 53 bits of a number in [0, 1). One after the other: no threads
// share them.
#pragma once
#include "runtime/kernels/nest.h"

namespace rt {
namespace detail {

class Twister {
 public:
  RT_FN explicit Twister(u32 seed) {
    state_[0] = seed;
    for (u32 i = 1; i < kSize; ++i) state_[i] = 1812433253u * (state_[i - 1] ^ state_[i - 1] >> 30) + i;
  }
  RT_FN f64 next() {
    const u64 high = word() >> 5, low = word() >> 6;
    return f64(high << 26 | low) * 0x1p-53;
  }

 private:
  static constexpr u32 kSize = 624, kShift = 397;
  RT_FN void refill() {
    for (u32 i = 0; i < kSize; ++i) {
      const u32 y = (state_[i] & 0x80000000u) | (state_[(i + 1) % kSize] & 0x7FFFFFFFu);
      state_[i] = state_[(i + kShift) % kSize] ^ y >> 1 ^ (y & 1 ? 0x9908B0DFu : 0);
    }
    at_ = 0;
  }
  RT_FN u32 word() {
    if (at_ == kSize) refill();
    u32 y = state_[at_++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9D2C5680u;
    y ^= y << 15 & 0xEFC60000u;
    return y ^ y >> 18;
  }
  u32 state_[kSize], at_ = kSize;
};

}  // namespace detail

// y[count]; of `like` only the shape counts.
template <class T>
RT_FN void twister(const Call& call, f64* y, const T*, i64 count, i64 seed) {
  if (detail::first_unit(call) != 0) return;
  detail::Twister numbers(static_cast<u32>(seed));
  for (i64 i = 0; i < count; ++i) y[i] = numbers.next();
}

}  // namespace rt
