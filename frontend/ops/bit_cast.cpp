// BitCast: the same bits read as another type of the same width.
#include <fmt/format.h>

#include "frontend/ops/conversion.h"
#include "frontend/ops/same_bytes.h"

namespace cameo::ops {
namespace {

void infer_bit_cast(Infer& n) {
  const DType to = target_type(n);
  if (row(to).bits != row(n.dtype()).bits || to == DType::str || n.dtype() == DType::str)
    n.fail(Code::E0301,
           fmt::format("{} bits of {} as {} of {}", row(n.dtype()).bits, name(n.dtype()), row(to).bits, name(to)));
  n.output(0, to, n.shape());
}

}  // namespace

Operator declare_bit_cast() {
  return {.name = "BitCast",
          .since = {26},
          .inputs = {{"input"}},
          .attributes = {{"to", AttrKind::Int}},
          .infer = infer_bit_cast,
          .meaning = same_bytes,
          .reference = same_bytes_reference};
}

}  // namespace cameo::ops
