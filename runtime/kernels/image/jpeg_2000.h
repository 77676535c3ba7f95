// JPEG 2000 (ISO 15444-1), its reversible part: the 5/3 transform of grays or colors of 8 bits, in tiles, layers,
// precincts and any order of packets; alone or in a JP2 file.
#pragma once
#include "runtime/kernels/image/mq_decoder.h"

namespace rt {
namespace {

inline i64 shifted_up(i64 value, int shift) { return (value + (i64{1} << shift) - 1) >> shift; }

/// The bits of packet headers: behind a byte of ones there is one bit less.
class HeaderBits {
 public:
  HeaderBits(Bytes data, i64 at) : data_(data), at_(at) {}
  bool is_behind() const { return at_ > data_.size(); }
  int next() {
    if (left_ == 0) {
      left_ = byte_ == 0xff ? 7 : 8;
      byte_ = data_[at_++];
    }
    return byte_ >> --left_ & 1;
  }
  int number(int bits) {
    int value = 0;
    for (int i = 0; i < bits; ++i) value = value << 1 | next();
    return value;
  }
  i64 end() const { return at_ + (byte_ == 0xff ? 1 : 0); }

 private:
  Bytes data_;
  i64 at_;
  int byte_ = 0, left_ = 0;
};

struct TagNode {
  i32 value;  // which is at least this
  bool is_known;
};

/// A tree of numbers, each at least that of its parent; the leaves stand in rows.
class TagTree {
 public:
  TagTree(TagNode* nodes, i64 across, i64 down) : nodes_(nodes), across_(across), down_(down) {}
  static i64 count_of(i64 across, i64 down) {
    i64 count = across * down;
    for (; across * down > 1; count += across * down) across = (across + 1) / 2, down = (down + 1) / 2;
    return count;
  }
  /// Whether a leaf's number is below the limit, which as many bits as are needed say.
  bool is_below(HeaderBits& bits, i64 y, i64 x, int limit) {
    int levels = 0;
    for (i64 across = across_, down = down_; across * down > 1; ++levels)
      across = (across + 1) / 2, down = (down + 1) / 2;
    const TagNode* node = nullptr;
    for (int level = levels; level >= 0; --level) {
      TagNode& here = at(level, y >> level, x >> level);
      if (node && here.value < node->value) here.value = node->value;
      while (!here.is_known && here.value < limit) {
        if (bits.next())
          here.is_known = true;
        else
          ++here.value;
      }
      node = &here;
    }
    return node->is_known && node->value < limit;
  }

 private:
  TagNode& at(int level, i64 y, i64 x) const {
    i64 first = 0, across = across_, down = down_;
    for (int i = 0; i < level; ++i) {
      first += across * down;
      across = (across + 1) / 2, down = (down + 1) / 2;
    }
    return nodes_[first + y * across + x];
  }

  TagNode* nodes_;
  i64 across_, down_;
};

class Jpeg2000 {
 public:
  explicit Jpeg2000(Bytes file) : file_(file) {}

  Wrong declare(PictureSize* size) {
    if (const Wrong wrong = find_stream()) return wrong;
    if (const Wrong wrong = read_header()) return wrong;
    size->height = whole_.bottom - whole_.top, size->width = whole_.right - whole_.left;
    if (const Wrong wrong = count_parts()) return wrong;
    if (const Wrong wrong = count_pieces()) return wrong;
    size->add_room<TilePart>(part_count_);
    size->add_room<i32>(2 * tile_count());
    size->add_room<i32>(most_.points * count_);
    size->add_room<i32>(most_.side);
    size->add_room<Group>(most_.groups);
    size->add_room<Block>(most_.blocks);
    size->add_room<TagNode>(most_.nodes);
    size->add_room<Piece>(piece_room());
    size->add_room<u8>(2 * stream_.size());
    size->add_room<CodeBlock>(1);
    return nullptr;
  }

