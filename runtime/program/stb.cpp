// stb_image, compiled here and nowhere else, with no file access, no globals that threads share, and our memory
// functions. It is in the public domain (or MIT), which `licenses` prints.
#include "runtime/libc.h"
#include "runtime/program/image.h"

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
#define STBI_MALLOC(bytes) rt::libc::malloc(bytes)
#define STBI_REALLOC(memory, bytes) rt::libc::realloc(memory, bytes)
#define STBI_FREE(memory) rt::libc::free(memory)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb/stb_image.h>
#pragma GCC diagnostic pop

namespace rt::program {

// stb reads a little ahead and takes the end of its input for an error: it gets zeros to read.
bool inflate(Tool& tool, Slice packed, char* to, uint64_t size) {
  if (packed.size > __INT_MAX__ - 8 || size > __INT_MAX__) return false;
  char* padded = tool.arena.array<char>(packed.size + 8);
  libc::memcpy(padded, packed.data, packed.size);
  packed = {padded, packed.size + 8};
  return stbi_zlib_decode_noheader_buffer(to, static_cast<int>(size), packed.data, static_cast<int>(packed.size)) ==
         static_cast<int>(size);
}

bool read_picture(Tool& tool, Slice file, Slice what, int32_t channels, Picture* picture) {
  int x = 0, y = 0, n = 0;
  const auto* bytes = reinterpret_cast<const unsigned char*>(file.data);
  if (file.size > __INT_MAX__) return tool.fail(kBadData, "%.*s is too large for a picture", width(what), what.data);
  unsigned char* pixels = stbi_load_from_memory(bytes, static_cast<int>(file.size), &x, &y, &n, channels);
  if (!pixels)
    return tool.fail(kBadData, "%.*s is not a PNG, JPEG or PPM picture that can be read: %s", width(what), what.data,
                     stbi_failure_reason());
  const uint64_t size = static_cast<uint64_t>(x) * static_cast<uint64_t>(y) * static_cast<uint64_t>(channels);
  *picture = {x, y, channels, static_cast<unsigned char*>(tool.arena.take(size))};
  libc::memcpy(picture->pixels, pixels, size);
  stbi_image_free(pixels);
  return true;
}

}  // namespace rt::program
