// Names, paths and other bytes of a user on their way to a terminal. A name may hold anything; what is printed of it
// may not move a cursor, change a colour or break a line.
#pragma once

#include "runtime/call.h"

namespace rt {

// The length of the UTF-8 sequence at the front of `text`, or 0.
constexpr size_t utf8_length(const char* text, size_t size) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const size_t length = lead < 0x80                   ? 1
                        : lead >= 0xc2 && lead < 0xe0 ? 2
                        : lead >= 0xe0 && lead < 0xf0 ? 3
                        : lead >= 0xf0 && lead < 0xf5 ? 4
                                                      : 0;
  if (length == 0 || length > size) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  if ((lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xed && byte(1) >= 0xa0)) return 0;
  if ((lead == 0xf0 && byte(1) < 0x90) || (lead == 0xf4 && byte(1) >= 0x90)) return 0;
  return length;
}

// The same for a character that may be printed as it stands: no control character of ASCII or Unicode (U+0080 to 9F).
constexpr size_t printable_length(const char* text, size_t size) {
  const unsigned char lead = static_cast<unsigned char>(text[0]);
  const bool controls = lead < 0x20 || lead == 0x7f || (lead == 0xc2 && size > 1 && (text[1] & 0xe0) == 0x80);
  return controls ? 0 : utf8_length(text, size);
}

// Copies `text` with all other bytes as \xNN. Stops in front of the first character that has no room; returns the
// bytes written, at most 4 * size.
constexpr size_t printable(const char* text, size_t size, char* to, size_t room) {
  constexpr char kDigits[] = "0123456789abcdef";
  size_t written = 0;
  for (size_t at = 0; at < size;) {
    const size_t length = printable_length(text + at, size - at);
    if (written + (length ? length : 4) > room) break;
    const unsigned char byte = static_cast<unsigned char>(text[at]);
    const char escaped[] = {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    for (size_t i = 0; i < (length ? length : 4); ++i) to[written++] = length ? text[at + i] : escaped[i];
    at += length ? length : 1;
  }
  return written;
}

}  // namespace rt
