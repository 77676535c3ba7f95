// VP8's key frames (RFC 6386), as libwebp draws them: the picture of a lossy WebP.
#pragma once
#include "runtime/kernels/image/data.h"
#include "runtime/kernels/image/vp8_tables.h"

namespace rt {
namespace {

/// Decisions that are packed by their odds, of 256, to be false.
class Decisions {
 public:
  Decisions() = default;
  explicit Decisions(Bytes data) : data_(data) {}
  bool is_behind() const { return at_ > data_.size(); }
  bool next(int odds) {
    if (bits_ < 0) value_ = value_ << 8 | data_[at_++], bits_ += 8;
    const u32 split = 1 + ((range_ - 1) * static_cast<u32>(odds) >> 8), place = split << bits_;
    const bool is_true = value_ >= place;
    range_ = is_true ? range_ - split : split;
    if (is_true) value_ -= place;
    for (; range_ < 128; range_ *= 2) --bits_;
    return is_true;
  }
  bool flag() { return next(128); }
  int number(int bits) {
    int value = 0;
    for (int i = 0; i < bits; ++i) value = 2 * value + flag();
    return value;
  }
  int signed_number(int bits) {
    const int value = number(bits);
    return flag() ? -value : value;
  }
  int optional_number(int bits) { return flag() ? signed_number(bits) : 0; }

 private:
  Bytes data_;
  i64 at_ = 0;
  u32 value_ = 0, range_ = 255;
  int bits_ = -8;
};

class Vp8 {
 public:
  explicit Vp8(Bytes frame) : frame_(frame) {}

  Wrong declare(PictureSize* size) {
    constexpr i64 kHeader = 10;
    const i64 tag = frame_.little(0, 3);
    if (!frame_.has(0, kHeader)) return kTruncatedPicture;
    if (tag & 1 || frame_.big(3, 3) != 0x9d012a) return "the data is a WebP whose picture is no key frame of VP8";
    width_ = frame_.little(6, 2) & 0x3fff, height_ = frame_.little(8, 2) & 0x3fff;
    columns_ = round_up_div(width_, 16), rows_ = round_up_div(height_, 16);
    first_part_ = tag >> 5;
    if (!frame_.has(kHeader, first_part_)) return kTruncatedPicture;
    modes_ = Decisions(frame_.part(kHeader, first_part_));
    size->height = height_, size->width = width_;
    for (int p = 0; p < 3; ++p) size->add_room<u8>(plane_bytes(p));
    size->add_room<Filter>(columns_ * rows_);
    size->add_room<Above>(columns_);
    return nullptr;
  }

  Wrong decode(const Canvas& canvas, Room room) {
    for (int p = 0; p < 3; ++p) {
      u8* const memory = room.take<u8>(plane_bytes(p));
      if (!memory) return kNoRoomForPicture;
      surround(planes_[p] = {memory + stride(p) + kLeft, stride(p)}, p);
    }
    filters_ = room.take<Filter>(columns_ * rows_);
    above_ = room.take<Above>(columns_);
    if (!filters_ || !above_) return kNoRoomForPicture;
    if (const Wrong wrong = read_header()) return wrong;
    for (i64 y = 0; y < rows_; ++y) {
      left_ = {};
      for (i64 x = 0; x < columns_; ++x) {
        Decisions& tokens = tokens_[y & (parts_ - 1)];
        read_block(y, x, tokens);
        if (modes_.is_behind() || tokens.is_behind()) return kTruncatedPicture;
      }
    }
    for (i64 i = 0; i < rows_ * columns_; ++i) smooth(i / columns_, i % columns_);
    draw(canvas);
    return nullptr;
  }

 private:
  /// How pixels are predicted; a macroblock by one of the first four.
  enum Mode : u8 { kDC, kTM, kVE, kHE, kRD, kVR, kLD, kVL, kHD, kHU };
  enum Kind : u8 { kWithoutConstant, kConstants, kColor, kWhole };
  static constexpr i64 kLeft = 16;  // bytes in front of a row, the last of which is its left border

