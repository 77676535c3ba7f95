// EmbedLayerNormalization: LayerNormalization of the sum of the embeddings of words, positions and segments; the sum,
// and how many keys the mask allows of each sequence, are outputs too.
#include "frontend/ops/microsoft/sequences.h"

namespace cameo::ops {
namespace {

Composite define_embed_layer_normalization(const NodeView& n) {
  enum Input { Words, Segments, WordTable, PositionTable, SegmentTable, Gamma, Beta, Mask, Positions };
  check_rank(n, Words, {2}, "[batch, sequence]");
  if (n.has(Segments) != n.has(SegmentTable)) n.fail(Code::E0203, "`segment_ids` and `segment_embedding` go together");
  Build b(n);
  const ValueId at = b.in(Positions) ? b.in(Positions) : positions(b, extent_of(b, b.in(Words), 1));
  ValueId sum = b.add(b.gather(b.in(WordTable), b.in(Words)), b.gather(b.in(PositionTable), at));
  if (b.in(Segments)) sum = b.add(sum, b.gather(b.in(SegmentTable), b.in(Segments)));
  const ValueId y = b.op("LayerNormalization", {sum, b.in(Gamma), b.in(Beta)},
                         {{"axis", int64_t{-1}}, {"epsilon", n.attr_float("epsilon")}});
  const ValueId counted = b.in(Mask) ? b.in(Mask) : b.mul(b.in(Words), b.like(b.in(Words), 0));
  return b.outputs({y, b.reduce("ReduceSum", counted, {1}, false), sum});
}

}  // namespace

Operator declare_microsoft_embed_layer_normalization() {
  constexpr DTypes kIds{DType::i32}, kTables{DType::f32, DType::f16};
  return {.name = "EmbedLayerNormalization",
          .domain = "com.microsoft",
          .since = {1},
          .inputs = {{"input_ids", kIds},
                     {"segment_ids", kIds, InputSpec::Optional},
                     {"word_embedding", kTables},
                     {"position_embedding", kTables, InputSpec::Required, 2},
                     {"segment_embedding", kTables, InputSpec::Optional, 2},
                     {"gamma", kTables, InputSpec::Required, 2},
                     {"beta", kTables, InputSpec::Required, 2},
                     {"mask", kIds, InputSpec::Optional},
                     {"position_ids", kIds, InputSpec::Optional}},
          .outputs = {{"output"}, {"mask_index", OutputSpec::Optional}, {"embedding_sum", OutputSpec::Optional}},
          .attributes = {{"epsilon", 1e-12f}, {"mask_index_type", AttrKind::Int}},
          .infer = infer_defined<define_embed_layer_normalization>,
          .meaning = defined<define_embed_layer_normalization>};
}

}  // namespace cameo::ops
