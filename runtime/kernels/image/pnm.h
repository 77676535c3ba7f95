// PBM, PGM and PPM, of digits and of bytes, up to 16 bits.
#pragma once
#include "runtime/kernels/image/data.h"

namespace rt {
namespace {

class Pnm {
 public:
  explicit Pnm(Bytes file) : file_(file) {}

  Wrong declare(PictureSize* size) {
    const int kind = file_[1] - '0';  // 1 to 3 of digits, 4 to 6 of bytes: bits, grays, colors
    of_bytes_ = kind > 3;
    is_bits_ = kind % 3 == 1;
    channels_ = kind % 3 == 0 ? 3 : 1;
    at_ = 2;
    if (!number(&size->width) || !number(&size->height) || (!is_bits_ && !number(&most_)))
      return "the data is a PBM, PGM or PPM with a size that is no number";
    if (most_ < 1 || most_ > 65535) return "the data is a PGM or PPM whose largest value is not 1 to 65535";
    if (of_bytes_) ++at_;  // one blank
    return nullptr;
  }

  Wrong decode(const Canvas& canvas, Room) {
    const i64 bytes = most_ > 255 ? 2 : 1;
    const i64 row_bytes = is_bits_ ? round_up_div(canvas.width, 8) : canvas.width * channels_ * bytes;
    if (of_bytes_ && !file_.has(at_, row_bytes * canvas.height)) return kTruncatedPicture;
    for (i64 y = 0; y < canvas.height; ++y)
      for (i64 x = 0; x < canvas.width; ++x) {
        i64 value[3] = {};
        for (i64 c = 0; c < channels_; ++c) {
          const i64 at = at_ + y * row_bytes;
          if (of_bytes_)
            value[c] = is_bits_ ? file_[at + x / 8] >> (7 - x % 8) & 1
                                : file_.big(at + (x * channels_ + c) * bytes, static_cast<int>(bytes));
          else if (!(is_bits_ ? digit(&value[c]) : number(&value[c])))
            return kTruncatedPicture;
          if (value[c] > most_) return "a value of the PGM or PPM is above its largest value";
          value[c] = is_bits_ ? (value[c] ? 0 : 255) : (2 * value[c] * 255 + most_) / (2 * most_);
        }
        const auto channel = [&](i64 c) { return static_cast<int>(value[channels_ == 3 ? c : 0]); };
        canvas.set(y, x, channel(0), channel(1), channel(2));
      }
    return nullptr;
  }

 private:
  void skip_blanks() {
    for (bool comment = false; at_ < file_.size(); ++at_) {
      const u8 c = file_[at_];
      comment = comment ? c != '\n' && c != '\r' : c == '#';
      if (!comment && c != ' ' && !(c >= 9 && c <= 13)) return;
    }
  }
  bool is_digit() const { return file_[at_] >= '0' && file_[at_] <= '9'; }
  bool number(i64* value) {
    constexpr i64 kMost = 1 << 30;
    skip_blanks();
    if (!is_digit()) return false;
    for (*value = 0; is_digit() && *value < kMost; ++at_) *value = 10 * *value + (file_[at_] - '0');
    return !is_digit();
  }
  bool digit(i64* value) {  // pixels of a PBM may stand without blanks between them
    skip_blanks();
    *value = file_[at_++] - '0';
    return *value == 0 || *value == 1;
  }

  Bytes file_;
  bool of_bytes_ = false, is_bits_ = false;
  i64 channels_ = 1, most_ = 1, at_ = 0;
};

}  // namespace
}  // namespace rt
