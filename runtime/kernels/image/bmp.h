// BMP: 1 to 32 bits a pixel, from below or above, a palette or masks; not compressed.
#pragma once
#include "runtime/kernels/image/data.h"

namespace rt {
namespace {

class Bmp {
 public:
  explicit Bmp(Bytes file) : file_(file) {}

  Wrong declare(PictureSize* size) {
    constexpr i64 kFileHeader = 14, kCoreHeader = 12, kLeastHeader = 40;
    const i64 header = file_.little(kFileHeader, 4);
    const bool is_core = header == kCoreHeader;
    if (!is_core && header < kLeastHeader) return "the data is a BMP whose header is of no known kind";
    if (!file_.has(kFileHeader, header)) return kTruncatedPicture;
    width_ = is_core ? file_.little(18, 2) : static_cast<i32>(file_.little(18, 4));
    height_ = is_core ? file_.little(20, 2) : static_cast<i32>(file_.little(22, 4));
    from_above_ = height_ < 0;
    if (from_above_) height_ = -height_;
    bits_ = file_.little(is_core ? 24 : 28, 2);
    const i64 compression = is_core ? kPlain : file_.little(30, 4);
    if (compression != kPlain && compression != kMasks) return "the data is a compressed BMP, which is not decoded";
    if (bits_ != 1 && bits_ != 4 && bits_ != 8 && bits_ != 16 && bits_ != 24 && bits_ != 32)
      return "the data is a BMP of a number of bits a pixel that BMP does not have";
    pixels_ = file_.little(10, 4);
    palette_ = kFileHeader + header, color_bytes_ = is_core ? 3 : 4;
    const i64 used = is_core ? 0 : file_.little(46, 4);
    colors_ = bits_ > 8 ? 0 : used && used < i64{1} << bits_ ? used : i64{1} << bits_;
    set_masks(compression == kMasks);
    size->height = height_, size->width = width_;
    return nullptr;
  }

  Wrong decode(const Canvas& canvas, Room) const {
    const i64 row_bytes = round_up_div(width_ * bits_, 32) * 4;
    if (!file_.has(pixels_, row_bytes * height_)) return kTruncatedPicture;
    for (i64 y = 0; y < height_; ++y) {
      const Bytes row = file_.part(pixels_ + (from_above_ ? y : height_ - 1 - y) * row_bytes, row_bytes);
      for (i64 x = 0; x < width_; ++x) {
        if (bits_ <= 8) {
          const i64 color = row[x * bits_ / 8] >> (8 - bits_ - x * bits_ % 8) & ((1 << bits_) - 1);
          if (color >= colors_) return "a pixel of the BMP has a color that the palette lacks";
          const i64 from = palette_ + color * color_bytes_;
          canvas.set(y, x, file_[from + 2], file_[from + 1], file_[from]);
        } else if (bits_ == 24) {
          canvas.set(y, x, row[3 * x + 2], row[3 * x + 1], row[3 * x]);
        } else {
          const i64 pixel = row.little(x * bits_ / 8, static_cast<int>(bits_ / 8));
          canvas.set(y, x, part(pixel, 0), part(pixel, 1), part(pixel, 2));
        }
      }
    }
    return nullptr;
  }

 private:
  enum : i64 { kPlain = 0, kMasks = 3 };

  void set_masks(bool are_given) {
    constexpr i64 kGiven = 54;
    for (int i = 0; i < 3; ++i) {
      const int bits = bits_ == 16 ? 5 : 8;
      masks_[i] = are_given ? file_.little(kGiven + 4 * i, 4) : ((i64{1} << bits) - 1) << (bits * (2 - i));
    }
  }
  int part(i64 pixel, int channel) const {
    const i64 mask = masks_[channel], low = mask & -mask;
    return mask ? static_cast<int>((pixel & mask) / low * 255 / (mask / low)) : 0;
  }

  Bytes file_;
  i64 height_ = 0, width_ = 0, bits_ = 0;
  bool from_above_ = false;
  i64 pixels_ = 0, palette_ = 0, colors_ = 0, color_bytes_ = 4;
  i64 masks_[3] = {};
};

}  // namespace
}  // namespace rt