  Wrong decode(const Canvas& canvas, Room room) {
    tile_parts_ = room.take<TilePart>(part_count_);
    part_ends_ = room.take<i32>(2 * tile_count());
    points_ = room.take<i32>(most_.points * count_);
    line_ = room.take<i32>(most_.side);
    groups_ = room.take<Group>(most_.groups);
    blocks_ = room.take<Block>(most_.blocks);
    nodes_ = room.take<TagNode>(most_.nodes);
    pieces_ = room.take<Piece>(piece_room());
    packed_ = room.take<u8>(2 * stream_.size());
    coder_ = room.take<CodeBlock>(1);
    if (!tile_parts_ || !part_ends_ || !points_ || !line_ || !groups_ || !blocks_ || !nodes_ || !pieces_ || !packed_ ||
        !coder_)
      return kNoRoomForPicture;
    list_parts();
    for (i64 number = 0; number < tile_count(); ++number) {
      if (const Wrong wrong = decode_tile(number)) return wrong;
      draw(canvas);
    }
    return nullptr;
  }

 private:
  static constexpr Wrong kDamaged = "the data of the JPEG 2000 is damaged";
  static constexpr int kMostLevels = 32, kMostParts = 4;
  enum : i64 {
    kStart = 0xff4f,
    kSize = 0xff51,
    kCoding = 0xff52,
    kCodingOfPart = 0xff53,
    kSteps = 0xff5c,
    kStepsOfPart = 0xff5d,
    kRegion = 0xff5e,
    kOrders = 0xff5f,
    kHeaders = 0xff60,
    kHeadersOfTile = 0xff61,
    kTilePart = 0xff90,
    kPacket = 0xff91,
    kPacketHeaderEnd = 0xff92,
    kData = 0xff93,
    kEnd = 0xffd9
  };

  struct Rect {
    i64 top = 0, left = 0, bottom = 0, right = 0;
    i64 height() const { return bottom > top ? bottom - top : 0; }
    i64 width() const { return right > left ? right - left : 0; }
    Rect and_in(const Rect& other) const {
      return {top > other.top ? top : other.top, left > other.left ? left : other.left, at_most(bottom, other.bottom),
              at_most(right, other.right)};
    }
  };
  struct TilePart {
    i64 at, bytes;
    i32 next;  // of its tile, plus one
  };
  struct Group {  // the code-blocks of a band in a precinct
    i64 block, node;
    i64 down, across;
  };
  struct Block {
    Rect in;                // its band
    i32 piece, last_piece;  // plus one
    i32 bytes, passes;
    i32 new_bytes;  // of the packet that is read
    u8 zero_planes, length_bits;
    bool is_included, is_in_packet;
  };
  struct Piece {  // of a block's data
    i64 at;
    i32 bytes, next;  // plus one
  };
  struct Counts {
    i64 points = 0, side = 0, groups = 0, blocks = 0, nodes = 0, packets = 0;
  };

  // ---- the file ----
  Wrong find_stream() {
    stream_ = file_;
    if (file_.big(0, 2) == kStart) return nullptr;
    for (i64 at = 0; file_.has(at, 8);) {
      i64 length = file_.big(at, 4), header = 8;
      if (length == 1) length = file_.has(at, 16) && !file_.big(at + 8, 4) ? file_.big(at + 12, 4) : 0, header = 16;
      if (length == 0) length = file_.size() - at;
      if (length < header) return kDamaged;
      const Bytes box = file_.from(at + 4), held = file_.part(at + header, length - header);
      if (box.begin_with("jp2c")) return stream_ = held, nullptr;
      if (!file_.has(at, length)) return kTruncatedPicture;
      if (box.begin_with("jp2h"))
        if (const Wrong wrong = check_colors(held)) return wrong;
      at += length;
    }
    return kTruncatedPicture;
  }
  static Wrong check_colors(Bytes boxes) {
    constexpr i64 kLumaAndColors = 18;
    for (i64 at = 0; boxes.has(at, 8);) {
      const i64 length = boxes.big(at, 4);
      const Bytes box = boxes.from(at + 4);
      const bool is_other = box.begin_with("colr") && boxes[at + 8] == 1 && boxes.big(at + 11, 4) == kLumaAndColors;
      if (box.begin_with("pclr") || is_other)
        return "the data is a JPEG 2000 of a palette, or of luma and color differences, which is not decoded";
      if (length < 8) return kDamaged;
      at += length;
    }
    return nullptr;
  }

