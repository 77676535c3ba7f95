// zlib's format: deflate, with its checksum.
#pragma once
#include "runtime/kernels/image/data.h"

namespace rt {
namespace {

class Inflater {
 public:
  /// Unpacks all of `packed` into exactly `size` bytes.
  static Wrong inflate(Bytes packed, u8* to, i64 size) {
    if ((packed[0] & 15) != 8 || packed.big(0, 2) % 31 || packed[1] & 32) return kDamaged;
    Inflater inflater(packed.from(2), to, size);
    if (const Wrong wrong = inflater.blocks()) return wrong;
    return inflater.sum() == inflater.packed_.big(inflater.at_, 4) ? nullptr : kDamaged;
  }

 private:
  static constexpr Wrong kDamaged = "the deflated data of the picture is damaged";
  static constexpr int kMostBits = 15;

  struct Code {  // canonical
    u16 counts[kMostBits + 1], symbols[288];
  };

  Inflater(Bytes packed, u8* to, i64 size) : packed_(packed), to_(to), size_(size) {}

  u32 bits(int count) {
    for (; held_ < count; held_ += 8) word_ |= static_cast<u32>(packed_[at_++]) << held_;
    const u32 value = word_ & ((1u << count) - 1);
    word_ >>= count, held_ -= count;
    return value;
  }
  bool is_behind() const { return at_ - held_ / 8 > packed_.size(); }

  static bool make(Code* code, const u8* lengths, int count) {
    for (u16& n : code->counts) n = 0;
    for (int i = 0; i < count; ++i) ++code->counts[lengths[i]];
    u16 begin[kMostBits + 2] = {};
    int left = 1;
    for (int length = 1; length <= kMostBits; ++length) {
      left = 2 * left - code->counts[length];
      if (left < 0) return false;
      begin[length + 1] = static_cast<u16>(begin[length] + code->counts[length]);
    }
    for (int i = 0; i < count; ++i)
      if (lengths[i]) code->symbols[begin[lengths[i]]++] = static_cast<u16>(i);
    return true;
  }
  int symbol(const Code& code) {  // -1: none
    int value = 0, first = 0, index = 0;
    for (int length = 1; length <= kMostBits; ++length) {
      value |= static_cast<int>(bits(1));
      const int count = code.counts[length];
      if (value - count < first) return code.symbols[index + value - first];
      index += count;
      first = (first + count) << 1, value <<= 1;
    }
    return -1;
  }

  bool read_codes(bool fixed) {
    constexpr u8 kOrder[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    u8 lengths[320] = {};
    if (fixed) {
      for (int i = 0; i < 288; ++i) lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
      for (int i = 288; i < 318; ++i) lengths[i] = 5;
      return make(&lengths_, lengths, 288) && make(&distances_, lengths + 288, 30);
    }
    const int literals = static_cast<int>(bits(5)) + 257, distances = static_cast<int>(bits(5)) + 1;
    const int count = static_cast<int>(bits(4)) + 4;
    if (literals > 286 || distances > 30) return false;
    for (int i = 0; i < count; ++i) lengths[kOrder[i]] = static_cast<u8>(bits(3));
    if (!make(&lengths_, lengths, 19)) return false;
    for (u8& length : lengths) length = 0;
    for (int i = 0; i < literals + distances;) {
      const int sign = symbol(lengths_);
      if (sign < 0 || is_behind() || (sign == 16 && i == 0)) return false;
      const u8 value = static_cast<u8>(sign < 16 ? sign : sign == 16 ? lengths[i - 1] : 0);
      int times = 1;
      if (sign == 16) times = 3 + static_cast<int>(bits(2));
      if (sign == 17) times = 3 + static_cast<int>(bits(3));
      if (sign == 18) times = 11 + static_cast<int>(bits(7));
      if (i + times > literals + distances) return false;
      for (; times > 0; --times) lengths[i++] = value;
    }
    return lengths[256] && make(&lengths_, lengths, literals) && make(&distances_, lengths + literals, distances);
  }

  Wrong coded() {
    for (;;) {
      const int sign = symbol(lengths_);
      if (is_behind()) return kTruncatedPicture;
      if (sign < 0 || sign > 285) return kDamaged;
      if (sign == 256) return nullptr;
      if (sign < 256) {
        if (written_ == size_) return kDamaged;
        to_[written_++] = static_cast<u8>(sign);
        continue;
      }
      const int step = sign - 257, more = sign == 285 || step < 8 ? 0 : step / 4 - 1;
      const i64 length = sign == 285 ? 258
                         : step < 8  ? 3 + step
                                     : 3 + ((4 + step % 4) << more) + static_cast<i64>(bits(more));
      const int far = symbol(distances_);
      if (far < 0 || far > 29) return kDamaged;
      const int far_more = far < 4 ? 0 : far / 2 - 1;
      const i64 distance = far < 4 ? 1 + far : 1 + ((2 + far % 2) << far_more) + static_cast<i64>(bits(far_more));
      if (distance > written_ || length > size_ - written_) return kDamaged;
      for (i64 i = 0; i < length; ++i, ++written_) to_[written_] = to_[written_ - distance];
    }
  }
  Wrong plain() {
    at_ -= held_ / 8, word_ = 0, held_ = 0;
    const i64 length = packed_.little(at_, 2);
    if (!packed_.has(at_ + 4, length)) return kTruncatedPicture;
    if ((length ^ packed_.little(at_ + 2, 2)) != 0xffff || length > size_ - written_) return kDamaged;
    at_ += 4;
    for (i64 i = 0; i < length; ++i) to_[written_++] = packed_[at_++];
    return nullptr;
  }
  Wrong blocks() {
    for (bool last = false; !last;) {
      last = bits(1);
      const u32 kind = bits(2);
      if (is_behind()) return kTruncatedPicture;
      if (kind == 3 || (kind != 0 && !read_codes(kind == 1))) return kDamaged;
      if (const Wrong wrong = kind == 0 ? plain() : coded()) return wrong;
    }
    at_ -= held_ / 8;
    if (!packed_.has(at_, 4)) return kTruncatedPicture;
    return written_ == size_ ? nullptr : kDamaged;
  }
  i64 sum() const {  // Adler's
    i64 low = 1, high = 0;
    for (i64 i = 0; i < size_; ++i) low = (low + to_[i]) % 65521, high = (high + low) % 65521;
    return high << 16 | low;
  }

  Bytes packed_;
  u8* to_;
  i64 size_, written_ = 0, at_ = 0;
  u32 word_ = 0;
  int held_ = 0;
  Code lengths_, distances_;
};

}  // namespace
}  // namespace rt