  struct Plane {
    u8* first = nullptr;
    i64 stride = 0;
    u8* at(i64 y, i64 x) const { return first + y * stride + x; }
  };
  struct Steps {  // of the luma, of its constant terms, of the colors; each for the constant term, and for others
    int luma[2], constants[2], color[2];
  };
  struct Filter {
    u8 level, inner;
  };
  /// What blocks below, or beside, ask of a macroblock: modes of subblocks; which blocks have tokens: luma, two colors
  /// and constants.
  struct Above {
    u8 modes[4], luma[4], colors[2][2], constants;
  };

  i64 edge(int plane) const { return plane ? 8 : 16; }
  i64 stride(int plane) const { return columns_ * edge(plane) + 2 * kLeft; }
  i64 plane_bytes(int plane) const { return stride(plane) * (rows_ * edge(plane) + 1) + kLeft; }
  void surround(const Plane& plane, int number) const {
    for (i64 x = -1; x < plane.stride - kLeft; ++x) *plane.at(-1, x) = 127;
    for (i64 y = 0; y < rows_ * edge(number); ++y) *plane.at(y, -1) = 129;
  }

  // ---- the header ----
  Wrong read_header() {
    modes_.number(2);  // the kind of color, and whether pixels need to be clamped
    const bool has_segments = modes_.flag();
    int quantizers[4] = {}, odds_of_segments[3] = {255, 255, 255};
    bool are_absolute = true;
    if (has_segments) {
      changes_segments_ = modes_.flag();
      if (modes_.flag()) {
        are_absolute = modes_.flag();
        for (int& quantizer : quantizers) quantizer = modes_.optional_number(7);
        for (int& level : levels_) level = modes_.optional_number(6);
      }
      if (changes_segments_)
        for (int& odds : odds_of_segments) odds = modes_.flag() ? modes_.number(8) : 255;
    }
    for (int i = 0; i < 3; ++i) segment_odds_[i] = odds_of_segments[i];
    is_simple_ = modes_.flag();
    const int level = modes_.number(6);
    for (int& of : levels_) of = !has_segments ? level : are_absolute ? of : level + of;
    sharpness_ = modes_.number(3);
    if (modes_.flag() && modes_.flag()) {
      int deltas[8] = {};
      for (int& delta : deltas) delta = modes_.optional_number(6);
      level_delta_ = deltas[0], level_delta_of_subblocks_ = deltas[4];
    }
    parts_ = 1 << modes_.number(2);
    read_steps(has_segments, are_absolute, quantizers);
    modes_.flag();  // whether odds are kept for the next frame
    for (int i = 0; i < 4 * 8 * 3 * 11; ++i) {
      const int kind = i / (8 * 3 * 11), band = i / (3 * 11) % 8, before = i / 11 % 3, place = i % 11;
      const bool changes = modes_.next(kVp8ChangeOdds[kind][band][before][place]);
      odds_[kind][band][before][place] =
          changes ? static_cast<u8>(modes_.number(8)) : kVp8TokenOdds[kind][band][before][place];
    }
    has_skips_ = modes_.flag();
    skip_odds_ = has_skips_ ? modes_.number(8) : 0;
    return find_parts();
  }
  void read_steps(bool has_segments, bool are_absolute, const int* quantizers) {
    const int base = modes_.number(7);
    int deltas[5];
    for (int& delta : deltas) delta = modes_.optional_number(4);
    const auto within = [](int value, int most) { return value < 0 ? 0 : value > most ? most : value; };
    for (int s = 0; s < 4; ++s) {
      const int q = !has_segments ? base : are_absolute ? quantizers[s] : base + quantizers[s];
      const int varying = kVp8VaryingSteps[within(q + deltas[2], 127)] * 155 / 100;
      steps_[s] = {{kVp8ConstantSteps[within(q + deltas[0], 127)], kVp8VaryingSteps[within(q, 127)]},
                   {kVp8ConstantSteps[within(q + deltas[1], 127)] * 2, varying < 8 ? 8 : varying},
                   {kVp8ConstantSteps[within(q + deltas[3], 117)], kVp8VaryingSteps[within(q + deltas[4], 127)]}};
    }
  }
  Wrong find_parts() {
    i64 sizes = 10 + first_part_, at = sizes + 3 * (parts_ - 1);
    for (int p = 0; p < parts_; ++p, sizes += 3) {
      const i64 bytes = p + 1 == parts_ ? frame_.size() - at : frame_.little(sizes, 3);
      if (!frame_.has(at, bytes)) return kTruncatedPicture;
      tokens_[p] = Decisions(frame_.part(at, bytes));
      at += bytes;
    }
    return nullptr;
  }