  Wrong read_header() {
    if (stream_.big(0, 2) != kStart) return kDamaged;
    for (first_part_ = 2;;) {
      const i64 marker = stream_.big(first_part_, 2), length = stream_.big(first_part_ + 2, 2);
      if (!stream_.has(first_part_, 2 + length)) return kTruncatedPicture;
      if (marker < 0xff00 || length < 2) return kDamaged;
      if (marker == kTilePart) break;
      const Bytes held = stream_.part(first_part_ + 4, length - 2);
      if (const Wrong wrong = read_segment(marker, held)) return wrong;
      first_part_ += 2 + length;
    }
    if (!count_ || !has_coding_ || !has_steps_) return kDamaged;
    return nullptr;
  }
  Wrong read_segment(i64 marker, Bytes held) {
    switch (marker) {
      case kSize: return read_size(held);
      case kCoding: return read_coding(held);
      case kSteps: return read_steps(held);
      case kCodingOfPart:
      case kStepsOfPart:
      case kRegion:
      case kOrders:
      case kHeaders:
      case kHeadersOfTile:
        return "the data is a JPEG 2000 with components, orders of packets or headers of their own, which is not "
               "decoded";
      default: return nullptr;
    }
  }
  Wrong read_size(Bytes held) {
    const auto number = [&](i64 i) { return held.big(2 + 4 * i, 4); };
    whole_ = {number(3), number(2), number(1), number(0)};
    tiles_ = {number(7), number(6), number(7) + number(5), number(6) + number(4)};  // the first one
    count_ = static_cast<int>(held.big(34, 2));
    if (!held.has(36, 3 * count_)) return kTruncatedPicture;
    if (!whole_.height() || !whole_.width() || !tiles_.height() || !tiles_.width() || tiles_.top > whole_.top ||
        tiles_.left > whole_.left || tiles_.bottom <= whole_.top || tiles_.right <= whole_.left)
      return kDamaged;
    if (whole_.right > 1 << 24 || whole_.bottom > 1 << 24) return "the data is a JPEG 2000 of too large a size";
    if (count_ < 1 || count_ > kMostParts) return "the data is a JPEG 2000 of more than four components";
    for (int c = 0; c < count_; ++c)
      if (held[36 + 3 * c] != 7 || held[37 + 3 * c] != 1 || held[38 + 3 * c] != 1)
        return "the data is a JPEG 2000 whose components are not of 8 bits and of the picture's size, which is not "
               "decoded";
    return nullptr;
  }
  Wrong read_coding(Bytes held) {
    order_ = held[1], layers_ = static_cast<int>(held.big(2, 2)), mixes_ = held[4];
    levels_ = held[5], block_width_ = held[6] + 2, block_height_ = held[7] + 2, style_ = held[8];
    constexpr int kKnownStyles = CodeBlock::kResets | CodeBlock::kCausal | 16 | CodeBlock::kMarks;
    if (!held.has(0, 10)) return kTruncatedPicture;
    if (held[9] != 1) return "the data is an irreversible JPEG 2000, which is not decoded";
    if (style_ & ~kKnownStyles)
      return "the data is a JPEG 2000 with raw or many ends of code-blocks, which is not decoded";
    if (order_ > 4 || layers_ < 1 || levels_ > kMostLevels || block_width_ > 10 || block_height_ > 10 ||
        block_width_ + block_height_ > 12 || mixes_ > 1 || (mixes_ && count_ < 3))
      return kDamaged;
    for (int r = 0; r <= levels_; ++r) {
      const int sizes = held[0] & 1 ? held[10 + r] : 0xff;
      precinct_width_[r] = sizes & 15, precinct_height_[r] = sizes >> 4;
      if (r && (!precinct_width_[r] || !precinct_height_[r])) return kDamaged;
    }
    if (held[0] & 1 && !held.has(10, levels_ + 1)) return kTruncatedPicture;
    has_coding_ = true;
    return nullptr;
  }
  Wrong read_steps(Bytes held) {
    if (held[0] & 31) return "the data is a quantised JPEG 2000, which is not decoded";
    for (i64 band = 0; band + 1 < held.size() && band <= 3 * kMostLevels; ++band)
      planes_[band] = (held[0] >> 5) + (held[band + 1] >> 3) - 1;
    has_steps_ = true;
    return nullptr;
  }

