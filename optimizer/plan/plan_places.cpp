// Where values stand: a buffer, a weight, inside of another value; and the copies for readers that want another layout.
#include <fmt/format.h>

#include <algorithm>

#include "optimizer/plan/planner.h"

namespace cameo {

std::string text_of(const Value& v) {
  constexpr size_t kMost = 100;  // bytes of a name, which may be of any length
  return fmt::format("{} {}", v.name.empty() ? "(no name)" : v.name.substr(0, kMost), to_string(v.type));
}

Place Planner::new_buffer(Dim bytes, std::string held) {
  const bool open = bytes.upper() == kOpen;
  plan_.buffers.push_back({open ? 0 : std::max<int64_t>(bytes.upper(), 1), now(), now(), 0, std::move(held)});
  if (open) plan_.buffers.back().size = simplify_index(max(bytes.extent(), integer(1)));
  int b = static_cast<int>(plan_.buffers.size()) - 1;
  return {{Base::Arena, static_cast<uint32_t>(b), 0}, {b}};  // the number is the buffer's until it is placed
}

const Ref& Planner::use(const Place& p) {
  for (int b : p.buffers) plan_.buffers[b].last = std::max(plan_.buffers[b].last, now());
  return p.ref;
}

Place Planner::place_of(Frame& f, ValueId v) {
  if (f.places[v.index]) return *f.places[v.index];
  const Value& value = f.g[v];
  if (value.constant) return {{Base::Weights, 0, weights_.add(value.constant)}, {}};
  const auto alias = f.layouts.aliases.find(v);
  CAMEO_CHECK(alias != f.layouts.aliases.end(), "a value that was planned before its user");
  Place from = place_of(f, alias->second.of);
  from.ref.offset += alias->second.offset * byte_size(value.type.dtype);
  f.places[v.index] = from;
  return from;
}

namespace {
/// Whether what stands around the value, as it was made, is what the operand wants there.
bool has_its_border(const Layouts& layouts, const Operand& o) {
  const auto wide = layouts.haloed.find(o.value);
  return !has_halo(o) || (wide != layouts.haloed.end() && covers(wide->second, o));
}
}  // namespace

Place Planner::place_operand(Frame& f, const Operand& o) {
  const Value& value = f.g[o.value];
  if (value.constant) return {{Base::Weights, 0, weights_.add(constants_.get(value.constant, o))}, {}};
  if (o.layout == f.layouts[o.value.index] && has_its_border(f.layouts, o)) return place_of(f, o.value);
  const uint32_t border = has_halo(o) && o.border_value ? o.border_value.id() : 0;
  const auto key = std::tuple(o.value, to_string(o.layout), border);
  if (auto it = f.relayouts.find(key); it != f.relayouts.end()) return it->second;
  Place to = new_buffer(o.layout.elements * byte_size(value.type.dtype), value.name);
  relayout(f, o, to);
  f.relayouts[key] = to;
  return to;
}

void Planner::relayout(Frame& f, const Operand& o, const Place& to) {
  LoweredKernel l = lower_relayout(f.g, f.layouts, o, plan_.target);
  l.kernel.title = "Relayout";
  l.kernel.held.assign(2, text_of(f.g[o.value]));
  NodeId n = f.g[o.value].producer;
  l.kernel.provenance = n ? f.g[n].provenance : reader_;  // an input is relaid for the first node that reads it
  if (has_halo(o)) add_border(f, o, to);
  push_kernel(std::move(l.kernel), {to, place_of(f, o.value)}, {});
}

Place Planner::unpack(const Frame& f, ValueId v, const Place& from) {
  const Type& type = f.g.type(v);
  Place to = new_buffer(bytes_of(type), f.g[v].name);
  LoweredKernel l = lower_unpack(type, plan_.target);
  l.kernel.held.assign(2, text_of(f.g[v]));
  push_kernel(std::move(l.kernel), {to, from}, {});
  return to;
}

void Planner::pack(Frame& f, ValueId v, const Place& to) {
  LoweredKernel l = lower_pack(f.g.type(v), plan_.target);
  l.kernel.held.assign(2, text_of(f.g[v]));
  if (const NodeId n = f.g[v].producer) l.kernel.provenance = f.g[n].provenance;
  const Place from = place_plain(f, v);
  push_kernel(std::move(l.kernel), {to, from}, {});
}

Place Planner::place_output(Frame& f, ValueId v) {
  if (f.places[v.index]) return *f.places[v.index];
  if (auto window = f.layouts.windows.find(v); window != f.layouts.windows.end()) {
    f.places[v.index] = place_output(f, window->second);
  } else {
    f.places[v.index] = new_buffer(f.layouts[v.index].elements * byte_size(f.g.type(v).dtype), f.g[v].name);
    if (auto halo = f.layouts.haloed.find(v);
        halo != f.layouts.haloed.end() && halo->second.layout == f.layouts[v.index])
      add_border(f, halo->second, *f.places[v.index]);
  }
  return *f.places[v.index];
}

void Planner::add_border(const Frame& f, const Operand& o, const Place& to) {
  for (LoweredKernel& l : lower_border(f.g, o, plan_.target)) {
    l.kernel.provenance = reader_;
    l.kernel.held = {text_of(f.g[o.value])};
    push_kernel(std::move(l.kernel), {to}, {});
  }
}

}  // namespace cameo
