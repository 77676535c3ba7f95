// JPEG: Huffman codes, 8 bits, grays or three components, in one pass over the picture or in several (progressive);
// bit for bit what libjpeg-turbo makes of it with its defaults: the slow integer transform and smooth upsampling.
#pragma once
#include "runtime/kernels/image/data.h"

namespace rt {
namespace {

class Jpeg {
 public:
  explicit Jpeg(Bytes file) : file_(file) {}

  Wrong declare(PictureSize* size) {
    if (const Wrong wrong = read_segments(nullptr)) return wrong;
    size->height = height_, size->width = width_;
    for (int c = 0; c < count_; ++c) {
      size->add_room<i16>(parts_[c].blocks() * 64);
      size->add_room<u8>(parts_[c].blocks() * 64);
      size->add_room<u8>(height_ * width_);
    }
    return nullptr;
  }

  Wrong decode(const Canvas& canvas, Room room) {
    u8* full[3] = {};
    for (int c = 0; c < count_; ++c) {
      Part& part = parts_[c];
      part.coefficients = room.take<i16>(part.blocks() * 64);
      part.samples = room.take<u8>(part.blocks() * 64);
      full[c] = room.take<u8>(height_ * width_);
      if (!part.coefficients || !part.samples || !full[c]) return kNoRoomForPicture;
    }
    if (const Wrong wrong = read_segments(&room)) return wrong;
    for (int c = 0; c < count_; ++c) {
      transform(parts_[c]);
      enlarge(parts_[c], full[c]);
    }
    for (i64 y = 0; y < height_; ++y)
      for (i64 x = 0; x < width_; ++x) {
        const i64 at = y * width_ + x;
        if (count_ == 1)
          canvas.set(y, x, full[0][at]);
        else if (is_rgb())
          canvas.set(y, x, full[0][at], full[1][at], full[2][at]);
        else
          draw(canvas, y, x, full[0][at], full[1][at] - 128, full[2][at] - 128);
      }
    return nullptr;
  }

