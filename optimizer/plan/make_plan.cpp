// make_plan: clusters become kernels and steps, in order; every value gets a layout and a place, and a kernel that
// would only move bytes to where they are already is none.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/ir/check.h"
#include "optimizer/choose/choose.h"
#include "optimizer/clusters/clusters.h"
#include "optimizer/plan/bind_plan.h"
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
  const Meaning& m = meaning_of(g, g[c.nodes[0]]);
  return std::holds_alternative<Compute>(m) || std::holds_alternative<View>(m);
}

/// The value whose bytes `v` is made of, when every cluster in between only hands them on from their beginning.
ValueId root_of(const LoweredGraph& f, ValueId v) {
  const auto& aliases = f.layouts.aliases;
  for (auto it = aliases.find(v); it != aliases.end() && it->second.offset == 0; it = aliases.find(v))
    v = it->second.of;
  return v;
}

/// A region of `v` that another value is, which was made there.
bool stands_already(const LoweredGraph& f, ValueId v, const OutputPart& region) {
  const auto copied = copied_value(f.g, region);
  const auto window = copied ? f.layouts.windows.find(*copied) : f.layouts.windows.end();
  return window != f.layouts.windows.end() && window->second == v &&
         layout_within(region, f.layouts[v.index]) == f.layouts[copied->index];
}

/// As an output of the graph is given out.
bool is_given_so(const LoweredGraph& f, ValueId v) {
  const auto is_it = [&](const Append& a) { return f.g.outputs()[a.output].value == v; };
  return is_row_major(f.layouts[v.index], f.g.type(v).shape) || std::ranges::any_of(f.appends, is_it);
}
/// Of the input that stands in a region of an output already, when both are one state.
const Append* append_of(const LoweredGraph& f, ValueId v, const OutputPart& region) {
  const auto copied = copied_value(f.g, region);
  for (const Append& a : f.appends)
    if (f.g.outputs()[a.output].value == v && copied == f.g.inputs()[a.input]) return &a;
  return nullptr;
}

/// Whether every size is one of the inputs' or made of such.
bool is_known(const Shape& shape, const std::set<Expr, ById>& sizes) {
  bool known = true;
  for (const Dim& d : shape)
    visit(std::vector<Expr>{d.extent()}, [&](Expr e) { known &= e.op() != Op::Symbol || sizes.contains(e); });
  return known;
}

void check_type(const Type& t, const Node& n, std::string_view verb) {
  if (t.kind == Kind::Error)
    throw CompileError(Code::E0403, fmt::format("`{}` {} {}, a type that cannot be computed with yet", n.op->name, verb,
                                                to_string(t)));
}

void check_types(const Graph& g, const Node& n, const std::set<Expr, ById>& sizes) {
  for (ValueId v : n.inputs)
    if (v) check_type(g.type(v), n, "reads");
  for (ValueId v : n.outputs) {
    if (!v) continue;
    const Type& t = g.type(v);
    check_type(t, n, "makes");
    if (!is_known(t.shape, sizes))
      throw CompileError(Code::E0404, fmt::format("the shape of an output of `{}` is not known when compiling: {}",
                                                  n.op->name, to_string(t)));
  }
}

CompileError no_kernel(const Graph& g, const Node& n) {
  for (const auto* values : {&n.inputs, &n.outputs})
    for (ValueId v : *values)
      if (v && !is_static(g.type(v).shape))
        return {Code::E0404, fmt::format("`{}` has no kernel yet for sizes that only a run knows: {}", n.op->name,
                                         to_string(g.type(v)))};
  return {Code::E0402, fmt::format("`{}` has no kernel yet", n.op->name)};
}

}  // namespace

void Planner::plan_root(const Graph& g) {
  std::vector<Place> inputs, outputs;
  for (uint32_t i = 0; i < g.inputs().size(); ++i) inputs.push_back({{Base::Input, i, 0}, {}});
  for (uint32_t i = 0; i < g.outputs().size(); ++i) outputs.push_back({{Base::Output, i, 0}, {}});
  root_ = &g;
  visit_symbols(interface_of(g), [&](Expr symbol) {
    if (is_open(symbol) || range_of(symbol).high < kMaxExtent) sizes_.insert(symbol);
  });
  plan_graph(g, inputs, outputs);
  if (diagnostics_.has_errors()) return;
  if (plan_.target.is_gpu()) share_kernels(plan_, weights_);
  form_strips(plan_);
  overwrite_operands(plan_);
  find_groups(plan_);
  place_groups(plan_);
  auto place = [&](Ref& r) {
    if (r.base != Base::Arena) return;
    const Buffer& b = plan_.buffers[r.number];
    r = b.size ? Ref{Base::Block, b.block, r.offset} : Ref{Base::Arena, 0, r.offset + b.offset};
  };
  for (Step& s : plan_.steps) std::ranges::for_each(s.refs, place);
  for (Tap& t : plan_.taps) place(t.at);
  note_alignment(plan_);
}

