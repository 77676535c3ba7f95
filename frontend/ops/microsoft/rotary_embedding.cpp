// RotaryEmbedding of com.microsoft: ai.onnx's, with a position for each element, or the first one's alone.
#include "frontend/ops/microsoft/sequences.h"

namespace cameo::ops {
namespace {

Composite define_rotary_embedding(const NodeView& n) {
  enum Input { X, Positions, Cos, Sin };
  check_rank(n, X, {3, 4}, "[batch, sequence, hidden] or [batch, heads, sequence, size]");
  check_rank(n, Positions, {1, 2}, "the first position, or [batch, sequence]");
  check_rank(n, Cos, {2}, "an angle for each pair of a head, at each position");
  if (n.attr_int("is_packed_batching")) refuse(n, "with `is_packed_batching`");
  Build b(n);
  const int sequence = n.rank(X) - 2;
  ValueId at = b.in(Positions);
  if (n.rank(Positions) == 1) {
    const ValueId dims =
        b.concat({b.slice(b.op("Shape", {b.in(X)}), 0, 0, 1), b.unsqueeze(extent_of(b, b.in(X), sequence), {0})}, 0);
    at = b.op("Expand", {b.add(positions(b, extent_of(b, b.in(X), sequence)), at), dims});
  }
  const Dim turned = n.dim(Cos, 1) * Dim(2);
  const int64_t part = n.attr_int("rotary_embedding_dim");
  Attrs attrs{{"interleaved", n.attr_int("interleaved")}, {"rotary_embedding_dim", part}};
  if (n.rank(X) == 3) {
    if (!turned.is_static() || (!part && !n.dim(X, 2).is_static()))
      n.fail(Code::E0404, "heads and their size must be known when compiling");
    attrs.emplace("num_heads", part ? n.attr_int("num_heads") : (n.dim(X, 2) / turned).value());
  }
  return b.outputs({b.op("RotaryEmbedding", {b.in(X), b.in(Cos), b.in(Sin), at}, std::move(attrs))});
}

}  // namespace

Operator declare_microsoft_rotary_embedding() {
  constexpr DTypes kTypes{DType::f32, DType::f16, DType::bf16};
  return {.name = "RotaryEmbedding",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"input", kTypes},
                     {"position_ids", kInt64},
                     {"cos_cache", kTypes, InputSpec::Required, 0},
                     {"sin_cache", kTypes, InputSpec::Required, 0}},
          .outputs = {{"output"}},
          .attributes = {{"interleaved", 0},
                         {"is_packed_batching", 0},
                         {"num_heads", 0},
                         {"rotary_embedding_dim", 0},
                         {"scale", AttrKind::Float}},
          .infer = infer_defined<define_rotary_embedding>,
          .meaning = defined<define_rotary_embedding>};
}

}  // namespace cameo::ops