  // ---- tiles and their parts ----
  i64 tiles_across() const { return round_up_div(whole_.right - tiles_.left, tiles_.width()); }
  i64 tile_count() const { return tiles_across() * round_up_div(whole_.bottom - tiles_.top, tiles_.height()); }
  Rect tile_at(i64 number) const {
    const i64 top = tiles_.top + number / tiles_across() * tiles_.height();
    const i64 left = tiles_.left + number % tiles_across() * tiles_.width();
    return Rect{top, left, top + tiles_.height(), left + tiles_.width()}.and_in(whole_);
  }
  /// Calls f(tile, offset of the data, bytes) for each part of a tile.
  template <class F>
  Wrong for_tile_parts(const F& f) const {
    for (i64 at = first_part_; stream_.big(at, 2) != kEnd;) {
      if (!stream_.has(at, 12)) return kTruncatedPicture;
      if (stream_.big(at, 2) != kTilePart) return kDamaged;
      const i64 tile = stream_.big(at + 4, 2), said = stream_.big(at + 6, 4);
      const i64 end = said ? at + said : stream_.size() - 2;
      if (!stream_.has(at, end - at)) return kTruncatedPicture;
      at += 12;
      while (stream_.big(at, 2) != kData) {
        const i64 marker = stream_.big(at, 2), length = stream_.big(at + 2, 2);
        if (marker == kCoding || marker == kSteps || marker == kHeadersOfTile || marker == kOrders ||
            marker == kCodingOfPart || marker == kStepsOfPart || marker == kRegion)
          return "the data is a JPEG 2000 whose tiles are coded each in a way of its own, which is not decoded";
        if (marker < 0xff00 || length < 2 || at + 2 + length > end) return kDamaged;
        at += 2 + length;
      }
      at += 2;
      if (tile >= tile_count() || at > end) return kDamaged;
      f(tile, at, end - at);
      at = end;
    }
    return nullptr;
  }
  Wrong count_parts() {
    return for_tile_parts([&](i64, i64, i64) { ++part_count_; });
  }
  void list_parts() {
    i32 number = 0;
    for_tile_parts([&](i64 tile, i64 at, i64 bytes) {
      tile_parts_[number++] = {at, bytes, 0};
      i32 &first = part_ends_[2 * tile], &last = part_ends_[2 * tile + 1];
      (last ? tile_parts_[last - 1].next : first) = number;
      last = number;
    });
  }

