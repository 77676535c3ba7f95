// Code points of texts in UTF-8.
#pragma once
#include "runtime/call.h"
#include "runtime/rt/types.h"

namespace rt {

struct CodePoint {
  i32 value;  // -1: the byte is none's
  i32 bytes;
};

RT_FN CodePoint code_point_at(Text text, i64 at) {
  const auto byte = [&](i64 i) { return at + i < text.bytes ? static_cast<u8>(text.data[at + i]) : u8(0); };
  const u8 first = byte(0);
  if (first < 0x80) return {first, 1};
  const i32 bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4) return {-1, 1};
  u32 value = first & (0xffu >> (bytes + 1));
  for (i32 i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {-1, 1};
    value = value << 6 | (byte(i) & 0x3fu);
  }
  const bool is_short = value < (bytes == 4 ? 0x10000u : bytes == 3 ? 0x800u : 0x80u);
  if (is_short || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return {-1, 1};
  return {static_cast<i32>(value), bytes};
}

RT_FN char* put_code_point(char* to, u32 c) {
  const i32 bytes = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  for (i32 i = bytes - 1; i > 0; --i, c >>= 6) to[i] = static_cast<char>(0x80 | (c & 0x3f));
  to[0] = static_cast<char>(bytes == 1 ? c : (0xf00u >> bytes & 0xffu) | c);
  return to + bytes;
}

}  // namespace rt
