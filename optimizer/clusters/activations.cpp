// Forms of activations in f32, as which 16-bit floats are computed, that cost less than what graphs spell and are as
// near to the exact results:
// - softmax: exponentials below the normal range are zeros. An Intel processor takes thirty times as long for each
//   operation on such a number, a denormal, and a mask of -100 makes many. Beside the largest element's exponential,
//   which is 1, they change no sum, and their shares of it are below 2^-126. A share is a product with the sum's
//   reciprocal, of which a row has one.
// - SiLU, x sigmoid(c x): so are sigmoids, and the product is one quotient. Where c x is below -87, it is within
//   2^-119 / c of zero.
// - Mish, x tanh(softplus(x)): with e = exp(x) and n = e (e + 2) the tangent is n / (n + 2). It is 1 from 20 on, and
//   again 0 where e is below the normal range.
// - GELU, x / 2 (1 + erf(x / sqrt 2)) or x / 2 (1 + tanh(..)): the sum with 1 is one function.
#include "optimizer/clusters/clusters.h"

namespace cameo {
namespace {

bool is_fold(Expr e, FoldKind kind) { return e.op() == Op::Fold && e.fold_kind() == kind; }
bool is_exp_of_difference(Expr e) { return e.op() == Op::Exp && e.arg(0).op() == Op::Sub; }

/// What is subtracted before the exponentials of a sum are taken, if it is the largest of all its terms; else null.
Expr largest_of(const FoldNest& sum) {
  if (!is_exp_of_difference(sum.body)) return {};
  const Expr element = sum.body.arg(0).arg(0), subtracted = sum.body.arg(0).arg(1);
  if (!is_fold(subtracted, FoldKind::Max)) return {};
  const FoldNest largest = unfold(subtracted);
  if (largest.variables.size() != sum.variables.size()) return {};
  for (size_t i = 0; i < sum.variables.size(); ++i)
    if (largest.variables[i].extent() != sum.variables[i].extent()) return {};
  return substitute(largest.body, largest.variables, sum.variables) == element ? subtracted : Expr();
}

/// Whether an expression is a term of a sum, for some indices.
bool is_term(Expr e, Expr term, std::span<const Expr> variables) {
  std::vector<Expr> indices;
  visit(std::vector<Expr>{e}, [&](Expr v) {
    if (v.op() == Op::Var && !depends_on(term, v)) indices.push_back(v);
  });
  return indices.size() == variables.size() && substitute(term, variables, indices) == e;
}

/// exp(x - largest) / sum(exp(x - largest)).
Expr flushed_softmax(Expr share) {
  const Expr top = share.arg(0), bottom = share.arg(1);
  if (!is_fold(bottom, FoldKind::Sum)) return share;
  const FoldNest sum = unfold(bottom);
  const Expr largest = largest_of(sum);
  if (!largest || !is_term(top, sum.body, sum.variables)) return share;
  const auto flushed = [&](Expr root) {
    return rewrite(root, [&](Expr e) {
      return is_exp_of_difference(e) && e.arg(0).arg(1) == largest ? apply(Op::ExpFlush, {e.arg(0)}) : e;
    });
  };
  return flushed(top) * (constant(bottom.type(), 1) / flushed(bottom));
}

/// x sigmoid(c x).
Expr silu_as_quotient(Expr product) {
  for (const size_t i : {0, 1}) {
    const Expr x = product.arg(i), gate = product.arg(1 - i);
    if (gate.op() != Op::Sigmoid) continue;
    const Expr in = gate.arg(0);
    const bool is_scaled =
        in.op() == Op::Mul && ((in.arg(0) == x && in.arg(1).is_const()) || (in.arg(1) == x && in.arg(0).is_const()));
    if (in == x || is_scaled) return apply(Op::SigmoidProduct, {x, in});
  }
  return product;
}

/// tanh(softplus(x)).
Expr tanh_of_softplus(Expr tangent) {
  if (tangent.arg(0).op() != Op::Softplus) return tangent;
  const Expr x = tangent.arg(0).arg(0);
  const auto number = [&](double value) { return constant(x.type(), value); };
  const Expr e = apply(Op::ExpFlush, {min(x, number(20))}), n = e * (e + number(2));
  return n / (n + number(2));
}

/// 1 + erf(x) and 1 + tanh(x). A division by the constant sqrt 2 becomes a product: what it is nearer by is lost in the
/// sum.
Expr function_plus_one(Expr sum) {
  for (const size_t i : {0, 1}) {
    const Expr f = sum.arg(i);
    if (!sum.arg(1 - i).is_const() || sum.arg(1 - i).float_value() != 1) continue;
    if (f.op() == Op::Tanh) return apply(Op::TanhPlusOne, {f.arg(0)});
    if (f.op() != Op::Erf) continue;
    const Expr x = f.arg(0);
    const bool divides =
        x.type() == DType::f32 && x.op() == Op::Div && x.arg(1).is_const() && x.arg(1).float_value() > 1;
    return apply(Op::ErfPlusOne, {divides ? x.arg(0) * constant(DType::f32, 1 / x.arg(1).float_value()) : x});
  }
  return sum;
}

}  // namespace

Expr simplify_activations(Expr root) {
  return rewrite(root, [](Expr e) {
    if (e.type() != DType::f32 && !is_half(e.type())) return e;
    switch (e.op()) {
      case Op::Div: return flushed_softmax(e);
      case Op::Mul: return silu_as_quotient(e);
      case Op::Tanh: return tanh_of_softplus(e);
      case Op::Add: return function_plus_one(e);
      default: return e;
    }
  });
}

}  // namespace cameo
