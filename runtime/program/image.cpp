// Resizing, and PNG files with stored (not compressed) data.
#include "runtime/program/image.h"

namespace rt::program {
namespace {

struct Taps {  // what one output pixel reads
  int32_t first, count;
  float* weights;
};

Taps taps_of(Tool& tool, int32_t i, int32_t from, int32_t to) {
  const float scale = static_cast<float>(from) / static_cast<float>(to), reach = scale > 1 ? scale : 1;
  const float center = (static_cast<float>(i) + 0.5f) * scale;
  int32_t first = static_cast<int32_t>(center - reach + 0.5f), last = static_cast<int32_t>(center + reach + 0.5f);
  first = first < 0 ? 0 : first;
  last = last > from ? from : last;
  Taps taps = {first, last - first, tool.arena.array<float>(static_cast<uint64_t>(last - first))};
  float sum = 0;
  for (int32_t k = 0; k < taps.count; ++k) {
    const float gap = __builtin_fabsf(static_cast<float>(first + k) + 0.5f - center) / reach;
    sum += taps.weights[k] = gap < 1 ? 1 - gap : 0;
  }
  for (int32_t k = 0; k < taps.count; ++k) taps.weights[k] /= sum;
  return taps;
}

// Resizes the middle axis of [outer, from, inner].
template <class T>
float* resize_axis(Tool& tool, const T* in, int64_t outer, int32_t from, int32_t to, int64_t inner) {
  float* out = tool.arena.array<float>(static_cast<uint64_t>(outer * to * inner));
  for (int32_t i = 0; i < to; ++i) {
    const Taps taps = taps_of(tool, i, from, to);
    for (int64_t o = 0; o < outer; ++o)
      for (int32_t k = 0; k < taps.count; ++k)
        for (int64_t j = 0; j < inner; ++j)
          out[(o * to + i) * inner + j] +=
              taps.weights[k] * static_cast<float>(in[(o * from + taps.first + k) * inner + j]);
  }
  return out;
}

void put_big(Text* to, uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) to->add(static_cast<char>(value >> shift));
}

void put_chunk(Tool& tool, Slice type, Slice data, Text* to) {
  Text body(tool.arena);
  body.add(type);
  body.add(data);
  put_big(to, static_cast<uint32_t>(data.size));
  to->add(body.slice());
  put_big(to, crc32(body.slice()));
}

uint32_t adler32(Slice bytes) {
  uint32_t a = 1, b = 0;
  for (size_t i = 0; i < bytes.size; ++i) {
    a = (a + static_cast<unsigned char>(bytes[i])) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

void put_zlib(Slice bytes, Text* to) {
  to->add(Slice("\x78\x01", 2));
  for (size_t at = 0; at < bytes.size || at == 0;) {
    const size_t length = bytes.size - at < 65535 ? bytes.size - at : 65535;
    const char header[] = {static_cast<char>(at + length == bytes.size), static_cast<char>(length & 255),
                           static_cast<char>(length >> 8), static_cast<char>(~length & 255),
                           static_cast<char>(~length >> 8 & 255)};
    to->add(Slice(header, 5));
    to->add(bytes.part(at, at + length));
    at += length;
    if (length == 0) break;
  }
  put_big(to, adler32(bytes));
}

}  // namespace

bool is_picture(Slice path) {
  const char* const endings[] = {".png", ".jpg", ".jpeg", ".ppm", ".pgm", ".PNG", ".JPG", ".JPEG", ".PPM", ".PGM"};
  for (const char* ending : endings)
    if (path.ends_with(ending)) return true;
  return false;
}

float* resize(Tool& tool, const Picture& from, int32_t to_width, int32_t to_height) {
  const float* wide = resize_axis(tool, from.pixels, from.height, from.width, to_width, from.channels);
  return resize_axis(tool, wide, 1, from.height, to_height, int64_t{to_width} * from.channels);
}

void write_png(Tool& tool, const Picture& picture, Text* to) {
  Text head(tool.arena), rows(tool.arena), packed(tool.arena);
  put_big(&head, static_cast<uint32_t>(picture.width));
  put_big(&head, static_cast<uint32_t>(picture.height));
  const char colour[] = {0, 0, 2, 6};  // by channels, less one: gray, -, RGB, RGBA
  const char rest[] = {8, colour[picture.channels - 1], 0, 0, 0};
  head.add(Slice(rest, 5));
  const size_t row = static_cast<size_t>(picture.width) * static_cast<size_t>(picture.channels);
  for (int32_t y = 0; y < picture.height; ++y) {
    rows.add('\0');  // no filter
    rows.add(Slice(reinterpret_cast<const char*>(picture.pixels) + static_cast<size_t>(y) * row, row));
  }
  put_zlib(rows.slice(), &packed);
  to->add(Slice("\x89PNG\r\n\x1a\n", 8));
  put_chunk(tool, "IHDR", head.slice(), to);
  put_chunk(tool, "IDAT", packed.slice(), to);
  put_chunk(tool, "IEND", "", to);
}

}  // namespace rt::program