  // ---- a macroblock: 16 x 16 pixels ----
  void read_block(i64 y, i64 x, Decisions& tokens) {
    const int segment = !changes_segments_              ? 0
                        : modes_.next(segment_odds_[0]) ? 2 + modes_.next(segment_odds_[2])
                                                        : int{modes_.next(segment_odds_[1])};
    const bool skips = has_skips_ && modes_.next(skip_odds_);
    Above& above = above_[x];
    Mode luma = kDC, modes[16];
    const bool has_subblocks = !modes_.next(145);
    if (has_subblocks) {
      for (int i = 0; i < 16; ++i) {
        u8 &over = above.modes[i % 4], &beside = left_.modes[i / 4];
        over = beside = modes[i] = subblock_mode(kVp8ModeOdds[over][beside]);
      }
    } else {
      luma = modes_.next(156) ? (modes_.next(128) ? kTM : kHE) : (modes_.next(163) ? kVE : kDC);
      for (int i = 0; i < 4; ++i) above.modes[i] = left_.modes[i] = luma;
    }
    const Mode color = !modes_.next(142) ? kDC : !modes_.next(114) ? kVE : modes_.next(183) ? kTM : kHE;

    i16 coefficients[25][16] = {};
    const bool has_tokens = !skips && read_tokens(tokens, above, steps_[segment], !has_subblocks, coefficients);
    if (skips) forget_tokens(above, !has_subblocks), forget_tokens(left_, !has_subblocks);
    set_filter(filters_[y * columns_ + x], segment, has_subblocks, has_tokens);

    if (!has_subblocks) predict(planes_[0], y, x, 16, luma);
    u8 right_above[4];  // of the four subblocks at the right
    for (int i = 0; i < 4; ++i)
      right_above[i] = *planes_[0].at(16 * y - 1, 16 * x + (y && x + 1 == columns_ ? 15 : 16 + i));
    for (int i = 0; i < 16; ++i) {
      u8* const to = planes_[0].at(16 * y + i / 4 * 4, 16 * x + i % 4 * 4);
      if (has_subblocks) predict_subblock(to, planes_[0].stride, modes[i], i % 4 == 3 ? right_above : nullptr);
      add_transformed(to, planes_[0].stride, coefficients[i]);
    }
    for (int p = 1; p < 3; ++p) {
      predict(planes_[p], y, x, 8, color);
      for (int i = 0; i < 4; ++i)
        add_transformed(planes_[p].at(8 * y + i / 2 * 4, 8 * x + i % 2 * 4), planes_[p].stride,
                        coefficients[12 + 4 * p + i]);
    }
  }

  Mode subblock_mode(const u8* odds) {
    if (!modes_.next(odds[0])) return kDC;
    if (!modes_.next(odds[1])) return kTM;
    if (!modes_.next(odds[2])) return kVE;
    if (!modes_.next(odds[3])) {
      if (!modes_.next(odds[4])) return kHE;
      return modes_.next(odds[5]) ? kVR : kRD;
    }
    if (!modes_.next(odds[6])) return kLD;
    if (!modes_.next(odds[7])) return kVL;
    return modes_.next(odds[8]) ? kHU : kHD;
  }

