// MaxUnpool: each element of X goes to its flat position I in the tensor that the pooling geometry implies; with an
// output_shape that tensor stands at the front of a larger one.
#include "frontend/ops/flat.h"
#include "frontend/ops/window.h"

namespace cameo::ops {
namespace {

Shape implied_shape(const NodeView& n) {
  auto kernel = n.attr_ints("kernel_shape");
  size_t axes = kernel.size();
  if (n.rank() != static_cast<int>(axes) + 2 || axes < 1)
    n.fail(Code::E0302, fmt::format("X is {} for a kernel of {} axes", to_string(n.type(0)), axes));
  check_kernel(n, kernel);
  auto strides = per_axis(n, "strides", axes, 1, 1), pads = per_axis(n, "pads", 2 * axes, 0, 0);
  Shape s{n.shape()[0], n.shape()[1]};
  for (size_t a = 0; a < axes; ++a)
    s.push_back((n.shape()[2 + a] - Dim(1)) * Dim(strides[a]) + Dim(kernel[a] - pads[a] - pads[axes + a]));
  return s;
}

void infer_max_unpool(Infer& n) {
  Shape s = implied_shape(n);
  check_shape(n, 1, n.shape(), "a place for each element of X");
  if (n.has(2)) {
    auto dims = elements(n, 2);
    if (dims.size() != s.size())
      n.fail(Code::E0302, fmt::format("`output_shape` has {} entries for {}", dims.size(), to_string(n.type(0))));
    for (size_t i = 0; i < s.size(); ++i) {
      Dim d = dim_of(dims[i]);
      s[i] = i < 2 ? same_dim(n, d, s[i], "batches or channels of `output_shape` and X") : d;
    }
  }
  n.output(0, n.dtype(), s);
}

Meaning max_unpool(const MeaningView& n) {
  Scatter s;
  s.start = {n.index(), zero(n.dtype())};
  s.over = MeaningView::index_of(n.shape(0));
  s.to = unflatten(n.load(1, s.over), implied_shape(n));
  s.update = n.load(0, s.over);
  return s;
}

}  // namespace

Operator declare_max_unpool() {
  return {.name = "MaxUnpool",
          .since = {9, 11, 22},
          .inputs = {{"X", kFloats}, {"I", kInt64}, {"output_shape", kInt64, InputSpec::Optional}},
          .outputs = {{"output"}},
          .attributes = {{"kernel_shape", AttrKind::Ints}, {"pads", AttrKind::Ints}, {"strides", AttrKind::Ints}},
          .infer = infer_max_unpool,
          .meaning = max_unpool};
}

}  // namespace cameo::ops
