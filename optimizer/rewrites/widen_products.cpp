// widen_products: a product of 16-bit floats, where the target has none, is one of f32 between casts, as its definition
// says. The casts join what makes the operands and what reads the result, and constant weights stay 16 bits wide: the
// kernel widens them as it reads.
#include <algorithm>
#include <map>

#include "frontend/ir/operator.h"
#include "optimizer/pipeline.h"

namespace cameo {
namespace {

bool is_product(const Node& n) {
  constexpr std::string_view kProducts[] = {"Conv", "ConvTranspose", "Gemm", "MatMul"};
  return std::ranges::find(kProducts, n.op->name) != std::end(kProducts);
}

ValueId cast(Graph& g, ValueId v, DType to, const Provenance& o) {
  return g.add(get_operator("Cast"), {v}, {{"to", static_cast<int64_t>(to)}}, o)[0];
}

}  // namespace

Graph widen_products(const Graph& g, PassContext& context) {
  std::map<std::pair<uint64_t, ValueId>, ValueId> widened;  // by graph; bodies are graphs too
  auto widen = [&](Graph& into, ValueId v, const Provenance& o) {
    if (!v) return v;
    if (into[v].constant) return cast(into, v, DType::f32, o);  // each reader reads it for itself
    ValueId& wide = widened[{into.serial(), v}];
    if (!wide) wide = cast(into, v, DType::f32, o);
    return wide;
  };
  return replay(g, [&](Graph& into, const Node& n, std::span<const ValueId> in) -> std::optional<std::vector<ValueId>> {
    if (!is_product(n)) return std::nullopt;
    const DType narrow = into.type(in[0]).dtype;
    if ((narrow != DType::f16 && narrow != DType::bf16) || context.target.has_products_of(narrow)) return std::nullopt;
    if (!context.apply("widen_product", into, n.provenance)) return std::nullopt;
    std::vector<ValueId> wide;
    for (ValueId v : in) wide.push_back(widen(into, v, n.provenance));
    ValueId y = into.add(*n.op, std::move(wide), n.attrs, n.provenance, n.version)[0];
    return std::vector<ValueId>{cast(into, y, narrow, n.provenance)};
  });
}

}  // namespace cameo
