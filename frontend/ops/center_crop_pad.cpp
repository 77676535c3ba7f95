// CenterCropPad: each axis cropped to, or padded with zeros to, a written extent around its centre.
#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

std::vector<int> cropped_axes(const NodeView& n) {
  if (n.has_attr("axes")) return NodeView::axes(n.attr_ints("axes"), n.rank());
  std::vector<int> all;
  for (int d = 0; d < n.rank(); ++d) all.push_back(d);
  return all;
}

void infer_center_crop_pad(Infer& n) {
  std::vector<int> axes = cropped_axes(n);
  std::vector<Expr> extents = elements(n, 1);
  if (extents.size() != axes.size())
    n.fail(Code::E0302,
           "`shape` has " + std::to_string(extents.size()) + " elements for " + std::to_string(axes.size()) + " axes");
  Shape out = n.shape();
  for (size_t i = 0; i < axes.size(); ++i) out[axes[i]] = given_dim(n, extents[i], axes.size(), "shape");
  n.output(0, n.dtype(), out);
}

Meaning center_crop_pad_meaning(const MeaningView& n) {
  OutputExpr out{n.index(), {}};
  std::vector<Expr> at = out.index;
  for (int a : cropped_axes(n)) {
    Expr from = n.shape()[a].extent(), to = n.out_shape()[a].extent(), two = integer(2);
    at[a] = at[a] + select(lt(to, from), floor_div(from - to, two), -floor_div(to - from, two));
  }
  out.value = n.load(0, at);
  return Compute{{out}};
}

}  // namespace

Operator declare_center_crop_pad() {
  return {.name = "CenterCropPad",
          .since = {18},
          .inputs = {{"input_data"}, {"shape", kIndices}},
          .outputs = {{"output_data"}},
          .attributes = {{"axes", AttrKind::Ints}},
          .infer = infer_center_crop_pad,
          .meaning = center_crop_pad_meaning};
}

}  // namespace cameo::ops
