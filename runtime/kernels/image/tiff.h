// TIFF: the first picture of a file, in strips or tiles, of grays, a palette or colors of 1 to 16 bits; plain, LZW,
// PackBits or deflated, with differences of neighbours.
#pragma once
#include "runtime/kernels/image/inflate.h"

namespace rt {
namespace {

/// TIFF's LZW: codes of 9 to 12 bits, the first bit in front, which grow one code early.
class LzwReader {
 public:
  static constexpr i64 kCodes = 4096;
  struct Entry {  // a text: that of `before`, and a byte
    u16 before;
    u8 last, first;
    i32 length;
  };

  static bool unpack(Bytes packed, u8* to, i64 size, Entry* entries) {
    constexpr int kClear = 256, kEnd = 257;
    i64 at = 0, written = 0;  // in bits, in bytes
    int next = kEnd + 1, width = 9, before = -1;
    for (int i = 0; i < kClear; ++i) entries[i] = {0, static_cast<u8>(i), static_cast<u8>(i), 1};
    while (written < size) {
      if (at + width > packed.size() * 8) return false;
      const int code = static_cast<int>(packed.big(at / 8, 3) >> (24 - width - at % 8)) & ((1 << width) - 1);
      at += width;
      if (code == kEnd) return false;
      if (code == kClear) {
        next = kEnd + 1, width = 9, before = -1;
        continue;
      }
      if (code > next || (code >= next && before < 0) || next > kCodes) return false;
      if (before >= 0 && next < kCodes) {
        const u8 last = entries[code == next ? before : code].first;
        entries[next++] = {static_cast<u16>(before), last, entries[before].first, entries[before].length + 1};
      }
      if (code >= next) return false;
      const i64 length = entries[code].length, end = written + length;
      if (length > size - written) return false;
      i64 from = end;
      for (int link = code; from > written; link = entries[link].before) to[--from] = entries[link].last;
      written = end;
      before = code;
      width = next < 511 ? 9 : next < 1023 ? 10 : next < 2047 ? 11 : 12;
    }
    return true;
  }
};

class Tiff {
 public:
  explicit Tiff(Bytes file) : file_(file), from_low_(file[0] == 'I') {}

  Wrong declare(PictureSize* size) {
    if (const Wrong wrong = read_tags()) return wrong;
    if (kind_ > kPalette) return "the data is a TIFF of colors that are not RGB, grays or a palette";
    const i64 needed = kind_ == kColor ? 3 : 1;
    if (samples_ < needed || samples_ > 16) return "the data is a TIFF whose pixels have too few or too many parts";
    const bool fits = kind_ == kColor ? bits_ == 8 || bits_ == 16 : kind_ == kPalette ? bits_ <= 8 : bits_ <= 16;
    if (bits_ < 1 || (bits_ & (bits_ - 1)) || !fits || (bits_ < 8 && samples_ > 1))
      return "the data is a TIFF of a number of bits that is not decoded";
    if (is_float_) return "the data is a TIFF of numbers that are not positive integers, which is not decoded";
    if (compression_ != kPlain && compression_ != kLzw && compression_ != kPackBits && compression_ != kDeflated &&
        compression_ != kDeflatedOfOld)
      return "the data is a TIFF that is compressed neither by LZW, nor PackBits, nor deflate, which is not decoded";
    if (is_reversed_) return "the data is a TIFF whose bytes begin with their lowest bit, which is not decoded";
    if (predictor_ > 2 || (predictor_ == 2 && bits_ < 8))
      return "the data is a TIFF of differences, which is not decoded";
    if (is_planar_ && samples_ > 1) return "the data is a TIFF whose colors stand apart, which is not decoded";
    if (rows_ < 1 || columns_ < 1 || rows_ > 1 << 24 || columns_ > 1 << 24)
      return "the data is a TIFF with strips or tiles of no size, or of too large a one";
    size->height = is_turned() ? width_ : height_, size->width = is_turned() ? height_ : width_;
    size->add_room<u8>(rows_ * row_bytes());
    size->add_room<LzwReader::Entry>(compression_ == kLzw ? LzwReader::kCodes : 0);
    return nullptr;
  }

