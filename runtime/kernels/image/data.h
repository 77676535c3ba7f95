// What the decoders of pictures share: bytes that are never read outside, memory to work in, pixels to write. A decoder
// gives null, or a sentence that says what is wrong with the data.
#pragma once
#include "runtime/rt/types.h"

namespace rt {
namespace {

using Wrong = const char*;

inline constexpr Wrong kTruncatedPicture = "the data of the picture ends too early";
inline constexpr Wrong kNoRoomForPicture = "the sizes in the data of the picture contradict each other";

class Bytes {
 public:
  Bytes() = default;
  Bytes(const u8* data, i64 size) : data_(data), size_(size < 0 ? 0 : size) {}
  i64 size() const { return size_; }
  const u8* data() const { return data_; }
  bool has(i64 from, i64 count) const { return from >= 0 && count >= 0 && from <= size_ && count <= size_ - from; }
  u8 operator[](i64 at) const { return at >= 0 && at < size_ ? data_[at] : u8(0); }
  // What there is of so many bytes.
  Bytes part(i64 from, i64 count) const {
    if (from < 0 || from > size_ || count < 0) return {};
    return {data_ + from, count < size_ - from ? count : size_ - from};
  }
  Bytes from(i64 at) const { return part(at, size_); }
  template <i64 size>
  bool begin_with(const char (&text)[size]) const {
    for (i64 i = 0; i + 1 < size; ++i)
      if (i >= size_ || data_[i] != static_cast<u8>(text[i])) return false;
    return true;
  }
  i64 big(i64 at, int count) const {
    i64 value = 0;
    for (int i = 0; i < count; ++i) value = value << 8 | (*this)[at + i];
    return value;
  }
  i64 little(i64 at, int count) const {
    i64 value = 0;
    for (int i = count; i-- > 0;) value = value << 8 | (*this)[at + i];
    return value;
  }

 private:
  const u8* data_ = nullptr;
  i64 size_ = 0;
};

struct PictureSize {
  i64 height = 0, width = 0;
  i64 room = 16;  // bytes that decoding works in

  template <class T>
  void add_room(i64 count) {
    room += count * i64{sizeof(T)} + 16;
  }
};

/// Memory of a known size, taken piece by piece.
class Room {
 public:
  Room(u8* memory, i64 bytes) {
    const i64 skipped = static_cast<i64>(-reinterpret_cast<u64>(memory) & 15);
    at_ = memory + skipped, left_ = bytes - skipped;
  }
  /// Zeros; null where there is no room.
  template <class T>
  T* take(i64 count) {
    const i64 bytes = (count * i64{sizeof(T)} + 15) / 16 * 16;
    if (count < 0 || bytes > left_) return nullptr;
    u8* const memory = at_;
    at_ += bytes, left_ -= bytes;
    for (i64 i = 0; i < bytes; ++i) memory[i] = 0;
    return reinterpret_cast<T*>(memory);
  }

 private:
  u8* at_;
  i64 left_;
};

enum class PixelFormat : i64 { kRgb, kBgr, kGrayscale };

/// The result, channels last.
struct Canvas {
  u8* pixels;
  i64 height, width;
  PixelFormat format;

  void set(i64 y, i64 x, int red, int green, int blue) const {
    const i64 at = y * width + x;
    if (format == PixelFormat::kGrayscale) {  // ITU-R 601, as Pillow rounds it
      pixels[at] = static_cast<u8>((red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16);
      return;
    }
    u8* const pixel = pixels + 3 * at;
    pixel[0] = static_cast<u8>(format == PixelFormat::kBgr ? blue : red);
    pixel[1] = static_cast<u8>(green);
    pixel[2] = static_cast<u8>(format == PixelFormat::kBgr ? red : blue);
  }
  void set(i64 y, i64 x, int gray) const { set(y, x, gray, gray, gray); }
};

template <class T>
T at_most(T a, T b) {
  return a < b ? a : b;
}
inline int to_byte(i64 value) { return static_cast<int>(value < 0 ? 0 : value > 255 ? 255 : value); }

}  // namespace
}  // namespace rt
