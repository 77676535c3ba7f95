// What a GPU's plan leaves to the processor: operators that have no body for GPUs, and nodes that the user names.
#include <algorithm>

#include "optimizer/choose/family.h"
#include "optimizer/plan/planner.h"

namespace cameo {

bool Planner::runs_on_host(const Graph& g, const Cluster& c) const {
  if (!plan_.target.host_beside) return false;
  return std::ranges::any_of(c.nodes, [&](NodeId n) {
    const Meaning& meaning = meaning_of(g, g[n]);
    const auto* opaque = std::get_if<Opaque>(&meaning);
    const auto is_named = [&](uint32_t source) {
      return source < g.sources().size() &&
             std::ranges::any_of(on_host_, [&](const auto& s) { return is_called(g.sources()[source], s); });
    };
    return (opaque && opaque->host_only) || std::ranges::any_of(g[n].provenance, is_named);
  });
}

namespace {
bool writes_all(const Kernel& k, uint32_t operand, const Layout& layout) {
  const auto is_whole = [&](const Store& s) {
    return s.operand == operand && s.guard.is_const(1) && is_static(layout.pitch) && layout.elements.is_static() &&
           points_of(k.axes) == layout.elements.value();
  };
  return k.family->writes_once() && std::ranges::any_of(k.stores, is_whole);
}
}  // namespace

void Planner::push_host_kernel(const Graph& g, Kernel k, const std::vector<Operand>& operands,
                               const std::vector<Place>& at, const std::vector<ValueId>& written) {
  std::vector<Place> down;
  std::vector<Dim> bytes;
  int64_t end = 0;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Operand& o = operands[i];
    const Value& value = g[o.value];
    const int64_t size = byte_size(value.type.dtype);
    bytes.push_back((o.packing ? Dim(o.packing->elements()) : o.layout.elements) * size);
    if (bytes[i].upper() == kOpen) {
      down.push_back(new_buffer(bytes[i], value.name));
      plan_.buffers.back().on_host = true;
    } else {
      down.push_back({{Base::Host, 0, end}, {}});
      end += whole_lines(bytes[i].upper());
    }
    if (!writes_all(k, static_cast<uint32_t>(i), o.layout)) copy(down[i], at[i], bytes[i], k.provenance);
  }
  plan_.host_bytes = std::max(plan_.host_bytes, end);
  k.on_host = true;
  const Kernel stored = k;
  push_kernel(std::move(k), down, written);
  for (uint32_t i = 0; i < operands.size(); ++i)
    if (stored.family->writes(stored, i)) copy(at[i], down[i], bytes[i], stored.provenance);
}

}  // namespace cameo
