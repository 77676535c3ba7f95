// Unpack, of cameo's own: a tensor of 4- or 2-bit elements out of bytes that several of them share, which is how such
// weights ship. The lowest bits of all bytes are its first elements, row by row, the bits above the next ones: so what
// neighbours are in the tensor, neighbouring bytes hold, and vectors read.
#include <fmt/format.h>

#include "frontend/ops/flat.h"
#include "frontend/ops/operands.h"
#include "frontend/ops/packed.h"

namespace cameo::ops {
namespace {

DType type_made(const NodeView& n) {
  const int64_t t = n.attr_int("to");
  if (t < 0 || t >= kDTypeCount || !is_packed(static_cast<DType>(t)))
    n.fail(Code::E0204, fmt::format("`to` is {}, which is no type of 4 or 2 bits", t));
  return static_cast<DType>(t);
}

void infer_unpack(Infer& n) {
  const DType t = type_made(n);
  const std::vector<int64_t> dims = n.attr_ints("shape");
  const auto count = element_count(dims);
  if (!count) n.fail(Code::E0204, "`shape` makes no size");
  check_shape(n, 0, {Dim(static_cast<int64_t>(packed_bytes(t, *count)))}, "the bytes of its elements");
  n.output(0, t, shape_of(dims));
}

/// What a code of f4e2m1 stands for: 0, 0.5, 1, 1.5, 2, 3, 4, 6, and the same with a sign.
Expr value_of_code(Expr code) {
  const Expr c = cast(code, DType::f32), eight = like(c, 8);
  const Expr is_negative = ge(c, eight), m = select(is_negative, c - eight, c);
  const Expr large = select(lt(m, like(m, 6)), m - 2, m * 2 - 8), value = select(lt(m, like(m, 4)), m * 0.5, large);
  return cast(select(is_negative, -value, value), DType::f4e2m1);
}

Meaning unpack(const MeaningView& n) {
  const DType t = n.out_dtype();
  OutputExpr out{n.index(), {}};
  const Expr number = flatten(out.index, n.out_type().shape), bytes = n.dim(0, 0).extent();
  const Expr byte = n.load(0, {simplify_index(mod(number, bytes))});
  const Expr element = unpacked_element(byte, simplify_index(floor_div(number, bytes)), t);
  out.value = is_float(t) ? value_of_code(element) : element;
  return Compute{{out}};
}

}  // namespace

Operator declare_unpack() {
  return {.name = "Unpack",
          .domain = "cameo",
          .since = {1},
          .inputs = {{"bytes", DTypes(DType::u8)}},
          .attributes = {{"to", AttrKind::Int}, {"shape", AttrKind::Ints}},
          .infer = infer_unpack,
          .meaning = unpack,
          .foldable = false};  // what it would become is what it saves
}

}  // namespace cameo::ops
