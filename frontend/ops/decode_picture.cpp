// DecodePicture, of cameo's own: the pixels of the picture in a file, with what PictureSize says of it. `format` is a
// number of rt::PixelFormat. The second output is room that decoding works in, zero in the end.
#include "frontend/ops/operands.h"
#include "frontend/ops/pictures.h"

namespace cameo::ops {
namespace {

void infer_decode_picture(Infer& n) {
  const std::vector<Expr> dims = elements(n, 1), room = elements(n, 2);
  if (dims.size() != 2 || room.size() != 1) n.fail(Code::E0302, "`dims` or `room` is not what PictureSize gives");
  const bool is_gray = n.attr_int("format") == static_cast<int64_t>(rt::PixelFormat::kGrayscale);
  n.output(0, DType::u8, {given_dim(n, dims[0], 2, "dims"), given_dim(n, dims[1], 2, "dims"), is_gray ? 1 : 3});
  n.output(1, DType::u8, {given_dim(n, room[0], 1, "room")});
}

Meaning decode_picture(const MeaningView& n) {
  const Shape& pixels = n.out_shape();
  return Opaque{.kernel = "decode_picture",
                .numbers = {product(n.shape()).extent(), pixels[0].extent(), pixels[1].extent(),
                            n.out_shape(1)[0].extent(), integer(n.attr_int("format"))},
                .host_only = true};
}

std::vector<Tensor> decode_picture_reference(const MeaningView& n, std::span<const Tensor> in) {
  const int64_t height = in[1].get_int(0), width = in[1].get_int(1), bytes = in[2].get_int(0);
  const auto format = static_cast<rt::PixelFormat>(n.attr_int("format"));
  Tensor y(DType::u8, {height, width, format == rt::PixelFormat::kGrayscale ? 1 : 3});
  std::vector<uint8_t> room(static_cast<size_t>(bytes));
  require_picture(rt::decode_picture(file_of(in[0]), {y.mutable_as<uint8_t>().data(), height, width, format},
                                     {room.data(), bytes}));
  return {y, Tensor(DType::u8, {bytes})};
}

}  // namespace

Operator declare_decode_picture() {
  return {.name = "DecodePicture",
          .domain = "cameo",
          .since = {1},
          .inputs = {{"file", DTypes(DType::u8)}, {"dims", kInt64}, {"room", kInt64}},
          .outputs = {{"Y"}, {"work"}},
          .attributes = {{"format", AttrKind::Int}},
          .infer = infer_decode_picture,
          .meaning = decode_picture,
          .reference = decode_picture_reference};
}

}  // namespace cameo::ops