  // ---- resolutions, precincts, bands ----
  static Rect scaled(const Rect& of, int shift) {
    return {shifted_up(of.top, shift), shifted_up(of.left, shift), shifted_up(of.bottom, shift),
            shifted_up(of.right, shift)};
  }
  Rect resolution_at(const Rect& tile, int r) const { return scaled(tile, levels_ - r); }
  static int bands_of(int r) { return r ? 3 : 1; }
  static CodeBlock::Band band_at(int r, int b) { return static_cast<CodeBlock::Band>(r ? b + 1 : 0); }
  Rect band_rect(const Rect& tile, int r, int b) const {
    if (r == 0) return scaled(tile, levels_);
    const int shift = levels_ - r + 1;
    const i64 right = (b + 1) & 1 ? i64{1} << (shift - 1) : 0, down = (b + 1) & 2 ? i64{1} << (shift - 1) : 0;
    return scaled({tile.top - down, tile.left - right, tile.bottom - down, tile.right - right}, shift);
  }
  /// Of a resolution, by their numbers in rows and columns.
  Rect precincts_of(const Rect& tile, int r) const {
    const Rect all = resolution_at(tile, r);
    if (!all.height() || !all.width()) return {};
    return {all.top >> precinct_height_[r], all.left >> precinct_width_[r], shifted_up(all.bottom, precinct_height_[r]),
            shifted_up(all.right, precinct_width_[r])};
  }
  i64 precinct_count(const Rect& tile, int r) const {
    const Rect precincts = precincts_of(tile, r);
    return precincts.height() * precincts.width();
  }
  int width_of_blocks(int r) const { return at_most(block_width_, precinct_width_[r] - (r ? 1 : 0)); }
  int height_of_blocks(int r) const { return at_most(block_height_, precinct_height_[r] - (r ? 1 : 0)); }
  Rect group_rect(const Rect& tile, int r, int b, i64 precinct) const {
    const Rect precincts = precincts_of(tile, r);
    const i64 row = precincts.top + precinct / precincts.width(),
              column = precincts.left + precinct % precincts.width();
    const int down = precinct_height_[r] - (r ? 1 : 0), across = precinct_width_[r] - (r ? 1 : 0);
    return Rect{row << down, column << across, (row + 1) << down, (column + 1) << across}.and_in(band_rect(tile, r, b));
  }
  /// The code-blocks of a group, by their numbers in rows and columns.
  Rect blocks_in(const Rect& group, int r) const {
    if (!group.height() || !group.width()) return {};
    return {group.top >> height_of_blocks(r), group.left >> width_of_blocks(r),
            shifted_up(group.bottom, height_of_blocks(r)), shifted_up(group.right, width_of_blocks(r))};
  }
  /// Calls f(r, the blocks' numbers, the group) for each group of a component, in the order of their numbers.
  template <class F>
  void for_groups(const Rect& tile, const F& f) const {
    for (int r = 0; r <= levels_; ++r)
      for (i64 precinct = 0, count = precinct_count(tile, r); precinct < count; ++precinct)
        for (int b = 0; b < bands_of(r); ++b) {
          const Rect group = group_rect(tile, r, b, precinct);
          f(r, blocks_in(group, r), group);
        }
  }
  i64 first_group(const Rect& tile, int component, int resolution) const {
    i64 before = 0, all = 0;
    for (int r = 0; r <= levels_; ++r) {
      if (r == resolution) before = all;
      all += precinct_count(tile, r) * bands_of(r);
    }
    return component * all + before;
  }

  /// What a tile needs at most. A packet has a byte at least, so that there are no more of them than bytes.
  Wrong count_pieces() {
    i64 packets = 0;
    if (tile_count() > stream_.size()) return kTruncatedPicture;
    for (i64 number = 0; number < tile_count(); ++number) {
      const Rect tile = tile_at(number);
      for (int r = 0; r <= levels_; ++r)  // no more precincts than the products have room for
        packets += at_most(precinct_count(tile, r), stream_.size() + 1) * count_ * layers_;
      if (packets > stream_.size()) return kTruncatedPicture;
      Counts counts;
      for_groups(tile, [&](int, const Rect& blocks, const Rect&) {
        ++counts.groups;
        counts.blocks += blocks.height() * blocks.width();
        counts.nodes += 2 * TagTree::count_of(blocks.width(), blocks.height());
      });
      const auto raise = [](i64& most, i64 value) { most = value > most ? value : most; };
      raise(most_.points, tile.height() * tile.width());
      raise(most_.side, tile.height()), raise(most_.side, tile.width());
      raise(most_.groups, counts.groups * count_);
      raise(most_.blocks, counts.blocks * count_);
      raise(most_.nodes, counts.nodes * count_);
    }
    return nullptr;
  }
  i64 piece_room() const { return at_most(most_.blocks * layers_, stream_.size()); }

  // ---- a tile ----
  Wrong decode_tile(i64 number) {
    tile_ = tile_at(number);
    i64 bytes = 0;
    for (i32 part = part_ends_[2 * number]; part; part = tile_parts_[part - 1].next)
      for (i64 i = 0; i < tile_parts_[part - 1].bytes; ++i) packed_[bytes++] = stream_[tile_parts_[part - 1].at + i];
    data_ = {packed_, bytes};
    lay_out();
    if (!read_packets()) return at_ > data_.size() ? kTruncatedPicture : kDamaged;
    for (int c = 0; c < at_most(count_, 3); ++c) {
      if (!decode_blocks(c)) return kDamaged;
      for (int r = 1; r <= levels_; ++r) transform(points_ + c * most_.points, r);
    }
    return nullptr;
  }
  void lay_out() {
    i64 group_count = 0, block_count = 0, node_count = 0;
    for (int c = 0; c < count_; ++c)
      for_groups(tile_, [&](int r, const Rect& blocks, const Rect& group) {
        groups_[group_count++] = {block_count, node_count, blocks.height(), blocks.width()};
        for (i64 y = blocks.top; y < blocks.bottom; ++y)
          for (i64 x = blocks.left; x < blocks.right; ++x) {
            const int down = height_of_blocks(r), across = width_of_blocks(r);
            Block& block = blocks_[block_count++] = {};
            block.in = Rect{y << down, x << across, (y + 1) << down, (x + 1) << across}.and_in(group);
            block.length_bits = 3;
          }
        const i64 end = node_count + 2 * TagTree::count_of(blocks.width(), blocks.height());
        for (; node_count < end; ++node_count) nodes_[node_count] = {};
      });
    piece_count_ = 0;
  }