Step& Planner::push(StepKind kind, std::vector<Ref> refs, const Provenance& provenance) {
  plan_.steps.push_back({});
  Step& s = plan_.steps.back();
  s.kind = kind;
  s.refs = std::move(refs);
  s.provenance = provenance;
  return s;
}

void Planner::copy(const Place& to, const Place& from, Dim bytes, const Provenance& provenance) {
  if (to.ref == from.ref || bytes.is_static(0)) return;
  Ref dst = use(to), src = use(from);
  push(StepKind::Copy, {dst, src}, provenance).move(bytes);
}

Planner::Frame Planner::open_frame(const Graph& g) {
  for (ValueId v : deciding_values(g))
    for (Expr element : g[v].content) sizes_.insert(*symbol_of_element(element));
  require_sizes_of(g);
  std::vector<FusedCluster> clusters;
  Places places(g.values().size());
  for (Cluster& c : form_clusters(g, plan_.target)) {
    FusedCluster fused{std::move(c), {}};
    fused.cluster.on_host = runs_on_host(g, fused.cluster);
    guarded(g, fused.cluster, places, [&] {
      for (NodeId n : fused.cluster.nodes) check_types(g, g[n], sizes_);
      if (fuses(g, fused.cluster)) fused.outputs = fuse(g, fused.cluster);
    });
    clusters.push_back(std::move(fused));
  }
  if (diagnostics_.has_errors()) return {{g, {}, {}, {}, {}}, {}, {}, {}};  // unknown extents have no layout
  const bool has_room = &g == root_ && !plan_.target.is_gpu();
  Frame f{lower_graph(g, std::move(clusters), plan_.target, has_room), std::move(places), {}, deciding_values(g)};
  if (has_room) plan_.appends = f.appends;
  require_sound(verify_layouts(g, f.layouts.made), "layouts");
  return f;
}

void Planner::require_sizes_of(const Graph& g) {
  std::vector<Requirement> fresh;
  for (const Requirement& r : g.requirements()) {
    const auto is_same = [&](const PlanRequirement& other) { return other.condition == r.condition && !other.since; };
    if (is_known({Dim(r.condition)}, sizes_) && std::ranges::none_of(plan_.requirements, is_same)) fresh.push_back(r);
  }
  const Expr since = &g == root_ ? Expr() : learn_entry(fresh);
  for (Requirement& r : fresh) plan_.requirements.push_back({std::move(r), since});
}

/// A body may never run, so what it requires is asked where it begins: a step in front takes a number into the table,
/// whatever it is.
Expr Planner::learn_entry(const std::vector<Requirement>& of_body) {
  const Expr entered = symbol(fmt::format("entered {}", bodies_++), {0, 1});
  if (of_body.empty()) return {};
  const auto zero = std::make_shared<const Tensor>(Tensor::scalar(DType::i64, 0));
  Step& s = push(StepKind::Sizes, {{Base::Weights, 0, weights_.add(zero)}}, of_body[0].provenance);
  s.dtype = DType::i64;
  s.bytes = byte_size(s.dtype);
  s.elements.push_back(entered);
  return entered;
}

void Planner::guarded(const Graph& g, const Cluster& c, Places& places, const std::function<void()>& work) {
  try {
    work();
  } catch (CompileError& e) {
    if (e.diagnostic.node.empty()) e.diagnostic.node = where(g.sources(), g[c.nodes.back()].provenance);
    diagnostics_.add(e.diagnostic);
    for (NodeId n : c.nodes)
      for (ValueId v : g[n].outputs)
        if (v && !places[v.index]) places[v.index] = new_buffer(1, {});
  }
}

