// pack_constants: constants of 4- and 2-bit elements, which stand a byte each in tensors and in kernels, become the
// bytes that several of them share, and an Unpack that joins what reads them: so they ship.
#include "frontend/ir/operator.h"
#include "optimizer/pipeline.h"

namespace cameo {
namespace {

/// As Unpack has them.
Tensor in_shared_bytes(const Tensor& t) {
  const size_t count = packed_bytes(t.dtype(), t.size());
  const int bits = row(t.dtype()).bits, mask = (1 << bits) - 1;
  Tensor bytes(DType::u8, {static_cast<int64_t>(count)});
  const std::span<const uint8_t> from = t.as<uint8_t>();
  const std::span<uint8_t> to = bytes.mutable_as<uint8_t>();
  for (size_t i = 0; i < from.size(); ++i)
    to[i % count] |= static_cast<uint8_t>((from[i] & mask) << static_cast<int>(i / count) * bits);
  return bytes;
}

ValueId packed_value(Graph& into, const Tensor& t, const std::string& name, const Provenance& provenance) {
  const ValueId v = into.constant(in_shared_bytes(t), name);
  return into.add(get_operator("Unpack", "cameo"), {v}, {{"to", static_cast<int64_t>(t.dtype())}, {"shape", t.dims()}},
                  provenance)[0];
}

}  // namespace

Graph pack_constants(const Graph& g, PassContext& context) {
  return replay(g, [&](Graph& into, const Node& n, std::span<const ValueId> in) -> std::optional<std::vector<ValueId>> {
    if (!n.bodies.empty()) return std::nullopt;
    std::vector<ValueId> inputs(in.begin(), in.end());
    for (ValueId& v : inputs) {
      if (!v || !into[v].constant || !is_packed(into.type(v).dtype)) continue;
      const Constant c = into[v].constant;
      if (c->size() >= kMostUnpacked && context.apply("pack_constant", into, n.provenance))
        v = packed_value(into, *c, into[v].name, n.provenance);
    }
    if (std::ranges::equal(inputs, in)) return std::nullopt;
    return into.add(*n.op, std::move(inputs), n.attrs, n.provenance, n.version, static_cast<int>(n.outputs.size()));
  });
}

}  // namespace cameo
