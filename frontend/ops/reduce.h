// The Reduce family shares its axes (an attribute that became an input), its shape rule, and its meaning: Folds, one an
// axis, nested in the order of the axes, with scalar steps before and after.
#pragma once
#include "frontend/ops/operands.h"

namespace cameo::ops::reduce {

/// Which axes are folded: none given means all of them, unless `noop_with_empty_axes`.
inline std::vector<bool> folded_axes(const NodeView& n) {
  std::vector<int64_t> given = ints_or_attr(n, 1, "axes");
  std::vector<bool> folded(n.rank(), given.empty() && !n.attr_int("noop_with_empty_axes"));
  for (int a : NodeView::axes(given, n.rank())) folded[a] = true;
  return folded;
}

inline Shape folded_shape(const Shape& shape, const std::vector<bool>& folded, bool keepdims) {
  Shape out;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (!folded[d])
      out.push_back(shape[d]);
    else if (keepdims)
      out.push_back(1);
  }
  return out;
}

inline void infer_type(Infer& n) {
  n.output(0, n.dtype(), folded_shape(n.shape(), folded_axes(n), n.attr_int("keepdims")));
}

/// The variables of one reduction: those of the output, and one for each folded axis.
struct Nest {
  std::vector<Expr> index, at, vars;  // of the output; of the input; of the folds, outermost first
  Dim count = 1;                      // elements that each output element is made of
};
inline Nest nest(const MeaningView& n, const std::vector<bool>& folded) {
  Nest s;
  s.index = n.index();
  bool keepdims = n.attr_int("keepdims");
  size_t next = 0;
  for (int d = 0; d < n.rank(); ++d) {
    if (folded[d]) {
      s.vars.push_back(var(n.shape()[d].extent()));
      s.count = s.count * n.shape()[d];
      next += keepdims;
    }
    s.at.push_back(folded[d] ? s.vars.back() : s.index[next++]);
  }
  return s;
}
inline Expr fold_nest(FoldKind kind, const Nest& s, Expr body) {
  for (size_t i = s.vars.size(); i-- > 0;) body = fold(kind, s.vars[i], body);
  return body;
}

/// What the reduction computes in: narrow floats in f32, bools in u8; integers in their own type, or in f64 where
/// `real` functions follow.
inline DType computing(DType t, bool real) {
  if (t == DType::b1) return DType::u8;  // which has lanes with an order
  return real && !is_float(t) ? DType::f64 : accumulator(t);
}

/// out = after(fold(kind, before(x)), count); both steps may be lambdas over Exprs of the computing type.
template <class Before, class After>
Meaning meaning(const MeaningView& n, FoldKind kind, bool real, Before before, After after) {
  Nest s = nest(n, folded_axes(n));
  DType t = computing(n.dtype(), real);
  Expr total = fold_nest(kind, s, before(cast(n.load(0, s.at), t)));
  return Compute{{{s.index, cast(after(total, cast(s.count.extent(), t)), n.dtype())}}};
}
inline Expr same(Expr x) { return x; }
inline Expr keep(Expr folded, Expr) { return folded; }
inline Expr square(Expr x) { return x * x; }

inline Operator declare(std::string_view name, std::vector<int> since, DTypes types,
                        Meaning (*meaning)(const MeaningView&)) {
  const int axes_as_input = name == "ReduceSum" ? 13 : 18;
  return {.name = name,
          .since = std::move(since),
          .inputs = {{"data", types}, {"axes", kInt64, InputSpec::Optional}},
          .outputs = {{"reduced"}},
          .attributes = {{"axes", AttrKind::Ints}, {"keepdims", 1}, {"noop_with_empty_axes", 0, axes_as_input}},
          .infer = infer_type,
          .meaning = meaning};
}

}  // namespace cameo::ops::reduce
