// Pictures: PNG, JPEG and PPM in, PNG out; and deflate, which zip archives need too.
#pragma once

#include "runtime/program/array.h"

namespace rt::program {

struct Picture {  // rows of interleaved bytes
  int32_t width = 0, height = 0, channels = 0;
  unsigned char* pixels = nullptr;
  uint64_t bytes() const {
    return static_cast<uint64_t>(width) * static_cast<uint64_t>(height) * static_cast<uint64_t>(channels);
  }
};

bool is_picture(Slice path);  // by its ending
// As with arrays: first what the file declares, then its pixels.
bool declare_picture(Tool& tool, Slice file, Slice what, int32_t channels, Picture* picture);
bool read_picture(Tool& tool, Slice file, Slice what, Picture* picture);
void write_png(Tool& tool, const Picture& picture, Text* to);
// Raw deflate: exactly `size` bytes, or the first `size` ones, zeros behind an error.
bool inflate(Tool& tool, Slice packed, char* to, uint64_t size, bool to_the_end);

// Channels-last floats, 0 to 255. Filtered by a triangle that widens when the picture shrinks.
float* resize(Tool& tool, const Picture& from, int32_t to_width, int32_t to_height);

}  // namespace rt::program
