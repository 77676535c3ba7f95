// RotaryEmbedding: pairs of elements of each head turn by the angle of their position: y = cos * x + (+-sin) * partner,
// where the second of a pair adds and the first subtracts. Pairs are neighbours (interleaved) or stand half a head
// apart.
#include <fmt/format.h>

#include "frontend/ops/operands.h"

namespace cameo::ops {
namespace {

struct Heads {
  Dim size;      // of a head
  Expr rotated;  // its leading part that turns
};
Heads heads(const NodeView& n) {
  Dim size = n.dim(0, -1);
  if (n.rank() == 3) {
    int64_t count = count_attr(n, "num_heads");
    if (!n.divides(count, size))
      n.fail(Code::E0302, fmt::format("{} does not divide into {} heads", to_string(n.type(0)), count));
    size = size / Dim(count);
  }
  int64_t part = n.attr_int("rotary_embedding_dim");
  if (part < 0 || !n.fits(part, size))
    n.fail(Code::E0204, fmt::format("`rotary_embedding_dim` is {} of heads of {}", part, to_string(size)));
  return {size, part ? integer(part) : size.extent()};
}

void infer_rotary_embedding(Infer& n) {
  if (n.rank() != 3 && n.rank() != 4)
    n.fail(Code::E0302, fmt::format("X is {}, it must have rank 3 or 4", to_string(n.type(0))));
  Dim batch = n.dim(0, 0), length = n.dim(0, -2), half(floor_div(heads(n).rotated, integer(2)));
  for (int i = 1; i < 3; ++i) {
    Shape turns = n.has(3) ? Shape{n.rank(i) ? n.shape(i)[0] : Dim(0), half} : Shape{batch, length, half};
    check_shape(n, i, turns, "an angle for each pair of a head that turns, at each position");
  }
  check_shape(n, 3, {batch, length}, "a position for each element of a sequence");
  for (int i = 1; n.has(3) && i < 3; ++i) check_indices(n, 3, n.shape(i)[0]);
  n.output(0, n.type(0));
}

Meaning rotary_embedding(const MeaningView& n) {
  auto out = n.index();
  bool flat = n.rank() == 3, interleaved = n.attr_int("interleaved");
  Heads h = heads(n);
  DType t = accumulator(n.dtype());
  Expr batch = out[0], position = flat ? out[1] : out[2], size = h.size.extent();
  Expr d = flat ? mod(out[2], size) : out[3], first_of_head = out.back() - d;
  Expr half = floor_div(h.rotated, integer(2)), two = integer(2);
  Expr second = interleaved ? eq(mod(d, two), integer(1)) : le(half, d);
  Expr pair = interleaved ? floor_div(d, two) : select(second, d - half, d);
  Expr step = interleaved ? integer(1) : half;
  auto at = out;
  at.back() = first_of_head + select(second, d - step, d + step);
  auto angle = [&](int input) {
    if (!n.has(3)) return cast(n.load(input, {batch, position, pair}), t);
    Expr row = wrap_index(n.load(3, {batch, position}), n.shape(input)[0]);
    return cast(n.load_checked(input, std::vector<Expr>{row, min(pair, n.dim(input, 1).extent() - integer(1))}), t);
  };
  Expr x = cast(n.load(0, out), t), partner = cast(n.load(0, at), t), s = angle(2);
  Expr turned = angle(1) * x + select(second, s, -s) * partner;
  return Compute{{{out, cast(select(lt(d, h.rotated), turned, x), n.dtype())}}};
}

}  // namespace

Operator declare_rotary_embedding() {
  return {.name = "RotaryEmbedding",
          .since = {23},
          .inputs = {{"X", kFloats},
                     {"cos_cache", kFloats, InputSpec::Required, 0},
                     {"sin_cache", kFloats, InputSpec::Required, 0},
                     {"position_ids", kInt64, InputSpec::Optional}},
          .attributes = {{"interleaved", 0}, {"num_heads", AttrKind::Int}, {"rotary_embedding_dim", 0}},
          .infer = infer_rotary_embedding,
          .meaning = rotary_embedding};
}

}  // namespace cameo::ops
