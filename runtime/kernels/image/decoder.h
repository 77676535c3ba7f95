// Pictures in files: which format the data have, how large the picture is, its pixels.
#pragma once
#include "runtime/kernels/image/bmp.h"
#include "runtime/kernels/image/jpeg.h"
#include "runtime/kernels/image/jpeg_2000.h"
#include "runtime/kernels/image/png.h"
#include "runtime/kernels/image/pnm.h"
#include "runtime/kernels/image/tiff.h"
#include "runtime/kernels/image/vp8.h"

namespace rt {
namespace {

/// A dim of a picture, at most, and what it may take: its pixels, three bytes each, and the room for decoding.
inline constexpr i64 kMostPictureDim = 65535, kMostPictureBytes = i64{1} << 32;

template <class F>
Wrong with_decoder(Bytes file, const F& f) {
  if (file.begin_with("\x89PNG\r\n\x1a\n")) return f(Png(file));
  if (file.begin_with("\xff\xd8\xff")) return f(Jpeg(file));
  if (file.begin_with("BM")) return f(Bmp(file));
  if (file[0] == 'P' && file[1] >= '1' && file[1] <= '6') return f(Pnm(file));
  if (file.begin_with("II*") || (file.begin_with("MM") && file.big(2, 2) == 42)) return f(Tiff(file));
  if (file.begin_with("RIFF") && file.from(8).begin_with("WEBP")) return f(WebP(file));
  if (file.begin_with("\xff\x4f\xff\x51") || file.from(4).begin_with("jP  \r\n\x87\n")) return f(Jpeg2000(file));
  if (file.begin_with("GIF8")) return "the data is a GIF, which ONNX does not have";
  return "the data is no picture of BMP, JPEG, JPEG 2000, PBM, PGM, PPM, PNG, TIFF or WebP";
}

RT_COLD Wrong declare_picture(Bytes file, PictureSize* size) {
  const Wrong wrong = with_decoder(file, [&](auto decoder) { return decoder.declare(size); });
  if (wrong) return wrong;
  if (size->height < 1 || size->width < 1) return "the data is a picture without pixels";
  if (size->height > kMostPictureDim || size->width > kMostPictureDim ||
      3 * size->height * size->width + size->room > kMostPictureBytes)
    return "the data is a picture that is too large: 65,535 pixels a side, and 4 GiB for its pixels and decoding, are "
           "the most";
  return nullptr;
}

RT_COLD Wrong decode_picture(Bytes file, const Canvas& canvas, Room room) {
  return with_decoder(file, [&](auto decoder) {
    PictureSize size;
    if (const Wrong wrong = decoder.declare(&size)) return wrong;
    if (size.height != canvas.height || size.width != canvas.width) return kNoRoomForPicture;
    return decoder.decode(canvas, room);
  });
}

}  // namespace
}  // namespace rt
