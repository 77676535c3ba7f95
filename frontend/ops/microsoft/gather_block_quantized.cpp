// GatherBlockQuantized: slices of quantised data along an axis, dequantised; blocks along another axis have a scale and
// a zero point each. Bytes hold numbers of `bits` bits, packed along the last axis. An index outside gives zeros.
#include "frontend/ops/microsoft/packed_bits.h"
#include "frontend/ops/quantize.h"
#include "frontend/ops/window.h"

namespace cameo::ops {
namespace {

struct OfGather {
  enum Input { Data, Indices, Scales, ZeroPoints };
};

struct GatheredBlocks {
  int gather, blocks;  // axes
  int64_t size;        // of a block
  int64_t each = 1;    // numbers an element of the data
  Shape data;          // in numbers
  explicit GatheredBlocks(const NodeView& n)
      : gather(NodeView::axis(n.attr_int("gather_axis"), n.rank(OfGather::Data))),
        blocks(NodeView::axis(n.attr_int("quantize_axis"), n.rank(OfGather::Data))),
        size(count_attr(n, "block_size", 1)),
        data(n.shape(OfGather::Data)) {
    if (n.dtype(OfGather::Data) == DType::u8) each = PackedBits(n).each;
    data.back() = data.back() * Dim(each);
  }
};

void infer_gather_block_quantized(Infer& n) {
  const GatheredBlocks g(n);
  if (g.gather == g.blocks) n.fail(Code::E0204, fmt::format("`gather_axis` and `quantize_axis` are both {}", g.gather));
  if (g.each > 1 && g.gather == n.rank(OfGather::Data) - 1)
    n.fail(Code::E0204, "`gather_axis` is the axis of packed bytes");
  Shape scales = g.data;
  Dim& along = scales[static_cast<size_t>(g.blocks)];
  along = (along + Dim(g.size - 1)) / Dim(g.size);
  check_shape(n, OfGather::Scales, scales, "one a block");
  scales.back() = (scales.back() + Dim(g.each - 1)) / Dim(g.each);
  check_shape(n, OfGather::ZeroPoints, scales, "one a block, packed as the data are");
  Shape out(g.data.begin(), g.data.begin() + g.gather);
  out.insert(out.end(), n.shape(OfGather::Indices).begin(), n.shape(OfGather::Indices).end());
  out.insert(out.end(), g.data.begin() + g.gather + 1, g.data.end());
  n.output(0, n.dtype(OfGather::Scales), out);
}

/// The number at an index of the unpacked input, as i32.
Expr number_at(const MeaningView& n, int input, std::vector<Expr> at, int64_t each) {
  if (n.dtype(input) != DType::u8) return cast(n.load(input, at), DType::i32);
  const Expr last = at.back();
  at.back() = floor_div(last, integer(each));
  return PackedBits(n).number(n.load(input, at), mod(last, integer(each)));
}

Meaning gather_block_quantized(const MeaningView& n) {
  const GatheredBlocks g(n);
  auto out = n.index();
  const auto begin = out.begin() + g.gather, end = begin + n.rank(OfGather::Indices);
  const Dim extent = g.data[static_cast<size_t>(g.gather)];
  std::vector<Expr> at(out.begin(), begin);
  at.push_back(wrap_index(n.load(OfGather::Indices, std::vector<Expr>(begin, end)), extent));
  at.insert(at.end(), end, out.end());
  std::vector<Expr> of_block = at;
  Expr& along = of_block[static_cast<size_t>(g.blocks)];
  along = floor_div(along, integer(g.size));
  Expr zero = integer(0, DType::i32);
  if (n.has(OfGather::ZeroPoints))
    zero = number_at(n, OfGather::ZeroPoints, of_block, g.each);
  else if (n.dtype(OfGather::Data) == DType::u8)
    zero = PackedBits(n).middle();
  const DType t = accumulator(n.out_dtype());
  const Expr x = cast(number_at(n, OfGather::Data, at, g.each) - zero, t) * cast(n.load(OfGather::Scales, of_block), t);
  const Expr y = select(inside(at[static_cast<size_t>(g.gather)], extent), x, cameo::zero(t));
  return Compute{{{out, cast(y, n.out_dtype())}}};
}

}  // namespace

Operator declare_microsoft_gather_block_quantized() {
  return {.name = "GatherBlockQuantized",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"data", DTypes(DType::u8, DType::u4, DType::i4)},
                     {"indices", kIndices},
                     {"scales", DTypes(DType::f32, DType::f16, DType::bf16)},
                     {"zero_points", DTypes(DType::u8, DType::u4, DType::i4), InputSpec::Optional, 0}},
          .outputs = {{"output"}},
          .attributes = {{"bits", 4}, {"block_size", 128}, {"gather_axis", 0}, {"quantize_axis", 1}},
          .infer = infer_gather_block_quantized,
          .meaning = gather_block_quantized};
}

}  // namespace cameo::ops
