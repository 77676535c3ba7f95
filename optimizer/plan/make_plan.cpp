// make_plan: clusters become kernels and steps, in order; every value gets a layout and a place, and a kernel that
// would only move bytes to where they are already is none.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/check.h"
#include "optimizer/choose/choose.h"
#include "optimizer/clusters/clusters.h"
#include "optimizer/plan/planner.h"
#include "optimizer/plan/verify_plan.h"
#include "optimizer/verify.h"

namespace cameo {
namespace {

std::string title_of(const Graph& g, const Cluster& c) {
  std::string s;
  for (NodeId n : c.nodes) s += (s.empty() ? "" : " + ") + std::string(g[n].op->name);
  return s;
}

bool fuses(const Graph& g, const Cluster& c) {
  if (c.nodes.size() > 1) return true;
  Meaning m = meaning_of(g, g[c.nodes[0]]);
  return std::holds_alternative<Compute>(m) || std::holds_alternative<View>(m);
}

/// The value whose bytes `v` is made of, when every cluster in between only hands them on from their beginning.
ValueId root_of(const LoweredGraph& f, ValueId v) {
  for (auto it = f.maker.find(v); it != f.maker.end(); it = f.maker.find(v)) {
    const auto& l = f.lowered[it->second];
    if (alias_of(l) != 0) break;
    v = l[0].operands[1].value;
  }
  return v;
}

bool is_compact(const LoweredGraph& f, ValueId v) {
  return is_row_major(f.layouts[v.index], extents(f.g.type(v).shape));
}

/// Of an empty output: there is nothing to run.
bool has_no_points(const Kernel& k) {
  return std::ranges::any_of(k.axes, [](Expr axis) { return axis.extent().is_const(0); });
}

void check_types(const Graph& g, const Node& n) {
  for (ValueId v : n.inputs) {
    if (!v) continue;
    if (const Type& t = g.type(v); t.kind != Kind::Tensor || !runs(t.dtype))
      throw CompileError(
          Code::E0403, fmt::format("`{}` reads {}, a type that cannot be computed with yet", n.op->name, to_string(t)));
  }
  for (ValueId v : n.outputs) {
    if (!v) continue;
    const Type& t = g.type(v);
    if (t.kind != Kind::Tensor || !runs(t.dtype))
      throw CompileError(
          Code::E0403, fmt::format("`{}` makes {}, a type that cannot be computed with yet", n.op->name, to_string(t)));
    if (!is_static(t.shape))
      throw CompileError(Code::E0404, fmt::format("the shape of an output of `{}` is not known when compiling: {}",
                                                  n.op->name, to_string(t)));
  }
}

std::string text_of(const Value& v) {
  constexpr size_t kMost = 100;  // bytes of a name, which may be of any length
  return fmt::format("{} {}", v.name.empty() ? "(no name)" : v.name.substr(0, kMost), to_string(v.type));
}

}  // namespace

void Planner::plan_root(const Graph& g) {
  std::vector<Place> inputs, outputs;
  for (uint32_t i = 0; i < g.inputs().size(); ++i) inputs.push_back({{Base::Input, i, 0}, {}});
  for (uint32_t i = 0; i < g.outputs().size(); ++i) outputs.push_back({{Base::Output, i, 0}, {}});
  root_ = &g;
  plan_graph(g, inputs, outputs);
  if (diagnostics_.has_errors()) return;
  share_kernels(plan_, weights_);
  overwrite_operands(plan_);
  plan_.arena_bytes = place_buffers(plan_.buffers);
  auto place = [&](Ref& r) {
    if (r.base == Base::Arena) r = {Base::Arena, 0, r.offset + plan_.buffers[r.number].offset};
  };
  for (Step& s : plan_.steps) std::ranges::for_each(s.refs, place);
  for (Tap& t : plan_.taps) place(t.at);
  note_alignment(plan_);
}

Place Planner::new_buffer(int64_t bytes, std::string held) {
  plan_.buffers.push_back({std::max<int64_t>(bytes, 1), now(), now(), 0, std::move(held)});
  int b = static_cast<int>(plan_.buffers.size()) - 1;
  return {{Base::Arena, static_cast<uint32_t>(b), 0}, {b}};  // the number is the buffer's until it is placed
}

const Ref& Planner::use(const Place& p) {
  for (int b : p.buffers) plan_.buffers[b].last = std::max(plan_.buffers[b].last, now());
  return p.ref;
}

Step& Planner::push(StepKind kind, std::vector<Ref> refs, const Origin& origin) {
  plan_.steps.push_back({});
  Step& s = plan_.steps.back();
  s.kind = kind;
  s.refs = std::move(refs);
  s.origin = origin;
  return s;
}

void Planner::copy(const Place& to, const Place& from, int64_t bytes, const Origin& origin) {
  if (to.ref == from.ref || bytes == 0) return;
  Ref dst = use(to), src = use(from);
  push(StepKind::Copy, {dst, src}, origin).bytes = bytes;
}

Planner::Frame Planner::open_frame(const Graph& g) {
  std::vector<FusedCluster> clusters;
  Places places(g.values().size());
  for (Cluster& c : form_clusters(g, plan_.target)) {
    FusedCluster fused{std::move(c), {}};
    fused.cluster.on_host = runs_on_host(g, fused.cluster);
    guarded(g, fused.cluster, places, [&] {
      for (NodeId n : fused.cluster.nodes) check_types(g, g[n]);
      if (fuses(g, fused.cluster)) fused.outputs = fuse(g, fused.cluster);
    });
    clusters.push_back(std::move(fused));
  }
  if (diagnostics_.has_errors()) return {{g, {}, {}, {}, {}, {}}, {}, {}};  // unknown extents have no layout
  Frame f{lower_graph(g, std::move(clusters), plan_.target), std::move(places), {}};
  require_sound(verify_layouts(g, f.layouts.made), "layouts");
  return f;
}

void Planner::guarded(const Graph& g, const Cluster& c, Places& places, const std::function<void()>& work) {
  try {
    work();
  } catch (CompileError& e) {
    if (e.diagnostic.node.empty()) e.diagnostic.node = where(g.sources(), g[c.nodes.back()].origin);
    diagnostics_.add(e.diagnostic);
    for (NodeId n : c.nodes)
      for (ValueId v : g[n].outputs)
        if (v && !places[v.index]) places[v.index] = new_buffer(1, {});
  }
}

void Planner::plan_graph(const Graph& g, const std::vector<Place>& inputs, const std::vector<Place>& outputs) {
  Frame f = open_frame(g);
  if (diagnostics_.has_errors()) return;
  for (size_t i = 0; i < inputs.size(); ++i) f.places[g.inputs()[i].index] = inputs[i];
  std::vector<bool> written(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {  // values that a kernel can write where the output wants them
    ValueId v = g.outputs()[i].value, root = root_of(f, v);
    bool whole = is_compact(f, v) && f.layouts[root.index].elements == f.layouts[v.index].elements;
    if (!whole || g[root].constant || !g[root].producer || f.places[root.index] || !g[g[root].producer].bodies.empty())
      continue;
    f.places[root.index] = outputs[i];
    written[i] = true;
  }
  for (size_t c = 0; c < f.clusters.size(); ++c)
    guarded(g, f.clusters[c].cluster, f.places, [&] { plan_cluster(f, c); });
  for (size_t i = 0; i < outputs.size(); ++i) {
    ValueId v = g.outputs()[i].value;
    if (written[i] || g.type(v).kind != Kind::Tensor || !is_static(g.type(v).shape)) continue;
    if (is_compact(f, v))
      copy(outputs[i], place_of(f, v), bytes_of(g.type(v)), {});
    else
      relay(f, plain_operand(f.g, v), outputs[i]);
  }
}

Place Planner::place_of(Frame& f, ValueId v) {
  if (f.places[v.index]) return *f.places[v.index];
  const Value& value = f.g[v];
  if (value.constant) return {{Base::Weights, 0, weights_.add(value.constant)}, {}};
  const auto& l = f.lowered[f.maker.at(v)];
  CAMEO_CHECK(alias_of(l), "a value that was planned before its user");
  Place from = place_of(f, l[0].operands[1].value);
  from.ref.offset += *alias_of(l) * byte_size(value.type.dtype);
  f.places[v.index] = from;
  return from;
}

Place Planner::place_operand(Frame& f, const Operand& o) {
  const Value& value = f.g[o.value];
  if (value.constant) return {{Base::Weights, 0, weights_.add(constants_.get(value.constant, o))}, {}};
  if (o.layout == f.layouts[o.value.index]) return place_of(f, o.value);
  auto key = std::pair(o.value, to_string(o.layout));
  if (auto it = f.relays.find(key); it != f.relays.end()) return it->second;
  Place to = new_buffer(o.layout.elements * byte_size(value.type.dtype), value.name);
  relay(f, o, to);
  f.relays[key] = to;
  return to;
}

void Planner::relay(Frame& f, const Operand& o, const Place& to) {
  LoweredKernel l = lower_relay(f.g, f.layouts, o, plan_.target);
  l.kernel.title = "Relay";
  l.kernel.held.assign(2, text_of(f.g[o.value]));
  NodeId n = f.g[o.value].producer;
  l.kernel.origin = n ? f.g[n].origin : reader_;  // an input is relaid for the first node that reads it
  if (has_halo(o)) add_border(f, o, to);
  push_kernel(std::move(l.kernel), {to, place_of(f, o.value)}, {});
}

Place Planner::place_output(Frame& f, ValueId v) {
  if (f.places[v.index]) return *f.places[v.index];
  if (auto window = f.windows.find(v); window != f.windows.end()) {
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
    l.kernel.origin = reader_;
    l.kernel.held = {text_of(f.g[o.value])};
    push_kernel(std::move(l.kernel), {to}, {});
  }
}

void Planner::plan_cluster(Frame& f, size_t number) {
  const FusedCluster& c = f.clusters[number];
  if (const Parts& parts = f.lowered[number]; !parts.empty()) {
    ValueId v = c.cluster.outputs[0];
    if (alias_of(parts) && !f.places[v.index]) return;  // place_of finds the bytes
    return add_parts(f, c.cluster, v, parts);
  }
  if (!c.outputs.empty()) {  // several outputs: a kernel each
    for (size_t i = 0; i < c.outputs.size(); ++i) {
      ValueId v = c.cluster.outputs[i];
      if (product(f.g.type(v).shape).is_static(0))
        place_output(f, v);
      else
        add_parts(f, c.cluster, v, lower_output(f, v, c.outputs[i], machine_of(c.cluster.on_host, plan_.target)));
    }
    return;
  }
  const Node& n = f.g[c.cluster.nodes[0]];
  Meaning m = meaning_of(f.g, n);
  if (auto* control = std::get_if<Control>(&m)) return control->form == Control::Loop ? plan_loop(f, n) : plan_if(f, n);
  if (std::holds_alternative<Compute>(m) || std::holds_alternative<View>(m)) return;  // reported when it was fused
  plan_node(f, c.cluster, n, m);
}

void Planner::plan_node(Frame& f, const Cluster& c, const Node& n, const Meaning& m) {
  const Target& machine = machine_of(c.on_host, plan_.target);
  auto kernel = choose_kernel(NodeProblem{f.g, f.layouts, n, m, machine});
  if (!kernel)
    throw CompileError(Code::E0402,
                       fmt::format("`{}` has no kernel yet: its output's size depends on data", n.op->name));
  if (auto* s = std::get_if<Scatter>(&m)) {
    const OutputExpr start{s->start.index, on_values(n, s->start.value)};
    add_kernel(f, c, choose_kernel(Problem{f.g, f.layouts, n.outputs[0], {start, start.index}, machine}));
  }
  add_kernel(f, c, std::move(*kernel));
}

void Planner::add_parts(Frame& f, const Cluster& c, ValueId v, const Parts& parts) {
  for (const LoweredKernel& l : parts) {
    auto window = l.copies_to ? f.windows.find(l.operands[1].value) : f.windows.end();
    bool stands_there = window != f.windows.end() && window->second == v &&
                        layout_within(*l.copies_to, f.layouts[v.index]) == f.layouts[window->first.index];
    if (!stands_there) add_kernel(f, c, l);
  }
}

void Planner::add_kernel(Frame& f, const Cluster& c, LoweredKernel l) {
  for (NodeId n : c.nodes) l.kernel.origin = merge(l.kernel.origin, f.g[n].origin);
  reader_ = l.kernel.origin;
  l.kernel.title = title_of(f.g, c);
  for (const Operand& o : l.operands) l.kernel.held.push_back(text_of(f.g[o.value]));
  std::vector<Place> at;
  for (const Operand& o : l.operands) {
    bool output = std::find(c.outputs.begin(), c.outputs.end(), o.value) != c.outputs.end();
    at.push_back(output ? place_output(f, o.value) : place_operand(f, o));
  }
  if (has_no_points(l.kernel)) return;
  if (c.on_host)
    push_host_kernel(f.g, std::move(l.kernel), l.operands, at, c.outputs);
  else
    push_kernel(std::move(l.kernel), at, c.outputs);
  for (size_t i = 0; i < at.size(); ++i)
    if (std::ranges::find(c.outputs, l.operands[i].value) != c.outputs.end()) tap(f.g, l.operands[i], at[i]);
}

void Planner::tap(const Graph& g, const Operand& o, const Place& at) {
  const Value& v = g[o.value];
  if (&g != root_ || v.name.empty()) return;
  std::erase_if(plan_.taps, [&](const Tap& t) { return t.name == v.name; });
  Ref ref = at.ref;
  ref.offset += o.layout.origin * byte_size(v.type.dtype);
  plan_.taps.push_back({now() - 1, ref, v.name, v.type.dtype, extents(v.type.shape), o.layout.pitch});
}

void Planner::push_kernel(Kernel k, const std::vector<Place>& at, const std::vector<ValueId>& written) {
  if (has_no_points(k)) return;
  std::vector<Ref> refs;
  for (const Place& p : at) refs.push_back(use(p));
  const std::vector<int64_t> origins = take_origins(k);
  for (size_t i = 0; i < refs.size(); ++i) refs[i].offset += origins[i] * byte_size(k.operands[i]);
  Origin origin = k.origin;
  const int chunks = k.family->chunks(k, machine_of(k.on_host, plan_.target));
  plan_.scratch_bytes = std::max(plan_.scratch_bytes, k.scratch_bytes);
  uint32_t number = kernels_.intern(std::move(k));
  Step& s = push(StepKind::Kernel, std::move(refs), origin);
  s.kernel = number;
  s.chunks = chunks;
  s.written = written;
}

Plan make_plan(const Graph& g, const Target& target, WeightPool& weights, Diagnostics& diagnostics,
               const std::vector<std::string>& on_host) {
  Plan plan;
  plan.target = target;
  Planner(plan, weights, diagnostics, on_host).plan_root(g);
  if (!diagnostics.has_errors()) require_sound(verify_plan(plan, interface_of(g), weights.bytes), "the plan");
  return plan;
}

Interface interface_of(const Graph& g) {
  Interface io;
  for (ValueId v : g.inputs()) io.inputs.push_back({g[v].name, g.type(v)});
  for (const Port& p : g.outputs()) io.outputs.push_back({p.name, g.type(p.value)});
  return io;
}

}  // namespace cameo
