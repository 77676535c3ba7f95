// The block format of LZ4 (doc/lz4_Block_format.md of the reference implementation): sequences of literals and a match,
// whose lengths begin in a token of two halves and go on in bytes while those are 255; the last one has no match.
#include "runtime/cuda/unpack.h"

#include "runtime/libc.h"

namespace rt::cuda {
namespace {

uint64_t length_of(uint32_t half, const uint8_t*& from) {
  uint64_t length = half;
  for (uint8_t more = 255; half == 15 && more == 255;) length += more = *from++;
  return length;
}

}  // namespace

uint64_t unpack(const DeviceCode& code, char* to, uint64_t room) {
  const uint8_t *from = static_cast<const uint8_t*>(code.data), *const end = from + code.bytes;
  uint64_t n = 0;
  const auto limited = [&](uint64_t length) { return length < room - n ? length : room - n; };
  if (!code.unpacked_bytes) {
    n = limited(code.bytes);
    libc::memcpy(to, from, n);
    return n;
  }
  while (n < room) {
    const uint32_t token = *from++;
    const uint64_t literals = length_of(token >> 4, from);
    libc::memcpy(to + n, from, limited(literals));
    n += limited(literals);
    from += literals;
    if (from == end) break;
    const uint64_t distance = from[0] | uint64_t{from[1]} << 8;
    from += 2;
    for (uint64_t left = limited(length_of(token & 15, from) + 4); left; --left, ++n) to[n] = to[n - distance];
  }
  return n;
}

}  // namespace rt::cuda
