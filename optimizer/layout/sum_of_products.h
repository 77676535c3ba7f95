// The roles in a sum of products, read off a fused meaning, never declared.
#pragma once
#include <optional>
#include <vector>

#include "frontend/ir/graph.h"
#include "frontend/ir/operator.h"

namespace cameo {

/// One sum, over one variable or several, of products of two Loads: of floats in f32, or of 8-bit integers in i32, from
/// which a zero point is taken off before.
struct ProductMatch {
  Expr sum;                 // the outermost Fold
  std::vector<Expr> folds;  // its variables, outermost first
  Expr a, b;                // the Loads; `b` is the constant one, if one is
  Expr zero = {};           // of `a`, an i32 that is the same for all elements; null where they are floats
  bool is_integer() const { return sum.type() == DType::i32; }
};
/// The only sum of a value, which may nest; null where there is another fold beside it, or it is none of f32 or i32.
Expr only_sum(Expr value);
std::optional<ProductMatch> match_product(const Graph& g, const OutputExpr& out);
bool has_load(Expr e);
bool reads_axis(Expr load, Expr axis);  // whether an index does

/// One of which an operand has an axis of its own: that is `b`.
struct ContractMatch : ProductMatch {
  int n_axis = -1;  // axis of the output that only `b` reads
};
std::optional<ContractMatch> match_contract(const Graph& g, const OutputExpr& out);

}  // namespace cameo
