// picture_size: the height and the width of the picture in a file of so many bytes, and how many bytes decode_picture
// works in.
#pragma once
#include "runtime/kernels/image/decoder.h"
#include "runtime/kernels/nest.h"

namespace rt {

RT_FN void picture_size(const Call& call, i64* dims, i64* room, const u8* file, i64 bytes) {
  PictureSize size;
  if (const Wrong wrong = declare_picture({file, bytes}, &size)) return raise_sentence(call.fault, wrong);
  dims[0] = size.height, dims[1] = size.width, *room = size.room;
}

}  // namespace rt
