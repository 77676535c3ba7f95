// ScatterElements, its old name Scatter, and ScatterND share how an update meets what is there.
#pragma once
#include "frontend/ops/operands.h"

namespace cameo::ops::scatter {

inline decltype(Scatter::combine) combine_of(const NodeView& n) {
  std::string reduction = n.attr_string("reduction");
  if (reduction == "none") return Scatter::Assign;
  if (n.dtype() == DType::str) n.fail(Code::E0301, "`reduction` is `" + printable(reduction) + "` of strings");
  if (reduction == "add") return Scatter::Add;
  if (reduction == "mul") return Scatter::Mul;
  if (reduction == "min") return Scatter::Min;
  if (reduction == "max") return Scatter::Max;
  n.fail(Code::E0204, "`reduction` is `" + printable(reduction) + "`", "none, add, mul, min or max");
}

inline OutputExpr unchanged(const MeaningView& n) {
  OutputExpr out{n.index(), {}};
  out.value = n.load(0, out.index);
  return out;
}

inline void infer_elements(Infer& n) {
  if (n.rank(1) != n.rank(0) || n.rank(2) != n.rank(1))
    n.fail(Code::E0302, "`data`, `indices` and `updates` are " + to_string(n.type(0)) + ", " + to_string(n.type(1)) +
                            " and " + to_string(n.type(2)) + ": the ranks differ");
  for (int d = 0; d < n.rank(); ++d) same_dim(n, n.shape(1)[d], n.shape(2)[d], "extents of `indices` and `updates`");
  check_elements(n, NodeView::axis(n.attr_int("axis"), n.rank()));
  combine_of(n);
  n.output(0, n.type(0));
}

inline Meaning elements_meaning(const MeaningView& n) {
  int axis = NodeView::axis(n.attr_int("axis"), n.rank());
  Scatter s;
  s.start = unchanged(n);
  s.over = MeaningView::index_of(n.shape(1));
  s.to = s.over;
  s.to[axis] = wrap_index(n.load(1, s.over), n.shape()[axis]);
  s.update = n.load(2, s.over);
  s.combine = combine_of(n);
  return s;
}

inline Operator declare_elements(std::string_view name, std::vector<int> since) {
  return {.name = name,
          .since = std::move(since),
          .inputs = {{"data"}, {"indices", kIndices}, {"updates", kTensors, InputSpec::Required, 0}},
          .attributes = {{"axis", 0}, {"reduction", "none", 16}},
          .infer = infer_elements,
          .meaning = elements_meaning};
}

}  // namespace cameo::ops::scatter