  // ---- packets ----
  bool read_packets() {
    at_ = 0;
    const auto layers = [&](int r, int c, i64 precinct) {
      for (int l = 0; l < layers_; ++l)
        if (!read_packet(l, r, c, precinct)) return false;
      return true;
    };
    const auto precincts = [&](int l, int r) {
      for (int c = 0; c < count_; ++c)
        for (i64 p = 0; p < precinct_count(tile_, r); ++p)
          if (!read_packet(l, r, c, p)) return false;
      return true;
    };
    switch (order_) {
      case 0:
        for (int i = 0; i < layers_ * (levels_ + 1); ++i)
          if (!precincts(i / (levels_ + 1), i % (levels_ + 1))) return false;
        return true;
      case 1:
        for (int i = 0; i < layers_ * (levels_ + 1); ++i)
          if (!precincts(i % layers_, i / layers_)) return false;
        return true;
      case 2:
        for (int r = 0; r <= levels_; ++r)
          for (i64 i = 0; i < precinct_count(tile_, r) * count_; ++i)
            if (!layers(r, static_cast<int>(i % count_), i / count_)) return false;
        return true;
      default:
        for (int c = 0; c < (order_ == 4 ? count_ : 1); ++c)
          if (!for_places([&](int of, int r, i64 p) { return (order_ == 4 && of != c) || layers(r, of, p); }))
            return false;
        return true;
    }
  }
  /// Calls f(component, resolution, precinct) by where precincts begin in the tile.
  template <class F>
  bool for_places(const F& f) const {
    int down = 62, across = 62;
    for (int r = 0; r <= levels_; ++r) {
      down = at_most(down, precinct_height_[r] + levels_ - r);
      across = at_most(across, precinct_width_[r] + levels_ - r);
    }
    for (i64 y = tile_.top; y < tile_.bottom; y = ((y >> down) + 1) << down)
      for (i64 x = tile_.left; x < tile_.right; x = ((x >> across) + 1) << across)
        for (int c = 0; c < count_; ++c)
          for (int r = 0; r <= levels_; ++r) {
            const i64 precinct = precinct_at(r, y, x);
            if (precinct >= 0 && !f(c, r, precinct)) return false;
          }
    return true;
  }
  i64 precinct_at(int r, i64 y, i64 x) const {
    const Rect precincts = precincts_of(tile_, r), resolution = resolution_at(tile_, r);
    if (!precincts.height()) return -1;
    const int shift = levels_ - r;
    const auto begins = [&](i64 at, i64 tile_begin, i64 begin, int size) {
      if (at % (i64{1} << (size + shift)) == 0) return true;
      return at == tile_begin && (begin << shift) % (i64{1} << (size + shift)) != 0;
    };
    if (!begins(y, tile_.top, resolution.top, precinct_height_[r]) ||
        !begins(x, tile_.left, resolution.left, precinct_width_[r]))
      return -1;
    const i64 row = shifted_up(y, shift) >> precinct_height_[r], column = shifted_up(x, shift) >> precinct_width_[r];
    if (row >= precincts.bottom || column >= precincts.right) return -1;
    return (row - precincts.top) * precincts.width() + column - precincts.left;
  }

