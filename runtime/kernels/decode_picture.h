// decode_picture: the pixels of the picture in a file of so many bytes, y[height, width, channels]. `work` is memory to
// work in, as much as picture_size says.
#pragma once
#include "runtime/kernels/image/decoder.h"
#include "runtime/kernels/nest.h"

namespace rt {

RT_FN void decode_picture(const Call& call, u8* y, u8* work, const u8* file, const i64*, const i64*, i64 bytes,
                          i64 height, i64 width, i64 room, i64 format) {
  const Canvas canvas{y, height, width, static_cast<PixelFormat>(format)};
  if (const Wrong wrong = decode_picture({file, bytes}, canvas, {work, room})) return raise_sentence(call.fault, wrong);
  for (i64 i = 0; i < room; ++i) work[i] = 0;  // what it holds says nothing
}

}  // namespace rt