void Planner::plan_graph(const Graph& g, const std::vector<Place>& inputs, const std::vector<Place>& outputs) {
  Frame f = open_frame(g);
  if (diagnostics_.has_errors()) return;
  const auto shares_bytes = [&](ValueId v) { return &g == root_ && is_packed(g.type(v).dtype); };
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueId v = g.inputs()[i];
    f.places[v.index] = shares_bytes(v) && f.needed[v.index] ? unpack(f, v, inputs[i]) : inputs[i];
  }
  std::vector<bool> written(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {  // values that a kernel can write where the output wants them
    ValueId v = g.outputs()[i].value, root = root_of(f, v);
    bool whole = is_given_so(f, v) && f.layouts[root.index].elements == f.layouts[v.index].elements;
    if (!whole || shares_bytes(v) || g[root].constant || !g[root].producer || f.places[root.index] ||
        !g[g[root].producer].bodies.empty())
      continue;
    f.places[root.index] = outputs[i];
    written[i] = true;
  }
  for (size_t c = 0; c < f.clusters.size(); ++c)
    guarded(g, f.clusters[c].cluster, f.places, [&] { plan_cluster(f, c); });
  for (size_t i = 0; i < outputs.size(); ++i) {
    ValueId v = g.outputs()[i].value;
    if (written[i] || g.type(v).kind == Kind::Error) continue;
    if (shares_bytes(v))
      pack(f, v, outputs[i]);
    else if (is_given_so(f, v))
      copy(outputs[i], place_of(f, v), bytes_of(g.type(v)), {});
    else
      relayout(f, plain_operand(f.g, v), outputs[i]);
  }
}

void Planner::plan_cluster(Frame& f, size_t number) {
  plan_kernels(f, number);
  for (NodeId n : f.clusters[number].cluster.nodes)
    for (ValueId v : f.g[n].outputs)
      if (v && std::ranges::find(f.deciding, v) != f.deciding.end()) learn(f, v);
}

void Planner::learn(Frame& f, ValueId v) {
  const Value& value = f.g[v];
  const Ref ref = use(place_plain(f, v));
  Step& s = push(StepKind::Sizes, {ref}, f.g[value.producer].provenance);
  s.dtype = value.type.dtype;
  s.bytes = product(value.type.shape).value() * byte_size(s.dtype);
  for (Expr element : value.content) s.elements.push_back(*symbol_of_element(element));
}

void Planner::plan_kernels(Frame& f, size_t number) {
  const FusedCluster& c = f.clusters[number];
  for (size_t i = 0; i < c.outputs.size(); ++i) plan_output(f, c, i);
  if (!c.outputs.empty()) return;
  const Node& n = f.g[c.cluster.nodes[0]];
  const Meaning& m = meaning_of(f.g, n);
  if (auto* control = std::get_if<Control>(&m)) return control->form == Control::Loop ? plan_loop(f, n) : plan_if(f, n);
  if (std::holds_alternative<Compute>(m) || std::holds_alternative<View>(m)) return;  // reported when it was fused
  plan_node(f, c.cluster, n, m);
}

void Planner::plan_output(Frame& f, const FusedCluster& c, size_t number) {
  const ValueId v = c.cluster.outputs[number];
  if (!f.needed[v.index]) return;
  if (product(f.g.type(v).shape).is_static(0)) {
    place_output(f, v);
  } else if (!f.layouts.aliases.contains(v)) {
    add_parts(f, c.cluster, v, f.outputs.at(v));
  } else if (f.places[v.index]) {  // its bytes are wanted elsewhere
    add_parts(f, c.cluster, v, lower_output(f, v, c.outputs[number], machine_of(c.cluster.on_host, plan_.target)));
  }
}

void Planner::plan_node(Frame& f, const Cluster& c, const Node& n, const Meaning& m) {
  const Target& machine = machine_of(c.on_host, plan_.target);
  auto kernel = choose_kernel(NodeProblem{f.g, f.layouts, n, m, machine});
  if (!kernel) throw no_kernel(f.g, n);
  if (auto* s = std::get_if<Scatter>(&m)) {
    const OutputExpr start{s->start.index, on_values(n, s->start.value)};
    add_parts(f, c, n.outputs[0], lower_output(f, n.outputs[0], start, machine));
  }
  for (const Claim& claim : plan_.claims)
    if (std::ranges::includes(claim.provenance, n.provenance)) kernel->kernel.alternatives = claim.lost;
  add_kernel(f, c, std::move(*kernel));
}

void Planner::add_parts(Frame& f, const Cluster& c, ValueId v, const std::vector<LoweredPart>& parts) {
  for (const LoweredPart& part : parts) {
    if (stands_already(f, v, part.region)) continue;
    add_kernel(f, c, part.lowered);
    if (const Append* a = append_of(f, v, part.region)) skip_if_in_place(*a);
  }
}

void Planner::skip_if_in_place(const Append& a) {
  Step& copying = plan_.steps.back();
  const Expr chunks = copying.size ? copying.size : integer(copying.chunks);
  copying.size = simplify_index(chunks * must_copy(a));
}