  bool read_packet(int layer, int r, int c, i64 precinct) {
    if (data_.big(at_, 2) == kPacket) at_ += 6;
    const Group* groups = groups_ + first_group(tile_, c, r) + precinct * bands_of(r);
    HeaderBits bits(data_, at_);
    const bool has_blocks = bits.next();
    for (int b = 0; b < bands_of(r); ++b)
      for (i64 i = 0; i < groups[b].down * groups[b].across; ++i)
        if (!read_block_header(bits, layer, groups[b], i, has_blocks)) return false;
    at_ = bits.end();
    if (bits.is_behind()) return at_ = data_.size() + 1, false;
    if (data_.big(at_, 2) == kPacketHeaderEnd) at_ += 2;
    for (int b = 0; has_blocks && b < bands_of(r); ++b)
      for (i64 i = 0; i < groups[b].down * groups[b].across; ++i)
        if (!take_data(blocks_[groups[b].block + i])) return false;
    return true;
  }
  bool read_block_header(HeaderBits& bits, int layer, const Group& group, i64 i, bool has_blocks) {
    Block& block = blocks_[group.block + i];
    const i64 y = i / group.across, x = i % group.across;
    TagNode* const nodes = nodes_ + group.node;
    block.is_in_packet = false;
    if (!has_blocks) return true;
    if (block.is_included) {
      if (!bits.next()) return true;
    } else {
      if (!TagTree(nodes, group.across, group.down).is_below(bits, y, x, layer + 1)) return true;
      TagTree zeros(nodes + TagTree::count_of(group.across, group.down), group.across, group.down);
      int planes = 0;
      while (!zeros.is_below(bits, y, x, planes + 1))
        if (++planes > 64 || bits.is_behind()) return false;
      block.zero_planes = static_cast<u8>(planes);
      block.is_included = true;
    }
    block.is_in_packet = true;
    const int passes = read_passes(bits);
    for (; bits.next(); ++block.length_bits)
      if (block.length_bits > 24 || bits.is_behind()) return false;
    int more = 0;
    while (passes >> (more + 1)) ++more;
    block.passes += passes;
    block.new_bytes = bits.number(block.length_bits + more);
    return true;
  }
  static int read_passes(HeaderBits& bits) {
    if (!bits.next()) return 1;
    if (!bits.next()) return 2;
    int more = bits.number(2);
    if (more < 3) return 3 + more;
    more = bits.number(5);
    return more < 31 ? 6 + more : 37 + bits.number(7);
  }
  bool take_data(Block& block) {
    if (!block.is_in_packet || !block.new_bytes) return true;
    if (!data_.has(at_, block.new_bytes)) return at_ = data_.size() + 1, false;
    if (piece_count_ == piece_room()) return false;
    pieces_[piece_count_++] = {at_, block.new_bytes, 0};
    const i32 number = static_cast<i32>(piece_count_);
    (block.last_piece ? pieces_[block.last_piece - 1].next : block.piece) = number;
    block.last_piece = number;
    block.bytes += block.new_bytes;
    at_ += block.new_bytes;
    return true;
  }

  // ---- coefficients and pixels ----
  /// Each resolution's low band stands at the top left, the others beside it and below.
  bool decode_blocks(int c) {
    constexpr int kMostPlanes = 29;
    i32* const points = points_ + c * most_.points;
    for (i64 i = 0; i < most_.points; ++i) points[i] = 0;
    i64 number = first_group(tile_, c, 0);
    for (int r = 0; r <= levels_; ++r)
      for (i64 i = 0, count = precinct_count(tile_, r) * bands_of(r); i < count; ++i, ++number) {
        const int b = static_cast<int>(i % bands_of(r));
        const CodeBlock::Band band = band_at(r, b);
        const Rect of = band_rect(tile_, r, b), low = r ? resolution_at(tile_, r - 1) : Rect();
        const i64 down = (band & 2 ? low.height() : 0) - of.top, right = (band & 1 ? low.width() : 0) - of.left;
        for (i64 k = 0; k < groups_[number].down * groups_[number].across; ++k) {
          const Block& block = blocks_[groups_[number].block + k];
          const int planes = planes_[r ? 3 * r - 2 + b : 0] - block.zero_planes;
          if (!block.passes) continue;
          if (planes < 0 || planes > kMostPlanes) return false;
          if (!coder_->decode(gathered(block), block.in.width(), block.in.height(), band, style_, planes, block.passes))
            return false;
          for (i64 y = block.in.top; y < block.in.bottom; ++y)
            for (i64 x = block.in.left; x < block.in.right; ++x)
              points[(y + down) * tile_.width() + x + right] = coder_->at(y - block.in.top, x - block.in.left);
        }
      }
    return true;
  }
  Bytes gathered(const Block& block) const {
    u8* const to = packed_ + stream_.size();
    i64 bytes = 0;
    for (i32 piece = block.piece; piece; piece = pieces_[piece - 1].next)
      for (i64 i = 0; i < pieces_[piece - 1].bytes; ++i) to[bytes++] = data_[pieces_[piece - 1].at + i];
    return {to, bytes};
  }

