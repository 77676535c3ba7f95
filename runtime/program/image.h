// Pictures: PNG, JPEG and PPM in, PNG out; and deflate, which zip archives need too.
#pragma once

#include "runtime/program/array.h"

namespace rt::program {

struct Picture {  // rows of interleaved bytes
  int32_t width = 0, height = 0, channels = 0;
  unsigned char* pixels = nullptr;
};

bool is_picture(Slice path);  // by its ending
bool read_picture(Tool& tool, Slice file, Slice what, int32_t channels, Picture* picture);
void write_png(Tool& tool, const Picture& picture, Text* to);
bool inflate(Tool& tool, Slice packed, char* to, uint64_t size);  // raw deflate of exactly `size` bytes

// Channels-last floats, 0 to 255. Filtered by a triangle that widens when the picture shrinks.
float* resize(Tool& tool, const float* from, int32_t width, int32_t height, int32_t channels, int32_t to_width,
              int32_t to_height);

}  // namespace rt::program
