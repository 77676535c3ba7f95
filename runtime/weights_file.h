// A file of weights (`--weights=file`): a header of one page, then the pool as artifacts map it. The compiler writes it
// with what stands here, the runtime reads it so.
#pragma once

#include "runtime/call.h"

namespace rt {

inline constexpr uint64_t kPoolBegin = 4096;  // bytes
inline constexpr uint32_t kWeightsVersion = 1;

struct WeightsHeader {  // little-endian; the rest of its page is zeros
  char magic[8] = {'c', 'a', 'm', 'e', 'o', 'W', 'T', 'S'};
  uint32_t version = kWeightsVersion;
  uint32_t begin = kPoolBegin;
  uint64_t bytes = 0, hash = 0;  // of the pool
};

// XXH64 with seed 0 (https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md) of bytes that come in pieces.
// Tells pools apart and finds damage; it is no protection against an adversary.
class PoolHash {
 public:
  void add(const void* piece, uint64_t bytes) {
    const unsigned char* from = static_cast<const unsigned char*>(piece);
    const unsigned char* const end = from + bytes;
    const uint64_t waiting = total_ % kStripe;
    total_ += bytes;
    if (waiting) {
      const uint64_t taken = bytes < kStripe - waiting ? bytes : kStripe - waiting;
      __builtin_memcpy(rest_ + waiting, from, taken);
      from += taken;
      if (waiting + taken < kStripe) return;
      add_stripe(rest_);
    }
    for (; end - from >= static_cast<int64_t>(kStripe); from += kStripe) add_stripe(from);
    if (from < end) __builtin_memcpy(rest_, from, static_cast<size_t>(end - from));
  }

  uint64_t finish() const {
    uint64_t hash = total_ < kStripe ? kPrimes[4] : merged_lanes();
    hash += total_;
    const unsigned char* from = rest_;
    uint64_t left = total_ % kStripe;
    for (; left >= 8; left -= 8, from += 8)
      hash = rotated(hash ^ mixed(0, word<uint64_t>(from)), 27) * kPrimes[0] + kPrimes[3];
    if (left >= 4) {
      hash = rotated(hash ^ (word<uint32_t>(from) * kPrimes[0]), 23) * kPrimes[1] + kPrimes[2];
      left -= 4, from += 4;
    }
    for (; left; --left, ++from) hash = rotated(hash ^ (*from * kPrimes[4]), 11) * kPrimes[0];
    hash = (hash ^ (hash >> 33)) * kPrimes[1];
    hash = (hash ^ (hash >> 29)) * kPrimes[2];
    return hash ^ (hash >> 32);
  }

 private:
  static constexpr uint64_t kStripe = 32;
  static constexpr uint64_t kPrimes[] = {0x9e3779b185ebca87u, 0xc2b2ae3d27d4eb4fu, 0x165667b19e3779f9u,
                                         0x85ebca77c2b2ae63u, 0x27d4eb2f165667c5u};

  static uint64_t rotated(uint64_t value, int bits) { return (value << bits) | (value >> (64 - bits)); }
  static uint64_t mixed(uint64_t lane, uint64_t value) { return rotated(lane + value * kPrimes[1], 31) * kPrimes[0]; }
  template <class T>
  static T word(const unsigned char* from) {
    T value;
    __builtin_memcpy(&value, from, sizeof value);
    return value;
  }
  void add_stripe(const unsigned char* from) {
    for (uint64_t& lane : lanes_) lane = mixed(lane, word<uint64_t>(from)), from += sizeof lane;
  }
  uint64_t merged_lanes() const {
    uint64_t hash = rotated(lanes_[0], 1) + rotated(lanes_[1], 7) + rotated(lanes_[2], 12) + rotated(lanes_[3], 18);
    for (const uint64_t lane : lanes_) hash = (hash ^ mixed(0, lane)) * kPrimes[0] + kPrimes[3];
    return hash;
  }

  uint64_t lanes_[4] = {kPrimes[0] + kPrimes[1], kPrimes[1], 0, 0 - kPrimes[0]};
  uint64_t total_ = 0;
  unsigned char rest_[kStripe] = {};  // the total_ % kStripe bytes behind the last whole stripe
};

}  // namespace rt
