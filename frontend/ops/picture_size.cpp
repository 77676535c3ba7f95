// PictureSize, of cameo's own: the height and the width of the picture in a file, and how many bytes decoding it works
// in.
#include "frontend/ops/pictures.h"

namespace cameo::ops {
namespace {

void infer_picture_size(Infer& n) {
  n.output(0, DType::i64, {2});
  n.output(1, DType::i64, {1});
}

Meaning picture_size(const MeaningView& n) {
  return Opaque{.kernel = "picture_size", .numbers = {product(n.shape()).extent()}, .host_only = true};
}

std::vector<Tensor> picture_size_reference(const MeaningView&, std::span<const Tensor> in) {
  const rt::PictureSize size = size_of_picture(in[0]);
  const int64_t dims[] = {size.height, size.width};
  return {Tensor::i64({2}, dims), Tensor::i64({1}, std::span(&size.room, 1))};
}

}  // namespace

Operator declare_picture_size() {
  return {.name = "PictureSize",
          .domain = "cameo",
          .since = {1},
          .inputs = {{"file", DTypes(DType::u8)}},
          .outputs = {{"dims"}, {"room"}},
          .infer = infer_picture_size,
          .meaning = picture_size,
          .reference = picture_size_reference};
}

}  // namespace cameo::ops