  // ---- tokens ----
  static void forget_tokens(Above& of, bool with_constants) {
    for (int i = 0; i < 4; ++i) of.luma[i] = of.colors[i / 2][i % 2] = 0;
    if (with_constants) of.constants = 0;
  }
  /// The coefficients of 16 blocks of luma and of 4 for each color; whether there is any.
  bool read_tokens(Decisions& tokens, Above& above, const Steps& steps, bool has_constants, i16 (*to)[16]) {
    bool any = false;
    const auto block = [&](Kind kind, const int* of, i16* coefficients, u8& over, u8& beside) {
      const int first = kind == kWithoutConstant;
      const int read = read_coefficients(tokens, kind, over + beside, first, of, coefficients);
      over = beside = read > first;
      any = any || read > 1 || (kind != kConstants && coefficients[0]);
    };
    if (has_constants) {
      const bool before = any;
      block(kConstants, steps.constants, to[24], above.constants, left_.constants);
      any = before;
      spread_constants(to[24], to);
    }
    for (int i = 0; i < 16; ++i)
      block(has_constants ? kWithoutConstant : kWhole, steps.luma, to[i], above.luma[i % 4], left_.luma[i / 4]);
    for (int i = 0; i < 8; ++i)
      block(kColor, steps.color, to[16 + i], above.colors[i / 4][i % 2], left_.colors[i / 4][i / 2 % 2]);
    return any;
  }
  /// Where the last one stands, plus one.
  int read_coefficients(Decisions& tokens, Kind kind, int before, int at, const int* steps, i16* to) const {
    constexpr u8 kBands[] = {0, 1, 2, 3, 6, 4, 5, 6, 6, 6, 6, 6, 6, 6, 6, 7};
    constexpr u8 kPlaces[] = {0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15};
    for (; at < 16; ++at) {
      const u8* odds = odds_[kind][kBands[at]][before];
      if (!tokens.next(odds[0])) return at;
      while (!tokens.next(odds[1])) {
        if (++at == 16) return 16;
        odds = odds_[kind][kBands[at]][0];
      }
      const int value = tokens.next(odds[2]) ? large_value(tokens, odds) : 1;
      before = value > 1 ? 2 : 1;
      to[kPlaces[at]] = static_cast<i16>((tokens.flag() ? -value : value) * steps[at > 0]);
    }
    return 16;
  }
  static int large_value(Decisions& tokens, const u8* odds) {
    constexpr u8 kOdds[6][12] = {{159},
                                 {165, 145},
                                 {173, 148, 140},
                                 {176, 155, 140, 135},
                                 {180, 157, 141, 134, 130},
                                 {254, 254, 243, 230, 196, 177, 153, 140, 133, 130, 129}};
    constexpr int kLeast[6] = {5, 7, 11, 19, 35, 67};
    if (!tokens.next(odds[3])) return !tokens.next(odds[4]) ? 2 : 3 + tokens.next(odds[5]);
    const int size = !tokens.next(odds[6])   ? int{tokens.next(odds[7])}
                     : !tokens.next(odds[8]) ? 2 + tokens.next(odds[9])
                                             : 4 + tokens.next(odds[10]);
    int more = 0;
    for (const u8* odd = kOdds[size]; *odd; ++odd) more = 2 * more + tokens.next(*odd);
    return kLeast[size] + more;
  }

