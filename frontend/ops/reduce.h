// The Reduce family shares its axes (an attribute that became an input), its shape rule, and its meaning: Folds, one an
// axis, nested in the order of the axes, with scalar steps before and after.
#pragma once
#include "frontend/ops/named_axes.h"

namespace cameo::ops::reduce {

/// Which axes are folded: none given means all of them, unless `noop_with_empty_axes`.
inline std::vector<Expr> folded_axes(const NodeView& n) {
  return named_axes(n, 1, n.rank(), !n.attr_int("noop_with_empty_axes"));
}

/// `count` axes are folded.
inline Shape folded_shape(const Shape& shape, const std::vector<Expr>& folded, bool keepdims, size_t count) {
  if (!keepdims) return kept_shape(shape, folded, count);
  Shape out;
  for (size_t d = 0; d < shape.size(); ++d) out.push_back(dim_of(select(folded[d], integer(1), shape[d].extent())));
  return out;
}

inline void infer_type(Infer& n) {
  const std::vector<Expr> folded = folded_axes(n);
  n.output(0, n.dtype(), folded_shape(n.shape(), folded, n.attr_int("keepdims"), count_named(n, 1, folded)));
}

/// The variables of one reduction: those of the output, and one for each axis that is, or may be, folded. An axis that
/// turns out not to be has a fold of one term.
struct Nest {
  std::vector<Expr> index, at, vars;  // of the output; of the input; of the folds, outermost first
  Dim count = 1;                      // elements that each output element is made of
};
inline Nest nest(const MeaningView& n, const std::vector<Expr>& folded) {
  Nest s;
  s.index = n.index();
  const bool keepdims = n.attr_int("keepdims");
  const std::vector<Expr> places = places_of_kept(folded);
  for (int d = 0; d < n.rank(); ++d) {
    Expr term, own;
    if (!folded[d].is_const(0)) {
      const Dim terms = dim_of(select(folded[d], n.shape()[d].extent(), integer(1)));
      s.vars.push_back(var(terms.extent()));
      s.count = s.count * terms;
      term = s.vars.back();
    }
    for (size_t k = s.index.size(); k-- > 0 && !keepdims;)
      own = own ? select(eq(places[d], integer(static_cast<int64_t>(k))), s.index[k], own) : s.index[k];
    if (places[d].is_const() && !s.index.empty() && !keepdims && !folded[d].is_const(1))
      own = s.index[places[d].int_value()];
    if (keepdims) own = s.index[d];
    s.at.push_back(folded[d].is_const(1) || !own ? term : term ? select(folded[d], term, own) : own);
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
