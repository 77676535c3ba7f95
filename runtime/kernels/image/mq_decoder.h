// JPEG 2000's arithmetic decoder (ISO 15444-1, annex C) and, over it, the bits of a code-block (annex D).
#pragma once
#include "runtime/kernels/image/data.h"

namespace rt {
namespace {

class MqDecoder {
 public:
  enum : int { kZeroCoding = 0, kSignCoding = 9, kRefinement = 14, kRunLength = 17, kUniform = 18, kContexts = 19 };

  explicit MqDecoder(Bytes data) : data_(data) {
    reset();
    word_ = static_cast<u32>(byte(0)) << 16;
    read_byte();
    word_ <<= 7, left_ -= 7;
  }
  void reset() {
    for (Context& context : contexts_) context = {};
    contexts_[kZeroCoding].state = 4, contexts_[kRunLength].state = 3, contexts_[kUniform].state = 46;
  }
  int next(int number) {
    Context& context = contexts_[number];
    const State& state = kStates[context.state];
    const u32 odds = state.odds;
    range_ -= odds;
    const bool is_low = word_ >> 16 < odds, is_small = range_ < odds;
    if (!is_low) word_ -= odds << 16;
    if (!is_low && range_ & 0x8000) return context.likely;
    const bool is_likely = is_low == is_small;
    const int decision = is_likely ? context.likely : 1 - context.likely;
    if (!is_likely && state.swaps) context.likely = static_cast<u8>(1 - context.likely);
    context.state = is_likely ? state.next : state.next_unlikely;
    if (is_low) range_ = odds;
    for (; !(range_ & 0x8000); range_ <<= 1, word_ <<= 1, --left_)
      if (left_ == 0) read_byte();
    return decision;
  }

 private:
  struct State {
    u16 odds;  // of the unlikely one
    u8 next, next_unlikely;
    bool swaps;
  };
  struct Context {
    u8 state = 0, likely = 0;
  };
  static constexpr State kStates[] = {
      {0x5601, 1, 1, true},    {0x3401, 2, 6, false},   {0x1801, 3, 9, false},   {0x0ac1, 4, 12, false},
      {0x0521, 5, 29, false},  {0x0221, 38, 33, false}, {0x5601, 7, 6, true},    {0x5401, 8, 14, false},
      {0x4801, 9, 14, false},  {0x3801, 10, 14, false}, {0x3001, 11, 17, false}, {0x2401, 12, 18, false},
      {0x1c01, 13, 20, false}, {0x1601, 29, 21, false}, {0x5601, 15, 14, true},  {0x5401, 16, 14, false},
      {0x5101, 17, 15, false}, {0x4801, 18, 16, false}, {0x3801, 19, 17, false}, {0x3401, 20, 18, false},
      {0x3001, 21, 19, false}, {0x2801, 22, 19, false}, {0x2401, 23, 20, false}, {0x2201, 24, 21, false},
      {0x1c01, 25, 22, false}, {0x1801, 26, 23, false}, {0x1601, 27, 24, false}, {0x1401, 28, 25, false},
      {0x1201, 29, 26, false}, {0x1101, 30, 27, false}, {0x0ac1, 31, 28, false}, {0x09c1, 32, 29, false},
      {0x08a1, 33, 30, false}, {0x0521, 34, 31, false}, {0x0441, 35, 32, false}, {0x02a1, 36, 33, false},
      {0x0221, 37, 34, false}, {0x0141, 38, 35, false}, {0x0111, 39, 36, false}, {0x0085, 40, 37, false},
      {0x0049, 41, 38, false}, {0x0025, 42, 39, false}, {0x0015, 43, 40, false}, {0x0009, 44, 41, false},
      {0x0005, 45, 42, false}, {0x0001, 45, 43, false}, {0x5601, 46, 46, false}};

  int byte(i64 at) const { return at < data_.size() ? data_[at] : 0xff; }  // behind the end there are ones
  void read_byte() {
    if (byte(at_) == 0xff) {
      if (byte(at_ + 1) > 0x8f) {
        word_ += 0xff00, left_ = 8;
        return;
      }
      word_ += static_cast<u32>(byte(++at_)) << 9, left_ = 7;
      return;
    }
    word_ += static_cast<u32>(byte(++at_)) << 8, left_ = 8;
  }

  Bytes data_;
  i64 at_ = 0;
  u32 word_ = 0, range_ = 0x8000;
  int left_ = 0;
  Context contexts_[kContexts];
};

/// The coefficients of a code-block, twice their size, those of which bits are missing in the middle of what they may
/// be.
class CodeBlock {
 public:
  static constexpr i64 kMostPoints = 4096;
  enum Band : int { kLowLow = 0, kHighLow = 1, kLowHigh = 2, kHighHigh = 3 };  // across, down
  enum : int { kResets = 2, kCausal = 8, kMarks = 32 };                        // its style

  /// `planes`: of bits that are not all zero. False: the data are damaged.
  bool decode(Bytes data, i64 width, i64 height, Band band, int style, int planes, int passes) {
    width_ = width, height_ = height, band_ = band, style_ = style;
    for (i64 i = 0; i < (width + 2) * (height + 2); ++i) flags_[i] = 0;
    for (i64 i = 0; i < width * height; ++i) values_[i] = 0;
    MqDecoder bits(data);
    for (int pass = 2; pass < passes + 2; ++pass) {  // of three a plane; the first one is the last of its plane
      const int plane = planes - 1 - pass / 3;
      if (plane < 0) return false;
      for (i64 top = 0; top < height; top += 4)
        for (i64 x = 0; x < width && pass % 3 < 2; ++x)
          for (i64 y = top; y < height && y < top + 4; ++y)
            pass % 3 == 0 ? find(bits, y, x, plane) : refine(bits, y, x, plane);
      if (pass % 3 == 2 && !clean_up(bits, plane)) return false;
      if (style & kResets) bits.reset();
    }
    return true;
  }
  i32 at(i64 y, i64 x) const { return values_[y * width_ + x] / 2; }