  // ---- transforms ----
  static void turn_constants(int* at, int stride) {
    const int sum = at[0] + at[3 * stride], difference = at[0] - at[3 * stride];
    const int inner = at[stride] + at[2 * stride], inner_difference = at[stride] - at[2 * stride];
    at[0] = sum + inner, at[stride] = difference + inner_difference;
    at[2 * stride] = sum - inner, at[3 * stride] = difference - inner_difference;
  }
  static void spread_constants(const i16* constants, i16 (*to)[16]) {
    int all[16];
    for (int i = 0; i < 16; ++i) all[i] = constants[i];
    for (int i = 0; i < 4; ++i) turn_constants(all + i, 4);
    for (int i = 0; i < 4; ++i) turn_constants(all + 4 * i, 1);
    for (int i = 0; i < 16; ++i) to[i][0] = static_cast<i16>((all[i] + 3) >> 3);
  }
  static void turn(int* at, int stride) {
    const auto more = [](int value) {
      return value + static_cast<int>(i64{value} * 20091 >> 16);
    };  // by sqrt(2) cos(pi / 8)
    const auto less = [](int value) { return static_cast<int>(i64{value} * 35468 >> 16); };  // by sqrt(2) sin(pi / 8)
    const int sum = at[0] + at[2 * stride], difference = at[0] - at[2 * stride];
    const int low = less(at[stride]) - more(at[3 * stride]), high = more(at[stride]) + less(at[3 * stride]);
    at[0] = sum + high, at[stride] = difference + low;
    at[2 * stride] = difference - low, at[3 * stride] = sum - high;
  }
  static void add_transformed(u8* to, i64 stride, const i16* coefficients) {
    int all[16];
    for (int i = 0; i < 16; ++i) all[i] = coefficients[i];
    for (int i = 0; i < 4; ++i) turn(all + i, 4);
    for (int i = 0; i < 4; ++i) all[4 * i] += 4, turn(all + 4 * i, 1);
    for (int i = 0; i < 16; ++i) {
      u8& pixel = to[i / 4 * stride + i % 4];
      pixel = static_cast<u8>(to_byte(pixel + (all[i] >> 3)));
    }
  }

  // ---- prediction ----
  static void predict(const Plane& plane, i64 block_y, i64 block_x, int size, Mode mode) {
    u8* const to = plane.at(block_y * size, block_x * size);
    const u8* const above = to - plane.stride;
    const auto left = [&](i64 y) { return int{to[y * plane.stride - 1]}; };
    int mean = 128;
    if (block_y || block_x) {
      int sum = 0, count = 0;
      for (int i = 0; i < size; ++i) sum += (block_y ? above[i] : 0) + (block_x ? left(i) : 0);
      count = size * ((block_y ? 1 : 0) + (block_x ? 1 : 0));
      mean = (sum + count / 2) / count;
    }
    for (int y = 0; y < size; ++y)
      for (int x = 0; x < size; ++x)
        to[y * plane.stride + x] = static_cast<u8>(mode == kDC   ? mean
                                                   : mode == kVE ? above[x]
                                                   : mode == kHE ? left(y)
                                                                 : to_byte(left(y) + above[x] - above[-1]));
  }
  /// By what stands around: from the lowest at the left, over the corner, to the right above, `right` if it is given.
  static void predict_subblock(u8* to, i64 stride, Mode mode, const u8* right) {
    int around[13];
    for (int i = 0; i < 4; ++i) around[i] = to[(3 - i) * stride - 1];
    for (int i = 4; i < 13; ++i) around[i] = i >= 9 && right ? right[i - 9] : to[-stride + i - 5];
    const auto two = [&](int i) { return (around[i] + around[i + 1] + 1) >> 1; };
    const auto three = [&](int i) {  // around i; beyond the ends the last one
      return (around[i > 0 ? i - 1 : 0] + 2 * around[i] + around[i < 12 ? i + 1 : 12] + 2) >> 2;
    };
    int sum = 4;
    for (int i = 0; i < 4; ++i) sum += around[i] + around[5 + i];
    const auto pixel = [&](int y, int x) {
      switch (mode) {
        case kDC: return sum >> 3;
        case kTM: return to_byte(around[3 - y] + around[5 + x] - around[4]);
        case kVE: return three(5 + x);
        case kHE: return three(3 - y);
        case kLD: return three(6 + y + x);
        case kRD: return three(4 - y + x);
        case kVR: {
          const int at = 2 * x - y;
          return at < -1 ? three(5 + at) : at % 2 ? three(4 + (at + 1) / 2) : two(4 + at / 2);
        }
        case kVL:
          if (x == 3 && y >= 2) return three(y == 2 ? 10 : 11);
          return y % 2 ? three(6 + y / 2 + x) : two(5 + y / 2 + x);
        case kHD: {
          const int at = 2 * y - x;
          return at < -1 ? three(3 - at) : at % 2 ? three(4 - (at + 1) / 2) : two(3 - at / 2);
        }
        default: {  // kHU
          const int at = 2 * y + x;
          return at > 5 ? around[0] : at % 2 ? three(2 - at / 2) : two(2 - at / 2);
        }
      }
    };
    u8 made[16];
    for (int i = 0; i < 16; ++i) made[i] = static_cast<u8>(pixel(i / 4, i % 4));
    for (int i = 0; i < 16; ++i) to[i / 4 * stride + i % 4] = made[i];
  }

