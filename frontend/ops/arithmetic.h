// Binary arithmetic and comparisons broadcast as numpy does; up to opset 6 the second operand may be aligned at an
// `axis` of the first.
#pragma once
#include "frontend/ops/operands.h"

namespace cameo::ops::arithmetic {

inline bool aligned(const NodeView& n) { return n.version() < 7 && n.attr_int("broadcast") && n.has_attr("axis"); }

inline void check_aligned(const NodeView& n) {
  int axis = NodeView::axis(n.attr_int("axis"), n.rank(0));
  if (axis + n.rank(1) > n.rank(0))
    n.fail(Code::E0302,
           to_string(n.type(1)) + " does not stand at axis " + std::to_string(axis) + " of " + to_string(n.type(0)));
  for (int d = 0; d < n.rank(1); ++d)
    if (!n.shape(1)[d].is_static(1)) same_dim(n, n.shape(0)[axis + d], n.shape(1)[d], "aligned extents");
}
inline void infer_type(Infer& n) {
  if (!aligned(n)) return infer::broadcast(n);
  check_aligned(n);
  n.output(0, n.type(0));
}
inline void infer_test(Infer& n) {
  if (!aligned(n)) return infer::broadcast_bool(n);
  check_aligned(n);
  n.output(0, DType::b1, n.shape(0));
}

inline Expr second(const MeaningView& n, std::span<const Expr> index) {
  if (!aligned(n)) return n.load_broadcast(1, index);
  return n.load_broadcast(1, index.subspan(NodeView::axis(n.attr_int("axis"), n.rank(0)), n.rank(1)));
}

/// out = f(a, b); `f` is a lambda that captures nothing.
template <class F>
constexpr auto meaning(F) {
  return +[](const MeaningView& n) -> Meaning {
    OutputExpr out{n.index(), {}};
    out.value = F{}(n.load_broadcast(0, out.index), second(n, out.index));
    return Compute{{out}};
  };
}

inline Operator declare(std::string_view name, std::vector<int> since, Meaning (*meaning)(const MeaningView&)) {
  return {.name = name,
          .since = std::move(since),
          .inputs = {{"A", kNumbers}, {"B", kNumbers, InputSpec::Required, 0}},
          .outputs = {{"C"}},
          .attributes = {{"broadcast", 0}, {"axis", AttrKind::Int}},
          .infer = infer_type,
          .meaning = meaning};
}

inline Operator declare_test(std::string_view name, std::vector<int> since, DTypes types,
                             Meaning (*meaning)(const MeaningView&)) {
  Operator op = declare(name, std::move(since), meaning);
  op.inputs[0].types = op.inputs[1].types = types;
  op.infer = infer_test;
  return op;
}

}  // namespace cameo::ops::arithmetic
