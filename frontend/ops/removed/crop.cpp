// Crop: images without a border: so many columns and rows of it left, above, right and below, or, with `scale`, all but
// so many rows and columns from the corner on.
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

struct Cut {
  int64_t top, left;
  Dim height, width;
};
Cut cut_of(const NodeView& n) {
  if (n.rank() != 4) n.fail(Code::E0302, "`input` is " + to_string(n.type(0)) + ", not images");
  const std::vector<int64_t> border = n.attr_ints("border");
  if (border.size() != 4 || std::ranges::any_of(border, [](int64_t b) { return b < 0 || b > kMaxStep; }))
    n.fail(Code::E0204, "`border` must have four entries, none of them negative");
  const Shape& s = n.shape();
  Cut cut{border[1], border[0], dim_of((s[2] - Dim(border[1] + border[3])).extent()),
          dim_of((s[3] - Dim(border[0] + border[2])).extent())};
  if (n.has_attr("scale")) {
    const std::vector<int64_t> size = n.attr_ints("scale");
    if (size.size() != 2) n.fail(Code::E0204, "`scale` must have two entries");
    cut.height = size[0], cut.width = size[1];
  }
  if (!n.fits(0, cut.height) || !n.fits(0, cut.width) || !n.fits(cut.height + Dim(cut.top), s[2]) ||
      !n.fits(cut.width + Dim(cut.left), s[3]))
    n.fail(Code::E0302, to_string(n.type(0)) + " has not as much as is cropped");
  return cut;
}

void infer_crop(Infer& n) {
  const Cut cut = cut_of(n);
  n.output(0, n.dtype(), {n.shape()[0], n.shape()[1], cut.height, cut.width});
}

Meaning crop_meaning(const MeaningView& n) {
  const Cut cut = cut_of(n);
  const std::vector<Expr> index = n.index();
  return Compute{{{index, n.load(0, {index[0], index[1], index[2] + integer(cut.top), index[3] + integer(cut.left)})}}};
}

}  // namespace

Operator declare_removed_crop() {
  return {.name = "Crop",
          .domain = "removed",
          .since = {1},
          .inputs = {{"input", kAllButComplex}},
          .outputs = {{"output"}},
          .attributes = {{"border", AttrKind::Ints}, {"scale", AttrKind::Ints}},
          .infer = infer_crop,
          .meaning = crop_meaning};
}

}  // namespace cameo::ops