  // ---- the filter between blocks ----
  void set_filter(Filter& filter, int segment, bool has_subblocks, bool has_tokens) const {
    const int level = levels_[segment] + level_delta_ + (has_subblocks ? level_delta_of_subblocks_ : 0);
    filter.level = static_cast<u8>(level < 0 ? 0 : level > 63 ? 63 : level);
    filter.inner = has_subblocks || has_tokens;
  }
  struct Limits {
    int edge, inside, steep;
  };
  void smooth(i64 y, i64 x) const {
    const Filter& filter = filters_[y * columns_ + x];
    const int level = filter.level;
    if (!level) return;
    int inside = sharpness_ ? level >> (sharpness_ > 4 ? 2 : 1) : level;
    if (sharpness_ && inside > 9 - sharpness_) inside = 9 - sharpness_;
    if (inside < 1) inside = 1;
    const Limits limits{2 * (2 * level + inside) + 1, inside, level >= 40 ? 2 : level >= 15 ? 1 : 0};
    for (int pass = 0; pass < 4; ++pass) {
      const bool is_row = pass / 2, is_inner = pass % 2;
      if (is_inner ? !filter.inner : (is_row ? y : x) == 0) continue;
      for (int p = 0; p < (is_simple_ ? 1 : 3); ++p)
        for (i64 at = is_inner ? 4 : 0; at < (is_inner ? edge(p) : 1); at += 4)
          smooth_edge(planes_[p], y * edge(p) + (is_row ? at : 0), x * edge(p) + (is_row ? 0 : at), edge(p), is_row,
                      is_inner, limits);
    }
  }
  void smooth_edge(const Plane& plane, i64 y, i64 x, i64 size, bool is_row, bool is_inner, const Limits& limits) const {
    const i64 across = is_row ? plane.stride : 1, along = is_row ? 1 : plane.stride;
    for (i64 i = 0; i < size; ++i) {
      u8* const at = plane.at(y, x) + i * along;
      const auto gap = [&](i64 a, i64 b) {
        const int difference = at[a * across] - at[b * across];
        return difference < 0 ? -difference : difference;
      };
      if (4 * gap(-1, 0) + gap(-2, 1) > limits.edge + (is_inner ? 0 : 8)) continue;
      if (is_simple_) {
        smooth_two(at, across);
        continue;
      }
      bool is_smooth = true;
      for (i64 a = -4; a < 3; ++a) is_smooth = is_smooth && (a == -1 || gap(a, a + 1) <= limits.inside);
      if (!is_smooth) continue;
      if (gap(-2, -1) > limits.steep || gap(1, 0) > limits.steep)
        smooth_two(at, across);
      else if (is_inner)
        smooth_four(at, across);
      else
        smooth_six(at, across);
    }
  }
  static int within(int value, int least, int most) { return value < least ? least : value > most ? most : value; }
  static void change(u8& pixel, int by) { pixel = static_cast<u8>(to_byte(pixel + by)); }
  static void smooth_two(u8* at, i64 across) {
    const int step = 3 * (at[0] - at[-across]) + within(at[-2 * across] - at[across], -128, 127);
    change(at[-across], within((step + 3) >> 3, -16, 15)), change(at[0], -within((step + 4) >> 3, -16, 15));
  }
  static void smooth_four(u8* at, i64 across) {
    const int step = 3 * (at[0] - at[-across]);
    const int near = within((step + 4) >> 3, -16, 15), far = (near + 1) >> 1;
    change(at[-2 * across], far), change(at[-across], within((step + 3) >> 3, -16, 15));
    change(at[0], -near), change(at[across], -far);
  }
  static void smooth_six(u8* at, i64 across) {
    const int step = within(3 * (at[0] - at[-across]) + within(at[-2 * across] - at[across], -128, 127), -128, 127);
    for (int i = 0; i < 3; ++i) {
      const int by = (9 * (3 - i) * step + 63) >> 7;
      change(at[(-1 - i) * across], by), change(at[i * across], -by);
    }
  }