void Planner::add_kernel(Frame& f, const Cluster& c, LoweredKernel l) {
  for (NodeId n : c.nodes) l.kernel.provenance = merge(l.kernel.provenance, f.g[n].provenance);
  reader_ = l.kernel.provenance;
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
  if (&g != root_ || v.name.empty() || v.type.is_list() || !is_static(v.type.shape) || !is_static(o.layout)) return;
  if (is_packed(v.type.dtype) || v.type.dtype == DType::str) return;  // it stands otherwise than its type says
  std::erase_if(plan_.taps, [&](const Tap& t) { return t.name == v.name; });
  Ref ref = at.ref;
  ref.offset += o.layout.base_offset.value() * byte_size(v.type.dtype);
  plan_.taps.push_back({now() - 1, ref, v.name, v.type.dtype, extents(v.type.shape), extents(o.layout.pitch)});
}

void Planner::push_kernel(Kernel k, const std::vector<Place>& at, const std::vector<ValueId>& written) {
  if (has_no_points(k)) return;
  std::vector<Ref> refs;
  for (const Place& p : at) refs.push_back(use(p));
  const std::vector<int64_t> base_offsets = take_base_offsets(k);
  for (size_t i = 0; i < refs.size(); ++i) refs[i].offset += base_offsets[i] * byte_size(k.operands[i]);
  Provenance provenance = k.provenance;
  const Target& machine = machine_of(k.on_host, plan_.target);
  const int64_t chunks = chunks_of(k, machine), most = k.family->most_chunks(k, machine);
  const Expr of_run = chunks_of_run(k, machine, chunks, most);
  const bool repeats = k.family->chunks_repeat(k);
  k.optimize_for_size = k.optimize_for_size && chunks == 1 && !of_run;
  plan_.scratch_bytes = larger(plan_.scratch_bytes, k.scratch_bytes);
  uint32_t number = kernels_.intern(std::move(k));
  Step& s = push(StepKind::Kernel, std::move(refs), provenance);
  s.kernel = number;
  s.chunks = static_cast<int>(std::min(chunks, most));
  s.repeats = repeats;
  s.size = of_run;
  s.written = written;
}

Plan make_plan(const Graph& g, const Target& target, WeightPool& weights, Diagnostics& diagnostics,
               const std::vector<std::string>& on_host, const std::vector<Claim>& claims) {
  Plan plan;
  plan.target = target;
  plan.claims = claims;
  Planner(plan, weights, diagnostics, on_host).plan_root(g);
  if (diagnostics.has_errors()) return plan;
  const Interface io = interface_of(g);
  for (DimBinding sizes : ends_of_sizes(io)) {
    for (Expr symbol : learned_symbols(plan)) sizes.emplace(symbol_name(symbol), 1);
    if (!runs_at(plan, sizes)) continue;
    require_sound(verify_plan(bind_plan(plan, sizes), bind_interface(io, sizes), weights.bytes), "the plan");
  }
  return plan;
}

bool keeps_lists(const Kernel& k) {
  return k.node && std::ranges::any_of(k.node->values(), [](const Value& v) { return v.type.is_list(); });
}

std::vector<Expr> learned_symbols(const Schedule& schedule) {
  std::vector<Expr> learned;
  for (const Step& s : schedule.steps)
    for (Expr symbol : s.elements)
      if (std::ranges::find(learned, symbol) == learned.end()) learned.push_back(symbol);
  return learned;
}

size_t waits_for(Expr size, const std::vector<Expr>& learned) {
  size_t count = 0;
  visit(std::vector{size}, [&](Expr e) {
    const auto at = std::ranges::find(learned, e);
    if (at != learned.end()) count = std::max(count, static_cast<size_t>(at - learned.begin()) + 1);
  });
  return count;
}

void visit_symbols(const Interface& io, const std::function<void(Expr)>& f) {
  std::vector<Expr> sizes;
  for (const Interface::Io& input : io.inputs)
    for (const Dim& d : input.type.shape) sizes.push_back(d.extent());
  for (const Interface::Io& input : io.inputs) sizes.insert(sizes.end(), input.content.begin(), input.content.end());
  visit(sizes, [&](Expr e) {
    if (e.op() == Op::Symbol) f(e);
  });
}

Interface interface_of(const Graph& g) {
  Interface io;
  for (ValueId v : g.inputs()) io.inputs.push_back({g[v].name, g.type(v), g[v].content});
  for (const Port& p : g.outputs()) io.outputs.push_back({p.name, g.type(p.value)});
  return io;
}

}  // namespace cameo
