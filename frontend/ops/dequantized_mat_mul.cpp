// DequantizedMatMul, of cameo's own: A times weights that stay quantised: codes without sign, in blocks along the
// summed axis, each with a scale and a zero point for each column. Y = A ((codes - zeros) * scales).
#include <fmt/format.h>

#include "frontend/ops/matmul.h"
#include "frontend/ops/window.h"

namespace cameo::ops {
namespace {

enum Input { kA, kCodes, kScales, kZeros };

void infer_dequantized_mat_mul(Infer& n) {
  const Shape product = matmul::product_shape(n, n.shape(kA), n.shape(kCodes));
  const Shape &codes = n.shape(kCodes), &scales = n.shape(kScales);
  const auto is_known = [](const Shape& s) { return s.size() == 2 && is_static(s); };
  if (!is_known(codes) || !is_known(scales) || scales[1] != codes[1] || scales[0].is_static(0) ||
      codes[0].value() % scales[0].value() != 0)
    n.fail(Code::E0302,
           fmt::format("scales are {} for codes {}", to_string(n.type(kScales)), to_string(n.type(kCodes))));
  if (n.has(kZeros) && n.shape(kZeros) != scales)
    n.fail(Code::E0302,
           fmt::format("zero points are {}, scales {}", to_string(n.type(kZeros)), to_string(n.type(kScales))));
  n.output(0, DType::f32, product);
}

Meaning dequantized_mat_mul(const MeaningView& n) {
  auto out = n.index();
  const int64_t blocks = n.shape(kScales)[0].value(), size = n.shape(kCodes)[0].value() / blocks;
  const Expr block = var(integer(blocks)), term = var(integer(size)), column = out.back();
  const Expr k = block * integer(size) + term;
  std::vector<Expr> at(out.begin(), out.end() - 1);
  at.push_back(k);
  const Expr zero =
      n.has(kZeros) ? cast(n.load(kZeros, {block, column}), DType::i32) : integer(n.attr_int("zero"), DType::i32);
  const Expr code = cast(n.load(kCodes, {k, column}), DType::i32) - zero;
  const Expr weight = cast(code, DType::f32) * n.load(kScales, {block, column});
  const std::vector<Expr> terms{block, term};
  return Compute{{{out, fold_all(FoldKind::Sum, terms, n.load(kA, at) * weight)}}};
}

}  // namespace

Operator declare_dequantized_mat_mul() {
  constexpr DTypes kFloat{DType::f32}, kCode{DType::u8};
  return {.name = "DequantizedMatMul",
          .domain = "cameo",
          .since = {1},
          .inputs = {{"A", kFloat}, {"codes", kCode}, {"scales", kFloat}, {"zeros", kCode, InputSpec::Optional}},
          .attributes = {{"bits", 8}, {"zero", 0}},  // of a code: 4 or 8; what it is less by where there are no zeros
          .infer = infer_dequantized_mat_mul,
          .meaning = dequantized_mat_mul};
}

}  // namespace cameo::ops
