// stb_image, compiled here and nowhere else, with no file access and memory functions of ours: it unpacks what a file
// holds, which may be far more than its header says, so it gets no more memory than the header's size can need. It is
// in the public domain (or MIT), which `licenses` prints.
#include "runtime/libc.h"
#include "runtime/program/image.h"

namespace {

uint64_t memory_left = 0;  // the program reads one picture at a time

struct alignas(16) Block {
  uint64_t bytes;
};

void give_back(void* memory) {
  if (!memory) return;
  Block* block = static_cast<Block*>(memory) - 1;
  memory_left += block->bytes;
  rt::libc::free(block);
}

void* take(uint64_t bytes) {
  if (bytes > memory_left) return nullptr;
  Block* block = static_cast<Block*>(rt::libc::malloc(sizeof(Block) + bytes));
  if (!block) return nullptr;
  memory_left -= bytes;
  block->bytes = bytes;
  return block + 1;
}

void* take_anew(void* old, uint64_t bytes) {
  const uint64_t had = old ? (static_cast<Block*>(old) - 1)->bytes : 0;
  void* memory = take(bytes);
  if (!memory) return nullptr;
  if (old) rt::libc::memcpy(memory, old, had < bytes ? had : bytes);
  give_back(old);
  return memory;
}

}  // namespace

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_NO_HDR
#define STBI_NO_LINEAR
#define STBI_NO_THREAD_LOCALS
#define STBI_ONLY_PNG
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNM
#define STBI_MAX_DIMENSIONS 32768
#define STBI_ASSERT(x) ((void)0)
#define STBI_MALLOC(bytes) take(bytes)
#define STBI_REALLOC(memory, bytes) take_anew(memory, bytes)
#define STBI_FREE(memory) give_back(memory)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