 private:
  enum : u8 { kSignificant = 1, kNegative = 2, kRefined = 4, kVisited = 8 };

  u8& flag(i64 y, i64 x) { return flags_[(y + 1) * (width_ + 2) + x + 1]; }
  i32& value(i64 y, i64 x) { return values_[y * width_ + x]; }
  /// A neighbour; the row below a stripe is not looked at where the style says so.
  int flag_beside(i64 y, i64 x, i64 down, i64 right) {
    if (down > 0 && style_ & kCausal && y % 4 == 3) return 0;
    return flag(y + down, x + right);
  }
  int significant(i64 y, i64 x, i64 down, i64 right) { return flag_beside(y, x, down, right) & kSignificant; }

  struct Around {
    int across, down, diagonal;
  };
  Around around(i64 y, i64 x) {
    return {significant(y, x, 0, -1) + significant(y, x, 0, 1), significant(y, x, -1, 0) + significant(y, x, 1, 0),
            significant(y, x, -1, -1) + significant(y, x, -1, 1) + significant(y, x, 1, -1) + significant(y, x, 1, 1)};
  }
  int zero_context(const Around& of) const {
    if (band_ == kHighHigh) {
      const int both = of.across + of.down;
      if (of.diagonal >= 3) return 8;
      if (of.diagonal == 2) return both ? 7 : 6;
      return 3 * of.diagonal + (both > 2 ? 2 : both);
    }
    const int first = band_ == kHighLow ? of.down : of.across, second = band_ == kHighLow ? of.across : of.down;
    if (first == 2) return 8;
    if (first == 1) return second ? 7 : of.diagonal ? 6 : 5;
    return second ? 2 + second : of.diagonal > 2 ? 2 : of.diagonal;
  }
  /// Its sign, and that it is not zero.
  void begin(MqDecoder& bits, i64 y, i64 x, int plane) {
    const auto sign = [&](i64 down, i64 right) {
      const int of = flag_beside(y, x, down, right);
      return !(of & kSignificant) ? 0 : of & kNegative ? -1 : 1;
    };
    const auto limited = [](int sum) { return sum > 1 ? 1 : sum < -1 ? -1 : sum; };
    int across = limited(sign(0, -1) + sign(0, 1)), down = limited(sign(-1, 0) + sign(1, 0));
    const bool flips = across < 0 || (across == 0 && down < 0);
    if (flips) across = -across, down = -down;
    const bool is_negative = bits.next(MqDecoder::kSignCoding + 3 * across + down) != int{flips};
    const i32 size = static_cast<i32>(3u << plane);
    value(y, x) = is_negative ? -size : size;
    flag(y, x) |= static_cast<u8>(kSignificant | (is_negative ? kNegative : 0));
  }

  void find(MqDecoder& bits, i64 y, i64 x, int plane) {
    u8& own = flag(y, x);
    const Around of = around(y, x);
    if (own & kSignificant || !(of.across + of.down + of.diagonal)) return;
    own |= kVisited;
    if (bits.next(MqDecoder::kZeroCoding + zero_context(of))) begin(bits, y, x, plane);
  }
  void refine(MqDecoder& bits, i64 y, i64 x, int plane) {
    u8& own = flag(y, x);
    if (!(own & kSignificant) || own & kVisited) return;
    const Around of = around(y, x);
    const int context = own & kRefined ? 2 : of.across + of.down + of.diagonal ? 1 : 0;
    const i32 half = i32{1} << plane, step = bits.next(MqDecoder::kRefinement + context) ? half : -half;
    value(y, x) += own & kNegative ? -step : step;
    own |= kRefined;
  }
  bool clean_up(MqDecoder& bits, int plane) {
    for (i64 top = 0; top < height_; top += 4)
      for (i64 x = 0; x < width_; ++x) {
        i64 y = top;
        const bool runs = is_quiet(top, x);
        if (runs) {
          if (!bits.next(MqDecoder::kRunLength)) continue;
          y += 2 * bits.next(MqDecoder::kUniform);
          y += bits.next(MqDecoder::kUniform);
          begin(bits, y++, x, plane);
        }
        for (; y < height_ && y < top + 4; ++y)
          if (!(flag(y, x) & (kSignificant | kVisited)) &&
              bits.next(MqDecoder::kZeroCoding + zero_context(around(y, x))))
            begin(bits, y, x, plane);
      }
    for (i64 i = 0; i < (width_ + 2) * (height_ + 2); ++i) flags_[i] &= static_cast<u8>(~kVisited);
    if (!(style_ & kMarks)) return true;
    int mark = 0;
    for (int i = 0; i < 4; ++i) mark = 2 * mark + bits.next(MqDecoder::kUniform);
    return mark == 10;
  }
  /// Whether four points are zero so far, and so is all around them.
  bool is_quiet(i64 top, i64 x) {
    if (top + 4 > height_) return false;
    for (i64 y = top; y < top + 4; ++y) {
      const Around of = around(y, x);
      if (flag(y, x) & (kSignificant | kVisited) || of.across + of.down + of.diagonal) return false;
    }
    return true;
  }

  i64 width_ = 0, height_ = 0;
  Band band_ = kLowLow;
  int style_ = 0;
  i32 values_[kMostPoints];
  u8 flags_[(1024 + 2) * (4 + 2) + 64];  // with a border
};

}  // namespace
}  // namespace rt