  void transform(i32* points, int r) const {
    const Rect all = resolution_at(tile_, r), low = resolution_at(tile_, r - 1);
    for (i64 y = 0; y < all.height(); ++y)
      transform_line(points + y * tile_.width(), 1, all.width(), low.width(), all.left % 2);
    for (i64 x = 0; x < all.width(); ++x)
      transform_line(points + x, tile_.width(), all.height(), low.height(), all.top % 2);
  }
  /// From the means in front and the differences behind them; the first point is a mean where it is even.
  void transform_line(i32* at, i64 stride, i64 count, i64 means, i64 is_odd) const {
    if (count == 1) {
      if (is_odd) *at /= 2;
      return;
    }
    for (i64 i = 0; i < means; ++i) line_[2 * i + is_odd] = at[i * stride];
    for (i64 i = means; i < count; ++i) line_[2 * (i - means) + 1 - is_odd] = at[i * stride];
    const auto beside = [&](i64 i) { return i64{line_[i ? i - 1 : 1]} + line_[i + 1 < count ? i + 1 : count - 2]; };
    for (i64 i = is_odd; i < count; i += 2) line_[i] = static_cast<i32>(line_[i] - ((beside(i) + 2) >> 2));
    for (i64 i = 1 - is_odd; i < count; i += 2) line_[i] = static_cast<i32>(line_[i] + (beside(i) >> 1));
    for (i64 i = 0; i < count; ++i) at[i * stride] = line_[i];
  }

  void draw(const Canvas& canvas) const {
    for (i64 y = 0; y < tile_.height(); ++y)
      for (i64 x = 0; x < tile_.width(); ++x) {
        const auto part = [&](int c) { return i64{points_[c * most_.points + y * tile_.width() + x]}; };
        const i64 at_y = y + tile_.top - whole_.top, at_x = x + tile_.left - whole_.left;
        const auto pixel = [](i64 value) { return to_byte(value + 128); };
        if (count_ < 3) {
          canvas.set(at_y, at_x, pixel(part(0)));
        } else if (mixes_) {
          const i64 green = part(0) - ((part(1) + part(2)) >> 2);
          canvas.set(at_y, at_x, pixel(part(2) + green), pixel(green), pixel(part(1) + green));
        } else {
          canvas.set(at_y, at_x, pixel(part(0)), pixel(part(1)), pixel(part(2)));
        }
      }
  }

  Bytes file_, stream_;
  i64 first_part_ = 0, part_count_ = 0;
  Rect whole_, tiles_, tile_;
  int count_ = 0, order_ = 0, layers_ = 0, mixes_ = 0, levels_ = 0;
  int block_width_ = 0, block_height_ = 0, style_ = 0;  // of code-blocks; logarithms, as are the next ones
  int precinct_width_[kMostLevels + 1] = {}, precinct_height_[kMostLevels + 1] = {};
  int planes_[3 * kMostLevels + 1] = {};  // of bits, a band
  bool has_coding_ = false, has_steps_ = false;
  Counts most_;

  TilePart* tile_parts_ = nullptr;
  i32* part_ends_ = nullptr;  // first and last of each tile, plus one
  i32 *points_ = nullptr, *line_ = nullptr;
  Group* groups_ = nullptr;
  Block* blocks_ = nullptr;
  TagNode* nodes_ = nullptr;
  Piece* pieces_ = nullptr;
  u8* packed_ = nullptr;  // the tile's data, then a block's
  CodeBlock* coder_ = nullptr;
  Bytes data_;
  i64 at_ = 0, piece_count_ = 0;
};

}  // namespace
}  // namespace rt
