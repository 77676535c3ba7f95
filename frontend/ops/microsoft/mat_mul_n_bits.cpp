// MatMulNBits: A times the transpose of B, whose rows are blocks of numbers of few bits, each block with a scale and a
// zero point (in bits as B's, or of A's type); `g_idx` names for each of the K terms the block whose scale and zero
// point it has. The sum runs over blocks and the bytes of a block, so that B is read as it is packed; four bytes are
// one step, whose products do not wait for each other. What a last block has beyond K meets zeros.
#include <numeric>

#include "frontend/ops/microsoft/packed_bits.h"
#include "frontend/ops/window.h"

namespace cameo::ops {
namespace {

struct OfBlocks {
  enum Input { A, B, Scales, ZeroPoints, GroupIndex, Bias };
};

struct Blocks {
  PackedBits packed;
  int64_t rows, terms, size, count;  // rows of B, their numbers, numbers of a block, blocks of a row
  explicit Blocks(const NodeView& n)
      : packed(n), rows(count_attr(n, "N")), terms(count_attr(n, "K")), size(count_attr(n, "block_size")) {
    if (size % packed.each) n.fail(Code::E0204, fmt::format("`block_size` is {}: no whole bytes", size));
    count = (terms + size - 1) / size;
  }
};

/// One a block, in rows or flat.
void check_blocks(const NodeView& n, int input, int64_t rows, int64_t of_row) {
  check_shape(n, input, n.has(input) && n.rank(input) == 1 ? Shape{rows * of_row} : Shape{rows, of_row},
              "something for each block of each row of B");
}

/// The block of each term. Blocks are not counted from the end.
void check_groups(const NodeView& n, const Blocks& b) {
  if (!n.has(OfBlocks::GroupIndex)) return;
  const Dim padded = b.count * b.size;  // as some writers have it
  const bool is_padded = n.shape(OfBlocks::GroupIndex) == Shape{padded};
  check_shape(n, OfBlocks::GroupIndex, {is_padded ? padded : Dim(b.terms)}, "a block for each of the terms of a row");
  check_indices(n, OfBlocks::GroupIndex, b.count);
  for (int64_t block : ends_of(n.constant(OfBlocks::GroupIndex)))
    if (block < 0) n.fail(Code::E0304, fmt::format("`g_idx` holds {}, which is no block", block));
}

void infer_mat_mul_n_bits(Infer& n) {
  const Blocks b(n);
  if (n.attr_int("weight_prepacked")) refuse(n, "with `weight_prepacked`");
  if (n.rank(OfBlocks::A) < 1 || !n.agree(n.dim(OfBlocks::A, -1), b.terms))
    n.fail(Code::E0302, fmt::format("A is {} for `K` {}", to_string(n.type(OfBlocks::A)), b.terms));
  check_shape(n, OfBlocks::B, {b.rows, b.count, b.size / b.packed.each}, "rows of blocks of bytes");
  check_blocks(n, OfBlocks::Scales, b.rows, b.count);
  const bool packed = n.has(OfBlocks::ZeroPoints) && n.dtype(OfBlocks::ZeroPoints) == DType::u8;
  if (n.has(OfBlocks::ZeroPoints) && !packed && n.dtype(OfBlocks::ZeroPoints) != n.dtype(OfBlocks::A))
    n.fail(Code::E0301,
           fmt::format("`zero_points` is {}, neither of u8 nor of A's type", to_string(n.type(OfBlocks::ZeroPoints))));
  check_blocks(n, OfBlocks::ZeroPoints, b.rows, packed ? b.packed.bytes(b.count).value() : b.count);
  check_groups(n, b);
  check_shape(n, OfBlocks::Bias, {b.rows}, "one a row of B");
  Shape y = n.shape(OfBlocks::A);
  y.back() = b.rows;
  n.output(0, n.dtype(OfBlocks::A), y);
}

/// An element of `of_row` a row, of an input in rows or flat.
Expr of_block(const MeaningView& n, int input, Expr row, Expr at, int64_t of_row) {
  std::vector<Expr> index{row, at};
  if (n.rank(input) == 1) index = {row * integer(of_row) + at};
  return n.has(OfBlocks::GroupIndex) ? n.load_checked(input, index) : n.load(input, index);
}

/// What a block's numbers are less by.
Expr zero_of_block(const MeaningView& n, const Blocks& b, Expr row, Expr block, DType t) {
  if (!n.has(OfBlocks::ZeroPoints)) return cast(b.packed.middle(), t);
  if (n.dtype(OfBlocks::ZeroPoints) != DType::u8)
    return cast(of_block(n, OfBlocks::ZeroPoints, row, block, b.count), t);
  const Expr each = integer(b.packed.each);
  const Expr byte = of_block(n, OfBlocks::ZeroPoints, row, floor_div(block, each), b.packed.bytes(b.count).value());
  return cast(b.packed.number(byte, mod(block, each)), t);
}

Meaning mat_mul_n_bits(const MeaningView& n) {
  const Blocks b(n);
  auto out = n.index();
  const DType t = accumulator(n.dtype(OfBlocks::A));
  const int64_t each = b.packed.each, bytes = b.size / each, together = std::gcd(bytes, int64_t{4});
  const Expr block = var(integer(b.count)), step = var(integer(bytes / together)), row = out.back();
  const bool grouped = n.has(OfBlocks::GroupIndex);
  const auto zero = [&](Expr of) { return zero_of_block(n, b, row, of, t); };
  const auto scale = [&](Expr of) { return cast(of_block(n, OfBlocks::Scales, row, of, b.count), t); };
  std::vector<Expr> at = out;
  Expr sum;
  for (int64_t i = 0; i < together * each; ++i) {
    const Expr byte = step * integer(together) + integer(i / each);
    const Expr term = at.back() = block * integer(b.size) + step * integer(together * each) + integer(i);
    const Expr number = cast(b.packed.number(n.load(OfBlocks::B, {row, block, byte}), integer(i % each)), t);
    const Expr group = grouped ? wrap_index(n.load(OfBlocks::GroupIndex, {term}), b.count) : block;
    const Expr weight = grouped ? (number - zero(group)) * scale(group) : number - zero(block);
    const Expr product = cast(n.load(OfBlocks::A, at), t) * weight;
    sum = sum ? sum + product : product;
  }
  Expr y = fold_all(FoldKind::Sum, std::vector<Expr>{block, step}, grouped ? sum : sum * scale(block));
  if (n.has(OfBlocks::Bias)) y = y + cast(n.load(OfBlocks::Bias, {row}), t);
  return Compute{{{out, cast(y, n.out_dtype())}}};
}

}  // namespace

Operator declare_microsoft_mat_mul_n_bits() {
  constexpr DTypes kTypes{DType::f32, DType::f16, DType::bf16};
  return {.name = "MatMulNBits",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"A", kTypes},
                     {"B", DTypes(DType::u8)},
                     {"scales", kTypes, InputSpec::Required, 0},
                     {"zero_points", kTypes | DTypes(DType::u8), InputSpec::Optional},
                     {"g_idx", DTypes(DType::i32), InputSpec::Optional},
                     {"bias", kTypes, InputSpec::Optional, 0}},
          .attributes = {{"K", AttrKind::Int},
                         {"N", AttrKind::Int},
                         {"accuracy_level", 0},
                         {"bits", 4},
                         {"block_size", AttrKind::Int},
                         {"weight_prepacked", 0}},
          .infer = infer_mat_mul_n_bits,
          .meaning = mat_mul_n_bits};
}

}  // namespace cameo::ops