  // ---- pixels ----
  /// A color at a pixel: of the four samples around it the nearest counts nine times, its neighbours three times.
  int color_at(int plane, i64 y, i64 x) const {
    const i64 last_row = (height_ - 1) / 2, last_column = (width_ - 1) / 2;
    i64 far_y = y / 2 + (y % 2 ? 1 : -1), far_x = x / 2 + (x % 2 ? 1 : -1);
    if (far_y < 0 || far_y > last_row) far_y = y / 2;
    if (far_x < 0 || far_x > last_column) far_x = x / 2;
    const auto sample = [&](i64 row, i64 column) { return int{*planes_[plane].at(row, column)}; };
    const int near = sample(y / 2, x / 2);
    const int beside = (near + 3 * sample(y / 2, far_x) + 3 * sample(far_y, x / 2) + sample(far_y, far_x) + 8) >> 3;
    return (beside + near) >> 1;
  }
  void draw(const Canvas& canvas) const {
    for (i64 y = 0; y < height_; ++y)
      for (i64 x = 0; x < width_; ++x) {
        const int luma = *planes_[0].at(y, x) * 19077 >> 8, blue = color_at(1, y, x), red = color_at(2, y, x);
        canvas.set(y, x, to_byte((luma + (red * 26149 >> 8) - 14234) >> 6),
                   to_byte((luma - (blue * 6419 >> 8) - (red * 13320 >> 8) + 8708) >> 6),
                   to_byte((luma + (blue * 33050 >> 8) - 17685) >> 6));
      }
  }

  Bytes frame_;
  i64 height_ = 0, width_ = 0, rows_ = 0, columns_ = 0, first_part_ = 0;  // rows and columns of macroblocks
  Decisions modes_, tokens_[8];
  int parts_ = 1;
  bool changes_segments_ = false, is_simple_ = false, has_skips_ = false;
  int segment_odds_[3] = {}, skip_odds_ = 0;
  int levels_[4] = {}, level_delta_ = 0, level_delta_of_subblocks_ = 0, sharpness_ = 0;
  Steps steps_[4] = {};
  u8 odds_[4][8][3][11] = {};
  Plane planes_[3];
  Filter* filters_ = nullptr;
  Above* above_ = nullptr;
  Above left_ = {};
};

/// WebP: the container.
RT_COLD Wrong find_vp8(Bytes file, Bytes* frame) {
  for (i64 at = 12; file.has(at, 8);) {
    const Bytes chunk = file.from(at);
    const i64 length = file.little(at + 4, 4);
    if (chunk.begin_with("VP8L")) return "the data is a lossless WebP, which is not decoded";
    if (chunk.begin_with("ANIM")) return "the data is an animated WebP, which is not decoded";
    if (!file.has(at + 8, length)) return kTruncatedPicture;
    *frame = file.part(at + 8, length);
    if (chunk.begin_with("VP8 ")) return nullptr;
    at += 8 + length + length % 2;
  }
  return kTruncatedPicture;
}

class WebP {
 public:
  explicit WebP(Bytes file) : file_(file), vp8_(file) {}
  Wrong declare(PictureSize* size) {
    Bytes frame;
    if (const Wrong wrong = find_vp8(file_, &frame)) return wrong;
    vp8_ = Vp8(frame);
    return vp8_.declare(size);
  }
  Wrong decode(const Canvas& canvas, Room room) { return vp8_.decode(canvas, room); }

 private:
  Bytes file_;
  Vp8 vp8_;
};

}  // namespace
}  // namespace rt
