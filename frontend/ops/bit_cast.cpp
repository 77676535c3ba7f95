// BitCast: the same bits read as another type of the same width.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/ops/conversion.h"

namespace cameo::ops {
namespace {

void infer_bit_cast(Infer& n) {
  const DType to = target_type(n);
  if (row(to).bits != row(n.dtype()).bits || to == DType::str || n.dtype() == DType::str)
    n.fail(Code::E0301,
           fmt::format("{} bits of {} as {} of {}", row(n.dtype()).bits, name(n.dtype()), row(to).bits, name(to)));
  n.output(0, to, n.shape());
}

Meaning bit_cast_meaning(const MeaningView& n) {
  Opaque kernel{"bit_cast"};
  kernel.numbers.push_back(product(n.shape()).extent());
  kernel.units = product(n.shape()).estimate();
  return kernel;
}

std::vector<Tensor> bit_cast_reference(const MeaningView& n, std::span<const Tensor> in) {
  Tensor y(n.out_dtype(), in[0].dims());
  std::ranges::copy(in[0].bytes(), y.mutable_bytes().begin());
  return {y};
}

}  // namespace

Operator declare_bit_cast() {
  return {.name = "BitCast",
          .since = {26},
          .inputs = {{"input"}},
          .attributes = {{"to", AttrKind::Int}},
          .infer = infer_bit_cast,
          .meaning = bit_cast_meaning,
          .reference = bit_cast_reference};
}

}  // namespace cameo::ops
