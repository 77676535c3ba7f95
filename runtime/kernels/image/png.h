// PNG, all of it but for what it says of colors and transparency, which is left out.
#pragma once
#include "runtime/kernels/image/inflate.h"

namespace rt {
namespace {

class Png {
 public:
  explicit Png(Bytes file) : file_(file) {}

  Wrong declare(PictureSize* size) {
    if (file_.little(12, 4) != name("IHDR") || file_.big(8, 4) != 13) return "the data is a PNG without a header";
    width_ = file_.big(16, 4), height_ = file_.big(20, 4);
    depth_ = file_[24], kind_ = file_[25], interlaced_ = file_[28];
    const bool is_known = kind_ == kGray ? depth_ <= 16 : kind_ == kPalette ? depth_ <= 8 : depth_ == 8 || depth_ == 16;
    if (depth_ < 1 || (depth_ & (depth_ - 1)) || kind_ > 6 || kind_ == 1 || kind_ == 5 || !is_known ||
        interlaced_ > 1 || file_[26] || file_[27])
      return "the data is a PNG of a kind that PNG does not have";
    channels_ = kind_ == kGray || kind_ == kPalette ? 1 : kind_ == kGrayAlpha ? 2 : kind_ == kColor ? 3 : 4;
    if (const Wrong wrong = walk(nullptr)) return wrong;
    size->height = height_, size->width = width_;
    if (width_ > 1 << 24 || height_ > 1 << 24) return nullptr;  // which is refused for its size
    for (int pass = 0; pass < passes(); ++pass) unpacked_ += rows_of(pass) * (1 + row_bytes(columns_of(pass)));
    size->add_room<u8>(packed_);
    size->add_room<u8>(unpacked_);
    return nullptr;
  }

  Wrong decode(const Canvas& canvas, Room room) {
    u8* const packed = room.take<u8>(packed_);
    u8* row = room.take<u8>(unpacked_);
    if (!packed || !row) return kNoRoomForPicture;
    walk(packed);
    if (const Wrong wrong = Inflater::inflate({packed, packed_}, row, unpacked_)) return wrong;
    for (int pass = 0; pass < passes(); ++pass) {
      const i64 bytes = row_bytes(columns_of(pass));
      const u8* above = nullptr;
      for (i64 y = 0; y < rows_of(pass); ++y, row += 1 + bytes) {
        if (!unfilter(row, above, bytes)) return "a row of the PNG has a filter that PNG does not have";
        above = row + 1;
        for (i64 x = 0; x < columns_of(pass); ++x)
          if (!draw(canvas, above, pass, y, x)) return "a pixel of the PNG has a color that the palette lacks";
      }
    }
    return nullptr;
  }

 private:
  enum : u8 { kGray = 0, kColor = 2, kPalette = 3, kGrayAlpha = 4 };
  struct Pass {
    i64 top, left, down, right;
  };
  static constexpr Pass kPasses[] = {{0, 0, 8, 8}, {0, 4, 8, 8}, {4, 0, 8, 4}, {0, 2, 4, 4},
                                     {2, 0, 4, 2}, {0, 1, 2, 2}, {1, 0, 2, 1}, {0, 0, 1, 1}};

  static i64 name(const char* text) { return Bytes(reinterpret_cast<const u8*>(text), 4).little(0, 4); }
  static u32 checksum(Bytes of) {
    u32 sum = ~0u;
    for (i64 i = 0; i < of.size(); ++i) {
      sum ^= of[i];
      for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? 0xedb88320u : 0);
    }
    return ~sum;
  }

  /// Finds the palette and gathers the packed pixels, or counts them where there is no room yet.
  Wrong walk(u8* packed) {
    for (i64 at = 8;;) {
      const i64 length = file_.big(at, 4), kind = file_.little(at + 4, 4);
      if (!file_.has(at, length + 12)) return kTruncatedPicture;
      const Bytes held = file_.part(at + 8, length);
      if (!packed && checksum(file_.part(at + 4, length + 4)) != file_.big(at + 8 + length, 4))
        return "a chunk of the PNG has another checksum than it says";
      if (kind == name("PLTE")) palette_ = held;
      if (kind == name("IEND")) return nullptr;
      if (kind == name("IDAT")) {
        for (i64 i = 0; packed && i < length; ++i) *packed++ = held[i];
        if (!packed) packed_ += length;
      }
      at += length + 12;
    }
  }

  int passes() const { return interlaced_ ? 7 : 1; }
  const Pass& pass_at(int pass) const { return kPasses[interlaced_ ? pass : 7]; }
  i64 columns_of(int pass) const {
    const Pass& of = pass_at(pass);
    return width_ > of.left ? round_up_div(width_ - of.left, of.right) : 0;
  }
  i64 rows_of(int pass) const {
    const Pass& of = pass_at(pass);
    return height_ > of.top && columns_of(pass) ? round_up_div(height_ - of.top, of.down) : 0;
  }
  i64 row_bytes(i64 columns) const { return round_up_div(columns * channels_ * depth_, 8); }

  static int nearest(int left, int above, int corner) {  // Paeth's
    const int guess = left + above - corner;
    const auto distance = [&](int to) { return guess > to ? guess - to : to - guess; };
    if (distance(left) <= distance(above) && distance(left) <= distance(corner)) return left;
    return distance(above) <= distance(corner) ? above : corner;
  }
  /// The row's bytes stand behind its filter.
  bool unfilter(u8* row, const u8* above, i64 bytes) const {
    const i64 step = channels_ * depth_ < 8 ? 1 : channels_ * depth_ / 8;
    const u8 filter = *row++;
    for (i64 i = 0; i < bytes; ++i) {
      const int left = i < step ? 0 : row[i - step], up = above ? above[i] : 0;
      const int corner = i < step || !above ? 0 : above[i - step];
      const int guesses[] = {0, left, up, (left + up) / 2, nearest(left, up, corner)};
      if (filter > 4) return false;
      row[i] = static_cast<u8>(row[i] + guesses[filter]);
    }
    return true;
  }
  bool draw(const Canvas& canvas, const u8* row, int pass, i64 pass_y, i64 pass_x) const {
    const Pass& of = pass_at(pass);
    const i64 y = of.top + pass_y * of.down, x = of.left + pass_x * of.right;
    const auto value = [&](i64 channel) {  // of 16 bits the upper 8
      if (depth_ >= 8) return int{row[(pass_x * channels_ + channel) * depth_ / 8]};
      return row[pass_x * depth_ / 8] >> (8 - depth_ - pass_x * depth_ % 8) & ((1 << depth_) - 1);
    };
    if (kind_ == kPalette) {
      const i64 color = 3 * i64{value(0)};
      if (!palette_.has(color, 3)) return false;
      canvas.set(y, x, palette_[color], palette_[color + 1], palette_[color + 2]);
    } else if (channels_ >= 3) {
      canvas.set(y, x, value(0), value(1), value(2));
    } else {
      canvas.set(y, x, depth_ < 8 ? value(0) * 255 / ((1 << depth_) - 1) : value(0));
    }
    return true;
  }

  Bytes file_, palette_;
  i64 height_ = 0, width_ = 0, channels_ = 0, packed_ = 0, unpacked_ = 0;
  int depth_ = 0;
  u8 kind_ = 0, interlaced_ = 0;
};

}  // namespace
}  // namespace rt
