// A libFuzzer target over the decoders of pictures that ImageDecoder has.
#include <cstring>
#include <memory>

#include "runtime/kernels/image/decoder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t bytes) {
  constexpr int64_t kMostPixels = 1 << 20, kMostRoom = 64 << 20;
  const std::unique_ptr<uint8_t[]> copy(new uint8_t[bytes]);
  if (bytes) std::memcpy(copy.get(), data, bytes);
  const rt::Bytes file(copy.get(), static_cast<int64_t>(bytes));
  rt::PictureSize size;
  if (rt::declare_picture(file, &size)) return 0;
  if (size.height * size.width > kMostPixels || size.room > kMostRoom) return 0;
  const std::unique_ptr<uint8_t[]> room(new uint8_t[static_cast<size_t>(size.room)]);
  const std::unique_ptr<uint8_t[]> pixels(new uint8_t[static_cast<size_t>(3 * size.height * size.width)]);
  const rt::Canvas canvas{pixels.get(), size.height, size.width, static_cast<rt::PixelFormat>(bytes % 3)};
  rt::decode_picture(file, canvas, {room.get(), size.room});
  return 0;
}
