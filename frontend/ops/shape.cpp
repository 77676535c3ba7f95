// Shape: the input's dims, or a range of them, as i64: known as far as they are when compiling.
#include <algorithm>

#include "frontend/ir/operator.h"

namespace cameo::ops {
namespace {

Shape listed(const NodeView& n) {
  auto clamped = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + n.rank() : at, 0, n.rank()); };
  int64_t begin = clamped(n.attr_int("start")), end = n.has_attr("end") ? clamped(n.attr_int("end")) : n.rank();
  return Shape(n.shape().begin() + begin, n.shape().begin() + std::max(begin, end));
}

Meaning shape_meaning(const MeaningView& n) {
  OutputExpr out{n.index(), integer(0)};
  Shape dims = listed(n);
  if (!dims.empty()) out.value = dims.back().extent();
  for (int64_t i = static_cast<int64_t>(dims.size()) - 2; i >= 0; --i)
    out.value = select(eq(out.index[0], integer(i)), dims[i].extent(), out.value);
  return Compute{{out}};
}

}  // namespace

Operator declare_shape() {
  return {.name = "Shape",
          .since = {1, 13, 15, 19, 21, 23, 24, 25},
          .inputs = {{"data"}},
          .outputs = {{"shape"}},
          .attributes = {{"start", 0, 15}, {"end", AttrKind::Int, 15}},
          .infer = [](Infer& n) { n.output(0, DType::i64, {Dim(static_cast<int64_t>(listed(n).size()))}); },
          .meaning = shape_meaning};
}

}  // namespace cameo::ops
