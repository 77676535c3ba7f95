// Between what callers have, in which elements of 4 and 2 bits share bytes, and what kernels work on, a byte each. No
// other kernel sees packed memory.
#include "frontend/ops/packed.h"
#include "optimizer/lower/lower_kernel.h"

namespace cameo {
namespace {

/// What the bytes of kernels hold: numbers, or codes of floats.
DType storage_of(DType t) { return is_float(t) ? DType::u8 : t; }

LoweredKernel nest_over(Expr points, DType to, DType from, const std::function<Expr(Expr)>& value,
                        const Target& target) {
  LoweredKernel l;
  Kernel& k = l.kernel;
  k.operands = {to, from};
  k.axes = {var(points)};
  k.stores.push_back({0, k.axes[0], boolean(true), value(k.axes[0])});
  choose_nest(k, target);
  return l;
}

}  // namespace

LoweredKernel lower_unpack(const Type& type, const Target& target) {
  const DType t = type.dtype;
  LoweredKernel l = nest_over(
      product(type.shape).extent(), storage_of(t), DType::u8,
      [&](Expr element) {
        const Expr at = floor_div(element, integer(elements_a_byte(t)));
        return ops::unpacked_element(read_at(1, DType::u8, at, boolean(true), zero(DType::u8)),
                                     mod(element, integer(elements_a_byte(t))), t);
      },
      target);
  l.kernel.title = "Unpack";
  return l;
}

LoweredKernel lower_pack(const Type& type, const Target& target) {
  const DType t = type.dtype, stored = storage_of(t);
  const Expr count = product(type.shape).extent(), mask = integer((1 << row(t).bits) - 1, DType::u8);
  LoweredKernel l = nest_over(
      packed_bytes(type).extent(), DType::u8, stored,
      [&](Expr byte) {
        Expr all = zero(DType::u8);
        for (int i = 0; i < elements_a_byte(t); ++i) {
          const Expr at = byte * integer(elements_a_byte(t)) + integer(i);
          const Expr element = read_at(1, stored, at, is_within(at, count), zero(stored));
          const Expr bits = apply(Op::BitAnd, {cast(element, DType::u8), mask});
          all = apply(Op::BitOr, {all, apply(Op::Shl, {bits, integer(i * row(t).bits, DType::u8)})});
        }
        return all;
      },
      target);
  l.kernel.title = "Pack";
  return l;
}

Dim packed_bytes(const Type& type) {
  const Dim count = product(type.shape);
  return is_packed(type.dtype) ? (count * row(type.dtype).bits + 7) / 8 : count * byte_size(type.dtype);
}

}  // namespace cameo
