// See sum_of_products.h.
#include "optimizer/layout/sum_of_products.h"

#include <algorithm>
#include <utility>

namespace cameo {
namespace {

/// A factor without the Cast that widens its 16 bits.
Expr unwidened(Expr e) {
  const bool widens = e.op() == Op::Cast && is_half(e.arg(0).type());
  return widens ? e.arg(0) : e;
}

bool is_constant(const Graph& g, Expr load) { return static_cast<bool>(g[ValueId{load.operand()}].constant); }

/// A Load whose place depends on no data and cannot fail.
bool is_plain_load(Expr e) { return e.op() == Op::Load && !e.checked() && std::ranges::none_of(e.index(), has_load); }

/// The last axis of more than one index that `b` reads and `a` does not, or -1.
int axis_of_its_own(const OutputExpr& out, Expr b, Expr a) {
  int found = -1;
  for (size_t axis = 0; axis < out.index.size(); ++axis) {
    const Expr index = out.index[axis];
    if (!index.extent().is_const(1) && reads_axis(b, index) && !reads_axis(a, index)) found = static_cast<int>(axis);
  }
  return found;
}

/// An element of 8 bits as i32, less its zero point, if it has one.
struct IntegerFactor {
  Expr load, zero = integer(0, DType::i32);
};
std::optional<IntegerFactor> integer_factor(Expr e) {
  IntegerFactor f;
  if (e.op() == Op::Sub) {
    f.zero = e.arg(1);
    e = e.arg(0);
  }
  if (e.op() != Op::Cast || !is_8_bits(e.arg(0).type()) || !is_plain_load(e.arg(0))) return std::nullopt;
  f.load = e.arg(0);
  bool varies = false;
  visit(std::vector<Expr>{f.zero}, [&](Expr x) { varies |= x.op() == Op::Var; });
  return varies ? std::nullopt : std::optional(f);
}
/// Elements of `a` less their zero point, by constant weights of i8 that have none.
bool take_integer_factors(const Graph& g, Expr product, ProductMatch& m) {
  auto a = integer_factor(product.arg(0)), b = integer_factor(product.arg(1));
  if (!a || !b) return false;
  if (is_constant(g, a->load)) std::swap(a, b);
  m.a = a->load;
  m.b = b->load;
  m.zero = a->zero;
  return is_constant(g, m.b) && !is_constant(g, m.a) && m.b.type() == DType::i8 && b->zero.is_const(0);
}

}  // namespace

Expr only_sum(Expr value) {
  Expr sum;
  bool other = false;
  visit(std::vector<Expr>{value}, [&](Expr e) {  // arguments first, so the outermost of nested Folds comes last
    if (e.op() != Op::Fold) return;
    other |= e.fold_kind() != FoldKind::Sum || (sum && e.arg(1) != sum);
    sum = e;
  });
  return other || !sum || (sum.type() != DType::f32 && sum.type() != DType::i32) ? Expr() : sum;
}

bool has_load(Expr e) {
  bool found = false;
  visit(std::vector<Expr>{e}, [&](Expr x) { found |= x.op() == Op::Load; });
  return found;
}

bool reads_axis(Expr load, Expr axis) {
  return std::ranges::any_of(load.index(), [&](Expr i) { return depends_on(i, axis); });
}

std::optional<ProductMatch> match_product(const Graph& g, const OutputExpr& out) {
  ProductMatch m;
  m.sum = only_sum(out.value);
  if (!m.sum) return std::nullopt;
  Expr product = m.sum;
  for (; product.op() == Op::Fold; product = product.arg(1)) m.folds.push_back(product.arg(0));
  if (product.op() != Op::Mul || product.type() != m.sum.type()) return std::nullopt;
  if (m.is_integer()) return take_integer_factors(g, product, m) ? std::optional(m) : std::nullopt;
  m.a = unwidened(product.arg(0));
  m.b = unwidened(product.arg(1));
  if (!is_plain_load(m.a) || !is_plain_load(m.b)) return std::nullopt;
  if (is_constant(g, m.a) && !is_constant(g, m.b)) std::swap(m.a, m.b);
  return m;
}

std::optional<ContractMatch> match_contract(const Graph& g, const OutputExpr& out) {
  const auto found = match_product(g, out);
  if (!found) return std::nullopt;
  ContractMatch m{*found};
  m.n_axis = axis_of_its_own(out, m.b, m.a);
  // of two values that have one, `b` is the one whose axis is the later one of the output
  const int other = is_constant(g, m.b) ? -1 : axis_of_its_own(out, m.a, m.b);
  if (other > m.n_axis) {
    std::swap(m.a, m.b);
    m.n_axis = other;
  }
  return m.n_axis < 0 ? std::nullopt : std::optional(m);
}

}  // namespace cameo
