// Sums of products of quantised matrices in i32, their zero points taken off; parameters are one for all, one a row of
// A or column of B, or of the operand's rank with extent 1 along the summed axis.
#pragma once
#include "frontend/ops/matmul.h"
#include "frontend/ops/quantize.h"

namespace cameo::ops {

/// Where a parameter of A (`of_rows`) or B stands for output element `out`.
inline std::vector<Expr> matrix_parameter(const NodeView& n, int input, bool of_rows, std::span<const Expr> out) {
  const Shape& p = n.shape(input);
  size_t r = p.size();
  std::vector<Expr> at;
  for (size_t d = 0; d < r; ++d) {
    size_t from = r == 1 && of_rows ? out.size() - 2 : out.size() - r + d;
    at.push_back(from >= out.size() ? integer(0) : broadcast_index(p[d], out[from]));
  }
  return at;
}

/// A parameter of A or B: its extents are 1, or those of the product's rows (of A) or columns and of the batch.
inline void check_matrix_parameter(const NodeView& n, int input, bool of_rows, const Shape& product) {
  if (!n.has(input)) return;
  const Shape& p = n.shape(input);
  bool fits = p.size() <= std::max<size_t>(product.size(), 1);
  for (size_t d = 0; fits && d < p.size(); ++d) {
    if (p[d].is_static(1)) continue;
    size_t from = p.size() == 1 && of_rows ? product.size() - 2 : product.size() - p.size() + d;
    fits = from < product.size() &&
           n.may_hold(logical_or(eq(p[d].extent(), integer(1)), eq(p[d].extent(), product[from].extent())));
  }
  if (!fits)
    n.fail(Code::E0302, fmt::format("`{}` is {} for a product of shape {}", n.node().op->inputs[input].name,
                                    to_string(n.type(input)), to_string(product)));
}

/// Numbers of the inputs A, B and their zero points.
inline Expr integer_product(const MeaningView& n, int a, int b, int a_zero, int b_zero, std::span<const Expr> out) {
  matmul::Indices i = matmul::indices(n, n.shape(a), n.shape(b), out);
  auto without_zero = [&](int input, int zero_input, bool of_rows, std::span<const Expr> at) {
    Expr x = cast(n.load(input, at), DType::i32);
    if (!n.has(zero_input)) return x;
    return x - zero_point(n, zero_input, DType::i32, matrix_parameter(n, zero_input, of_rows, out));
  };
  return fold(FoldKind::Sum, i.k, without_zero(a, a_zero, true, i.a) * without_zero(b, b_zero, false, i.b));
}

}  // namespace cameo::ops
