// ImageDecoder: the pixels of a picture in a file of BMP, JPEG, JPEG 2000, PBM, PGM, PPM, PNG, TIFF or WebP, whose
// sizes only the data tell. Data that are no such picture, or one that is not decoded, end the run; ONNX would have an
// empty matrix of them.
#include "frontend/ir/build.h"
#include "frontend/ops/pictures.h"

namespace cameo::ops {
namespace {

rt::PixelFormat format_of(const NodeView& n) {
  const std::string format = n.attr_string("pixel_format");
  if (format == "RGB") return rt::PixelFormat::kRgb;
  if (format == "BGR") return rt::PixelFormat::kBgr;
  if (format != "Grayscale") n.fail(Code::E0204, "`pixel_format` is `" + format + "`, not RGB, BGR or Grayscale");
  return rt::PixelFormat::kGrayscale;
}

void infer_image_decoder(Infer& n) {
  if (n.rank() != 1) n.fail(Code::E0302, "the encoded stream is " + to_string(n.type(0)) + ", not a list of bytes");
  const int64_t channels = format_of(n) == rt::PixelFormat::kGrayscale ? 1 : 3;
  if (const Tensor* file = n.constant(0)) {
    const rt::PictureSize size = size_of_picture(*file);
    return n.output(0, DType::u8, {size.height, size.width, channels});
  }
  n.output(0, DType::u8, {n.fresh(), n.fresh(), channels});
}

Meaning image_decoder(const MeaningView& n) {
  Build b(n);
  const auto size = b.graph().add(get_operator("PictureSize", "cameo"), {b.in(0)});
  b.graph().decide(size[0], Interval{1, rt::kMostPictureDim}, true);
  b.graph().decide(size[1], Interval{0, rt::kMostPictureBytes}, true);
  const Attrs format{{"format", static_cast<int64_t>(format_of(n))}};
  return b.outputs({b.graph().add(get_operator("DecodePicture", "cameo"), {b.in(0), size[0], size[1]}, format)[0]});
}

}  // namespace

Operator declare_image_decoder() {
  return {.name = "ImageDecoder",
          .since = {20},
          .inputs = {{"encoded_stream", DTypes(DType::u8)}},
          .outputs = {{"image"}},
          .attributes = {{"pixel_format", "RGB"}},
          .infer = infer_image_decoder,
          .meaning = image_decoder};
}

}  // namespace cameo::ops