namespace rt::program {
namespace {

// Unpacking takes this, the packed data gathered, and its steps' copies of the picture: rows, passes, coefficients.
constexpr uint64_t kOwnBytes = 1 << 20;

const unsigned char* bytes_of(Slice file) { return reinterpret_cast<const unsigned char*>(file.data); }
int size_of(Slice file) { return static_cast<int>(file.size); }

size_t byte_at(Slice file, size_t at) { return at < file.size ? bytes_of(file)[at] : 0; }

// Whether the tables of a DHT segment of JPEG, `left` bytes from `at` on, have 256 symbols each at most.
bool has_sound_tables(Slice file, size_t at, int64_t left) {
  while (left > 0) {
    size_t symbols = 0;
    for (size_t i = 1; i <= 16; ++i) symbols += byte_at(file, at + i);
    if (symbols > 256) return false;
    at += 17 + symbols;
    left -= 17 + static_cast<int64_t>(symbols);
  }
  return true;
}

// The three numbers at the front of a PPM or PGM file, blanks and comments before each: stb adds up their digits
// without end.
bool is_sound_pnm(Slice file) {
  const auto is_blank = [](char c) { return c == ' ' || (c >= 9 && c <= 13); };
  size_t at = 2;
  for (int number = 0; number < 3; ++number) {
    for (bool comment = false; at < file.size; ++at) {
      const char c = file[at];
      comment = comment ? c != '\n' && c != '\r' : c == '#';
      if (!comment && !is_blank(c)) break;
    }
    size_t digits = 0;
    while (at < file.size && file[at] >= '0' && file[at] <= '9') ++at, ++digits;
    if (digits < 1 || digits > 9) return false;
  }
  return true;
}

// stb 2.28 writes past its table of symbols where a JPEG file declares more: the file is walked, marker by marker,
// before stb sees it. Bytes between segments, which are pixels, hold no marker but restarts and FF 00.
bool is_sound_jpeg(Slice file) {
  constexpr size_t kTables = 0xc4, kFirstBare = 0xd0, kLastBare = 0xd8, kEnd = 0xd9;
  for (size_t at = 0; at + 1 < file.size;) {
    const size_t marker = byte_at(file, at + 1);
    if (byte_at(file, at) != 0xff || marker == 0xff) {
      ++at;
      continue;
    }
    if (marker == kEnd) return true;
    at += 2;
    if (marker == 0 || (marker >= kFirstBare && marker <= kLastBare)) continue;
    const size_t length = byte_at(file, at) << 8 | byte_at(file, at + 1);
    if (marker == kTables && !has_sound_tables(file, at + 2, static_cast<int64_t>(length) - 2)) return false;
    at += length < 2 ? 2 : length;
  }
  return true;
}

}  // namespace

// stb reads a little ahead and takes the end of its input for an error: it gets zeros to read. Each byte that it writes
// takes little more than a byte of input at most.
bool inflate(Tool& tool, Slice packed, char* to, uint64_t size, bool to_the_end) {
  if (!to_the_end && packed.size > size + 4096) packed = packed.upto(size + 4096);
  if (packed.size > __INT_MAX__ - 8 || size > __INT_MAX__) return false;
  char* padded = tool.arena.array<char>(packed.size + 8);
  libc::memcpy(padded, packed.data, packed.size);
  const int written =
      stbi_zlib_decode_noheader_buffer(to, static_cast<int>(size), padded, static_cast<int>(packed.size) + 8);
  return !to_the_end || written == static_cast<int>(size);
}

bool declare_picture(Tool& tool, Slice file, Slice what, int32_t channels, Picture* picture) {
  int found = 0;
  *picture = {0, 0, channels, nullptr};
  memory_left = kOwnBytes;
  if (file.size > __INT_MAX__) return tool.fail(kBadData, "%.*s is too large for a picture", width(what), what.data);
  if (file.starts_with("P") && !is_sound_pnm(file))
    return tool.fail(kBadData, "%.*s is a damaged PPM or PGM picture: a size is no number", width(what), what.data);
  if (file.starts_with("\xff") && !is_sound_jpeg(file))
    return tool.fail(kBadData, "%.*s is a damaged JPEG picture: a table has more than 256 symbols", width(what),
                     what.data);
  if (!stbi_info_from_memory(bytes_of(file), size_of(file), &picture->width, &picture->height, &found))
    return tool.fail(kBadData, "%.*s is not a PNG, JPEG or PPM picture that can be read: %s", width(what), what.data,
                     stbi_failure_reason());
  if (file.starts_with("P") && stbi_is_16_bit_from_memory(bytes_of(file), size_of(file)))  // stb reads them swapped
    return tool.fail(kBadData, "%.*s is a PPM or PGM of 16 bits; those of 8 are read", width(what), what.data);
  return true;
}

bool read_picture(Tool& tool, Slice file, Slice what, Picture* picture) {
  int x = 0, y = 0, found = 0;
  stbi_info_from_memory(bytes_of(file), size_of(file), &x, &y, &found);
  const int most = found > picture->channels ? found : picture->channels;
  const uint64_t largest = picture->bytes() / static_cast<uint64_t>(picture->channels) * static_cast<uint64_t>(most) *
                           (stbi_is_16_bit_from_memory(bytes_of(file), size_of(file)) ? 2 : 1);
  memory_left = kOwnBytes + 3 * file.size + 5 * largest;
  unsigned char* pixels = stbi_load_from_memory(bytes_of(file), size_of(file), &x, &y, &found, picture->channels);
  if (!pixels || x != picture->width || y != picture->height)
    return tool.fail(kBadData, "%.*s is not a PNG, JPEG or PPM picture that can be read: %s", width(what), what.data,
                     stbi_failure_reason());
  picture->pixels = static_cast<unsigned char*>(tool.arena.take(picture->bytes()));
  libc::memcpy(picture->pixels, pixels, picture->bytes());
  stbi_image_free(pixels);
  return true;
}

}  // namespace rt::program