 private:
  static constexpr Wrong kDamaged = "the data of the JPEG is damaged";
  static constexpr u8 kZigZag[64] = {0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,
                                     12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
                                     35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
                                     58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

  struct Codes {
    u8 counts[17] = {}, symbols[256] = {};
    bool is_known = false;
  };
  struct Part {                                     // a component
    int name = 0, across = 1, down = 1, table = 0;  // samples of it where the picture has a block of most samples
    i64 width = 0, height = 0;                      // in samples
    i64 columns = 0, rows = 0;                      // in blocks, whole units of all components
    i16* coefficients = nullptr;
    u8* samples = nullptr;
    u16 steps[64] = {};  // of its quantisation, when its first scan begins
    bool has_steps = false;
    int before = 0;  // the last constant term
    i64 blocks() const { return columns * rows; }
  };
  struct Scan {
    int count = 0, part[3] = {}, constant[3] = {}, varying[3] = {};  // components, and their tables
    int first = 0, last = 63, high = 0, low = 0;
  };

  // ---- the segments ----
  /// Without room: those in front of the first scan alone.
  Wrong read_segments(const Room* room) {
    for (at_ = 2;;) {
      if (!file_.has(at_, 2)) return kTruncatedPicture;
      const int marker = file_[at_ + 1];
      if (file_[at_] != 0xff) return kDamaged;
      if (marker == 0xff) {
        ++at_;
        continue;
      }
      at_ += 2;
      if (marker == kEnd) return has_scan_ ? nullptr : "the data is a JPEG without pixels";
      const i64 length = file_.big(at_, 2);
      if (!file_.has(at_, 2)) return kTruncatedPicture;
      if (length < 2) return kDamaged;
      if (!file_.has(at_, length)) return kTruncatedPicture;
      const Bytes held = file_.part(at_ + 2, length - 2);
      at_ += length;
      if (marker == kScan && !room) return count_ ? nullptr : kDamaged;
      if (const Wrong wrong = read_segment(marker, held, room)) return wrong;
    }
  }
  Wrong read_segment(int marker, Bytes held, const Room* room) {
    switch (marker) {
      case kScan: return read_scan(held);
      case kHuffman: return read_codes(held) ? nullptr : kDamaged;
      case kSteps: return read_steps(held) ? nullptr : kDamaged;
      case kRestarts: restarts_ = held.big(0, 2); return nullptr;
      case kJfif:
        if (held.begin_with("JFIF")) is_jfif_ = true;
        return nullptr;
      case kAdobe:
        if (held.begin_with("Adobe")) adobe_ = held[11];
        return nullptr;
      case kFrame:
      case kFrame + 1:
      case kFrame + 2: is_progressive_ = marker == kFrame + 2; return room ? nullptr : read_frame(held);
      default: break;
    }
    const bool is_frame = marker > kFrame && marker <= 0xcf && marker != 0xc8 && marker != 0xcc;
    return is_frame ? "the data is a lossless, hierarchical or arithmetic JPEG, which is not decoded" : nullptr;
  }
  Wrong read_frame(Bytes held) {
    if (count_) return kDamaged;
    if (held[0] != 8) return "the data is a JPEG of more than 8 bits, which is not decoded";
    height_ = held.big(1, 2), width_ = held.big(3, 2);
    const int count = held[5];
    if (!held.has(6, 3 * count)) return kTruncatedPicture;
    if (count != 1 && count != 3) return "the data is a JPEG that is neither of grays nor of three components";
    for (int c = 0; c < count; ++c) {
      Part& part = parts_[c];
      part.name = held[6 + 3 * c], part.table = held[8 + 3 * c];
      part.across = held[7 + 3 * c] >> 4, part.down = held[7 + 3 * c] & 15;
      if (part.across < 1 || part.across > 4 || part.down < 1 || part.down > 4 || part.table > 3) return kDamaged;
      if (part.across > across_) across_ = part.across;
      if (part.down > down_) down_ = part.down;
    }
    for (int c = 0; c < count; ++c) {
      Part& part = parts_[c];
      if (across_ % part.across || down_ % part.down)
        return "the data is a JPEG whose components differ by no whole number, which is not decoded";
      part.width = round_up_div(width_ * part.across, across_), part.height = round_up_div(height_ * part.down, down_);
      part.columns = round_up_div(width_, 8 * across_) * part.across,
      part.rows = round_up_div(height_, 8 * down_) * part.down;
    }
    count_ = count;
    return nullptr;
  }
  bool read_steps(Bytes held) {
    for (i64 at = 0; at < held.size();) {
      const int bytes = held[at] >> 4 ? 2 : 1, table = held[at] & 15;
      if (table > 3 || !held.has(++at, 64 * bytes)) return false;
      for (int i = 0; i < 64; ++i) steps_[table][kZigZag[i]] = static_cast<u16>(held.big(at + i * bytes, bytes));
      has_steps_[table] = true;
      at += 64 * bytes;
    }
    return true;
  }
  bool read_codes(Bytes held) {
    for (i64 at = 0; at < held.size();) {
      const int kind = held[at] >> 4, table = held[at] & 15;
      if (kind > 1 || table > 3 || !held.has(at, 17)) return false;
      Codes& codes = codes_[kind][table];
      int sum = 0, left = 1;
      for (int i = 1; i <= 16; ++i) {
        codes.counts[i] = held[at + i], sum += codes.counts[i];
        left = 2 * left - codes.counts[i];
        if (left < 0) return false;
      }
      if (sum > 256 || !held.has(at + 17, sum)) return false;
      for (int i = 0; i < sum; ++i) codes.symbols[i] = held[at + 17 + i];
      codes.is_known = true;
      at += 17 + sum;
    }
    return true;
  }

  // ---- the bits of a scan ----
  int bit() {
    if (held_ == 0) {
      word_ = file_[at_];
      const bool ends = at_ >= file_.size() || (word_ == 0xff && file_[at_ + 1] != 0);
      if (ends) is_behind_ = true;
      at_ += ends ? 0 : word_ == 0xff ? 2 : 1;
      held_ = 8;
    }
    return word_ >> --held_ & 1;
  }
  int bits(int count) {
    int value = 0;
    for (int i = 0; i < count; ++i) value = value << 1 | bit();
    return value;
  }
  /// A number of so many bits, the lower half of which stand for negative ones.
  int signed_bits(int count) {
    const int value = bits(count);
    return count && value < 1 << (count - 1) ? value - (1 << count) + 1 : value;
  }
  int symbol(const Codes& codes) {  // -1: none
    int value = 0, first = 0, index = 0;
    for (int length = 1; length <= 16; ++length) {
      value |= bit();
      const int count = codes.counts[length];
      if (value - count < first) return codes.symbols[index + value - first];
      index += count;
      first = (first + count) << 1, value <<= 1;
    }
    return -1;
  }

  // ---- scans ----
  Wrong read_scan(Bytes held) {
    Scan scan;
    scan.count = held[0];
    if (!count_ || scan.count < 1 || scan.count > count_ || !held.has(1, 2 * scan.count + 3)) return kDamaged;
    for (int i = 0; i < scan.count; ++i) {
      scan.part[i] = -1;
      for (int c = 0; c < count_; ++c)
        if (parts_[c].name == held[1 + 2 * i]) scan.part[i] = c;
      scan.constant[i] = held[2 + 2 * i] >> 4, scan.varying[i] = held[2 + 2 * i] & 15;
      if (scan.part[i] < 0 || scan.constant[i] > 3 || scan.varying[i] > 3) return kDamaged;
      for (int k = 0; k < i; ++k)
        if (scan.part[k] == scan.part[i]) return kDamaged;
      Part& part = parts_[scan.part[i]];
      if (!has_steps_[part.table]) return kDamaged;
      for (int k = 0; k < 64 && !part.has_steps; ++k) part.steps[k] = steps_[part.table][k];
      part.has_steps = true;
    }
    if (is_progressive_) {
      const Bytes numbers = held.from(1 + 2 * scan.count);
      scan.first = numbers[0], scan.last = numbers[1], scan.high = numbers[2] >> 4, scan.low = numbers[2] & 15;
      if (scan.first > scan.last || scan.last > 63 || scan.low > 13 || (scan.high && scan.high != scan.low + 1) ||
          (scan.first == 0 && scan.last != 0) || (scan.first && scan.count > 1))
        return kDamaged;
    }
    for (int i = 0; i < scan.count; ++i) {
      const bool needs_constant = scan.first == 0 && scan.high == 0, needs_varying = scan.last > 0;
      if ((needs_constant && !codes_[0][scan.constant[i]].is_known) ||
          (needs_varying && !codes_[1][scan.varying[i]].is_known))
        return kDamaged;
    }
    has_scan_ = true;
    return read_units(scan);
  }

  void begin_interval() {
    held_ = 0, run_ = 0;
    for (Part& part : parts_) part.before = 0;
  }
  Wrong read_units(const Scan& scan) {
    const Part& only = parts_[scan.part[0]];
    const bool is_single = scan.count == 1;
    const i64 across = is_single ? round_up_div(only.width, 8) : round_up_div(width_, 8 * across_);
    const i64 down = is_single ? round_up_div(only.height, 8) : round_up_div(height_, 8 * down_);
    begin_interval();
    for (i64 unit = 0; unit < across * down; ++unit) {
      if (restarts_ && unit && unit % restarts_ == 0) {
        if (file_[at_] != 0xff || file_[at_ + 1] != kFirstRestart + (unit / restarts_ - 1) % 8)
          return file_.has(at_, 2) ? kDamaged : kTruncatedPicture;
        at_ += 2;
        begin_interval();
      }
      const i64 y = unit / across, x = unit % across;
      for (int i = 0; i < scan.count; ++i) {
        Part& part = parts_[scan.part[i]];
        const int rows = is_single ? 1 : part.down, columns = is_single ? 1 : part.across;
        for (int k = 0; k < rows * columns; ++k) {
          const i64 block = (y * rows + k / columns) * part.columns + x * columns + k % columns;
          if (!read_block(scan, i, part, part.coefficients + block * 64)) return kDamaged;
          if (is_behind_) return at_ >= file_.size() ? kTruncatedPicture : kDamaged;
        }
      }
    }
    held_ = 0;
    return nullptr;
  }

  bool read_block(const Scan& scan, int i, Part& part, i16* block) {
    const Codes& varying = codes_[1][scan.varying[i]];
    if (scan.first == 0 && !read_constant(scan, codes_[0][scan.constant[i]], part, block)) return false;
    if (scan.last == 0) return true;
    if (scan.high) return refine(scan, varying, block);
    if (run_) return --run_, true;
    for (int k = scan.first ? scan.first : 1; k <= scan.last; ++k) {
      const int sign = symbol(varying);
      if (sign < 0) return false;
      const int zeros = sign >> 4, size = sign & 15;
      if (size == 0 && zeros < 15) {
        if (zeros && !is_progressive_) return false;
        run_ = (1 << zeros) + bits(zeros) - 1;
        return true;
      }
      k += zeros;
      if (k > scan.last) return false;
      if (size) block[kZigZag[k]] = static_cast<i16>(static_cast<u32>(signed_bits(size)) << scan.low);
    }
    return true;
  }
  bool read_constant(const Scan& scan, const Codes& codes, Part& part, i16* block) {
    if (scan.high) {
      if (bit()) block[0] = static_cast<i16>(block[0] | 1 << scan.low);
      return true;
    }
    const int size = symbol(codes);
    if (size < 0 || size > 15) return false;
    part.before = static_cast<i16>(part.before + signed_bits(size));
    block[0] = static_cast<i16>(static_cast<u32>(part.before) << scan.low);
    return true;
  }
  /// One more bit of coefficients that are not zero, and new ones of that bit.
  bool refine(const Scan& scan, const Codes& codes, i16* block) {
    const i16 unit = static_cast<i16>(1 << scan.low);
    int k = scan.first;
    const auto correct = [&](i16& value) {
      if (bit() && !(value & unit)) value = static_cast<i16>(value < 0 ? value - unit : value + unit);
    };
    for (; run_ == 0 && k <= scan.last; ++k) {
      const int sign = symbol(codes);
      if (sign < 0 || (sign & 15) > 1) return false;
      int zeros = sign >> 4;
      i16 made = 0;
      if (sign & 15) {
        made = static_cast<i16>(bit() ? unit : -unit);
      } else if (zeros < 15) {
        run_ = (1 << zeros) + bits(zeros);
        break;
      }
      for (; k <= scan.last; ++k) {
        i16& value = block[kZigZag[k]];
        if (value)
          correct(value);
        else if (zeros-- == 0)
          break;
      }
      if (made && k > scan.last) return false;
      if (made) block[kZigZag[k]] = made;
    }
    if (run_ == 0) return true;
    for (; k <= scan.last; ++k)
      if (block[kZigZag[k]]) correct(block[kZigZag[k]]);
    --run_;
    return true;
  }

  // ---- pixels ----
  /// Eight numbers at such strides, with 13 bits of fraction more in the end, less `shift`.
  static void transform(i64* at, i64 stride, int shift) {
    const auto in = [&](int i) { return at[i * stride]; };
    const i64 turn = (in(2) + in(6)) * 4433;
    const i64 low_2 = turn - in(6) * 15137, low_3 = turn + in(2) * 6270;
    const i64 low_0 = (in(0) + in(4)) * 8192, low_1 = (in(0) - in(4)) * 8192;
    const i64 even[4] = {low_0 + low_3, low_1 + low_2, low_1 - low_2, low_0 - low_3};
    const i64 all = (in(7) + in(3) + in(5) + in(1)) * 9633;
    const i64 pair_1 = (in(7) + in(1)) * -7373, pair_2 = (in(5) + in(3)) * -20995;
    const i64 pair_3 = (in(7) + in(3)) * -16069 + all, pair_4 = (in(5) + in(1)) * -3196 + all;
    const i64 odd[4] = {in(1) * 12299 + pair_1 + pair_4, in(3) * 25172 + pair_2 + pair_3,
                        in(5) * 16819 + pair_2 + pair_4, in(7) * 2446 + pair_1 + pair_3};
    const i64 half = i64{1} << (shift - 1);
    for (int i = 0; i < 4; ++i) {
      at[i * stride] = (even[i] + odd[i] + half) >> shift;
      at[(7 - i) * stride] = (even[i] - odd[i] + half) >> shift;
    }
  }
  static void transform(Part& part) {
    for (i64 b = 0; b < part.blocks(); ++b) {
      i64 block[64];
      for (int i = 0; i < 64; ++i) block[i] = i64{part.coefficients[b * 64 + i]} * part.steps[i];
      for (int i = 0; i < 8; ++i) transform(block + i, 8, 11);
      for (int i = 0; i < 8; ++i) transform(block + 8 * i, 1, 18);
      u8* const to = part.samples + b / part.columns * 8 * part.columns * 8 + b % part.columns * 8;
      for (int i = 0; i < 64; ++i) to[i / 8 * part.columns * 8 + i % 8] = static_cast<u8>(to_byte(block[i] + 128));
    }
  }

  /// A component at the picture's size. By a factor of 2 pixels are means of the nearer sample, three times, and the
  /// farther one, rounded up and down in turn; by others they are repeated.
  void enlarge(const Part& part, u8* to) const {
    const int across = across_ / part.across, down = down_ / part.down;
    const bool is_wide = part.width > 2;
    const bool smooth_x = across == 2 && down <= 2 && is_wide, smooth_y = down == 2 && (across == 1 || smooth_x);
    for (i64 y = 0; y < height_; ++y) {
      const i64 near = y / down, step = y % 2 ? 1 : -1;
      const i64 last = part.height - 1, far = near + step < 0 ? 0 : near + step > last ? last : near + step;
      const u8* const row = part.samples + near * part.columns * 8;
      const u8* const other = part.samples + (smooth_y ? far : near) * part.columns * 8;
      for (i64 x = 0; x < width_; ++x) {
        const i64 from = x / across, side = from + (x % 2 ? 1 : -1);
        const auto column = [&](i64 at) { return smooth_y ? 3 * row[at] + other[at] : int{row[at]}; };
        int value = column(from);
        const int odd = static_cast<int>(x % 2);
        if (smooth_x) {
          const bool is_edge = side < 0 || side >= part.width;
          const int sum = 3 * value + column(is_edge ? from : side);
          if (smooth_y)
            value = (sum + (odd ? 7 : 8)) >> 4;
          else
            value = is_edge ? value : (sum + (odd ? 2 : 1)) >> 2;
        } else if (smooth_y) {
          value = (value + (y % 2 ? 2 : 1)) >> 2;
        }
        to[y * width_ + x] = static_cast<u8>(value);
      }
    }
  }

  bool is_rgb() const {
    if (is_jfif_) return false;
    if (adobe_ >= 0) return adobe_ == 0;
    return parts_[0].name == 'R' && parts_[1].name == 'G' && parts_[2].name == 'B';
  }
  static void draw(const Canvas& canvas, i64 y, i64 x, int luma, int blue, int red) {
    constexpr int kHalf = 1 << 15;
    canvas.set(y, x, to_byte(luma + ((91881 * red + kHalf) >> 16)),
               to_byte(luma + ((-22554 * blue - 46802 * red + kHalf) >> 16)),
               to_byte(luma + ((116130 * blue + kHalf) >> 16)));
  }

  enum : int {
    kFrame = 0xc0,
    kHuffman = 0xc4,
    kFirstRestart = 0xd0,
    kEnd = 0xd9,
    kScan = 0xda,
    kSteps = 0xdb,
    kRestarts = 0xdd,
    kJfif = 0xe0,
    kAdobe = 0xee
  };

  Bytes file_;
  i64 at_ = 0, height_ = 0, width_ = 0, restarts_ = 0;
  int count_ = 0, across_ = 1, down_ = 1, adobe_ = -1;
  bool is_jfif_ = false, is_progressive_ = false, has_scan_ = false;
  Part parts_[3];
  u16 steps_[4][64] = {};
  bool has_steps_[4] = {};
  Codes codes_[2][4];
  int word_ = 0, held_ = 0, run_ = 0;
  bool is_behind_ = false;
};

}  // namespace
}  // namespace rt