  Wrong decode(const Canvas& canvas, Room room) const {
    u8* const part = room.take<u8>(rows_ * row_bytes());
    LzwReader::Entry* const codes = room.take<LzwReader::Entry>(compression_ == kLzw ? LzwReader::kCodes : 0);
    if (!part || !codes) return kNoRoomForPicture;
    const i64 across = round_up_div(width_, columns_), down = round_up_div(height_, rows_);
    if (offsets_.count < across * down || lengths_.count < across * down) return kTruncatedPicture;
    for (i64 i = 0; i < across * down; ++i) {
      const i64 top = i / across * rows_, left = i % across * columns_;
      const i64 height = is_tiled_ ? rows_ : at_most(rows_, height_ - top);
      const i64 offset = element(offsets_, i), length = element(lengths_, i);
      if (!file_.has(offset, length)) return kTruncatedPicture;
      if (const Wrong wrong = unpack(file_.part(offset, length), part, height * row_bytes(), codes)) return wrong;
      if (predictor_ == 2) add_differences(part, height);
      for (i64 y = 0; y < at_most(height, height_ - top); ++y)
        for (i64 x = 0; x < at_most(columns_, width_ - left); ++x)
          draw(canvas, Bytes(part + y * row_bytes(), row_bytes()), top + y, left + x, x);
    }
    return nullptr;
  }

 private:
  enum : i64 { kWhiteIsZero = 0, kGray = 1, kColor = 2, kPalette = 3 };
  enum : i64 { kPlain = 1, kLzw = 5, kDeflated = 8, kPackBits = 32773, kDeflatedOfOld = 32946 };
  struct Tag {  // `count` integers of so many bytes
    i64 at = 0, count = 0;
    int bytes = 0;
  };

  i64 number(i64 at, int bytes) const { return from_low_ ? file_.little(at, bytes) : file_.big(at, bytes); }
  i64 element(const Tag& tag, i64 i) const { return number(tag.at + i * tag.bytes, tag.bytes); }
  Bytes held(const Tag& tag) const { return file_.part(tag.at, tag.count * tag.bytes); }

  Wrong read_tags() {
    const i64 folder = number(4, 4), tags = number(folder, 2);
    if (!file_.has(folder, 2 + 12 * tags)) return kTruncatedPicture;
    for (i64 i = 0; i < tags; ++i) {
      const i64 at = folder + 2 + 12 * i, kind = number(at + 2, 2);
      Tag tag{at + 8, number(at + 4, 4), kind == 1 ? 1 : kind == 3 ? 2 : kind == 4 ? 4 : 0};
      if (!tag.bytes || !tag.count) continue;
      if (tag.count * tag.bytes > 4) tag.at = number(at + 8, 4);
      if (!file_.has(tag.at, tag.count * tag.bytes)) return kTruncatedPicture;
      take(number(at, 2), tag);
    }
    if (!rows_) rows_ = height_;
    if (rows_ > height_ && !is_tiled_) rows_ = height_;
    if (!columns_) columns_ = width_;
    if (compression_ == kPlain || compression_ == kPackBits) predictor_ = 1;  // libtiff: the others alone have one
    return nullptr;
  }
  void take(i64 name, const Tag& tag) {
    const i64 value = element(tag, 0);
    switch (name) {
      case 256: width_ = value; break;
      case 257: height_ = value; break;
      case 258: bits_ = value; break;
      case 259: compression_ = value; break;
      case 262: kind_ = value; break;
      case 266: is_reversed_ = value == 2; break;
      case 273:
      case 324: offsets_ = tag; break;
      case 274: orientation_ = value >= 1 && value <= 8 ? value : 1; break;
      case 277: samples_ = value; break;
      case 278: rows_ = value; break;
      case 279:
      case 325: lengths_ = tag; break;
      case 284: is_planar_ = value == 2; break;
      case 317: predictor_ = value; break;
      case 320: palette_ = tag; break;
      case 322: columns_ = value; break;
      case 323: rows_ = value, is_tiled_ = true; break;
      case 339: is_float_ = value != 1; break;
      default: break;
    }
  }

  i64 row_bytes() const { return round_up_div(columns_ * samples_ * bits_, 8); }

  Wrong unpack(Bytes packed, u8* to, i64 size, LzwReader::Entry* codes) const {
    constexpr Wrong kDamaged = "the packed data of the TIFF is damaged";
    if (compression_ == kDeflated || compression_ == kDeflatedOfOld) return Inflater::inflate(packed, to, size);
    if (compression_ == kLzw) return LzwReader::unpack(packed, to, size, codes) ? nullptr : kDamaged;
    if (compression_ == kPackBits) return unpack_runs(packed, to, size) ? nullptr : kDamaged;
    if (packed.size() < size) return kTruncatedPicture;
    for (i64 i = 0; i < size; ++i) to[i] = packed[i];
    return nullptr;
  }
  static bool unpack_runs(Bytes packed, u8* to, i64 size) {
    for (i64 at = 0, written = 0; written < size;) {
      const int head = static_cast<i8>(packed[at++]);
      if (head == -128) continue;
      const i64 length = head < 0 ? 1 - head : 1 + head;
      if (length > size - written || !packed.has(at, head < 0 ? 1 : length)) return false;
      for (i64 i = 0; i < length; ++i) to[written++] = packed[head < 0 ? at : at + i];
      at += head < 0 ? 1 : length;
    }
    return true;
  }
  void add_differences(u8* rows, i64 height) const {
    for (i64 y = 0; y < height; ++y) {
      u8* const row = rows + y * row_bytes();
      for (i64 i = samples_; i < columns_ * samples_; ++i) {
        if (bits_ == 8) {
          row[i] = static_cast<u8>(row[i] + row[i - samples_]);
          continue;
        }
        const i64 high = from_low_ ? 1 : 0, low = 1 - high, at = 2 * i, before = 2 * (i - samples_);
        const int sum = (row[at + high] << 8 | row[at + low]) + (row[before + high] << 8 | row[before + low]);
        row[at + high] = static_cast<u8>(sum >> 8), row[at + low] = static_cast<u8>(sum);
      }
    }
  }
  /// The first row of the data is a column of the picture.
  bool is_turned() const { return orientation_ > 4; }
  void draw(const Canvas& canvas, Bytes row, i64 y_of_data, i64 x_of_data, i64 column) const {
    constexpr int kFromTheRight = 1 << 2 | 1 << 3 | 1 << 7 | 1 << 8, kFromBelow = 1 << 3 | 1 << 4 | 1 << 6 | 1 << 7;
    const i64 down = kFromBelow >> orientation_ & 1 ? height_ - 1 - y_of_data : y_of_data;
    const i64 across = kFromTheRight >> orientation_ & 1 ? width_ - 1 - x_of_data : x_of_data;
    const i64 y = is_turned() ? across : down, x = is_turned() ? down : across;
    const auto value = [&](i64 channel) {  // of 16 bits the upper 8
      const i64 at = column * samples_ + channel;
      if (bits_ == 16) return int{row[2 * at + (from_low_ ? 1 : 0)]};
      return row[at * bits_ / 8] >> (8 - bits_ - at * bits_ % 8) & ((1 << bits_) - 1);
    };
    if (kind_ == kColor) return canvas.set(y, x, value(0), value(1), value(2));
    if (kind_ == kPalette) {  // all reds, then greens, then blues, of 16 bits
      const i64 colors = i64{1} << bits_;
      const auto part = [&](i64 of) {
        const i64 at = of * colors + value(0);
        return at < palette_.count ? static_cast<int>(element(palette_, at) >> 8 & 255) : 0;
      };
      return canvas.set(y, x, part(0), part(1), part(2));
    }
    const int gray = bits_ < 8 ? value(0) * 255 / ((1 << bits_) - 1) : value(0);
    canvas.set(y, x, kind_ == kWhiteIsZero ? 255 - gray : gray);
  }

  Bytes file_;
  bool from_low_;  // the byte order
  i64 height_ = 0, width_ = 0, bits_ = 1, samples_ = 1, kind_ = 4, compression_ = kPlain, predictor_ = 1;
  i64 rows_ = 0, columns_ = 0;  // of a strip or tile
  i64 orientation_ = 1;         // 1 to 8: at which corner the data begin, and whether with a row
  bool is_tiled_ = false, is_planar_ = false, is_reversed_ = false, is_float_ = false;
  Tag offsets_, lengths_, palette_;
};

}  // namespace
}  // namespace rt
