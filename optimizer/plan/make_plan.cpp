// make_plan: clusters become kernels and steps, in order; every value gets a layout and a place, and a kernel that would only
// move bytes to where they are already is none. Control flow is rows that jump: the bodies
// of Loop and If are planned into the same list of steps and the same arena, loop-carried values are double-buffered behind
// two slots that swap, and scan outputs are written through a slot that advances.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>

#include "frontend/check.h"
#include "optimizer/annotate/clusters.h"
#include "optimizer/plan/choose_chunks.h"
#include "optimizer/plan/lower_graph.h"
#include "optimizer/plan/plan.h"
#include "optimizer/plan/verify_plan.h"
#include "optimizer/verify.h"
#include "runtime/kernels/contract_shape.h"

namespace cameo {
namespace {

/// Where a value stands, and the buffers that must stay alive while it is read (two for a slot that swaps).
struct Place {
  Ref ref;
  std::vector<int> buffers;
};

int64_t bytes_of(const Type& t) { return product(t.shape).value() * byte_size(t.dtype); }

std::string title_of(const Graph& g, const Cluster& c) {
  std::string s;
  for (NodeId n : c.nodes) s += (s.empty() ? "" : " + ") + std::string(g[n].op->name);
  return s;
}

std::string symbol_of(size_t number, std::string_view title) {
  std::string s = fmt::format("k{:03}_", number);
  for (char ch : title.substr(0, 48)) {
    if (ch == ' ') continue;
    s += ch == '+' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(ch)));
  }
  return s;
}

class Planner {
 public:
  Planner(Plan& plan, WeightPool& weights, Diagnostics& diagnostics) : plan_(plan), weights_(weights), diagnostics_(diagnostics) {}

  void plan_root(const Graph& g) {
    std::vector<Place> inputs, outputs;
    for (uint32_t i = 0; i < g.inputs().size(); ++i) inputs.push_back({{Base::Input, i, 0}, {}});
    for (uint32_t i = 0; i < g.outputs().size(); ++i) outputs.push_back({{Base::Output, i, 0}, {}});
    root_ = &g;
    plan_graph(g, inputs, outputs);
    if (diagnostics_.has_errors()) return;
    overwrite_operands(plan_);
    plan_.arena_bytes = place_buffers(plan_.buffers);
    auto place = [&](Ref& r) {
      if (r.base == Base::Arena) r = {Base::Arena, 0, r.offset + plan_.buffers[r.number].offset};
    };
    for (Step& s : plan_.steps) std::ranges::for_each(s.refs, place);
    for (Tap& t : plan_.taps) place(t.at);
  }

 private:
  using Places = std::vector<std::optional<Place>>;  // by value of one graph

  int now() const { return static_cast<int>(plan_.steps.size()); }
  Place new_buffer(int64_t bytes, std::string held) {
    plan_.buffers.push_back({std::max<int64_t>(bytes, 1), now(), now(), 0, std::move(held)});
    int b = static_cast<int>(plan_.buffers.size()) - 1;
    return {{Base::Arena, static_cast<uint32_t>(b), 0}, {b}};  // the number is the buffer's until it is placed
  }
  const Ref& use(const Place& p) {
    for (int b : p.buffers) plan_.buffers[b].last = std::max(plan_.buffers[b].last, now());
    return p.ref;
  }
  Step& push(StepKind kind, std::vector<Ref> refs, const Origin& origin) {
    plan_.steps.push_back({});
    Step& s = plan_.steps.back();
    s.kind = kind;
    s.refs = std::move(refs);
    s.origin = origin;
    return s;
  }
  void copy(const Place& to, const Place& from, int64_t bytes, const Origin& origin) {
    if (to.ref == from.ref || bytes == 0) return;
    Ref dst = use(to), src = use(from);
    push(StepKind::Copy, {dst, src}, origin).bytes = bytes;
  }

  // ---- one graph ----------------------------------------------------------------------------------------------------
  /// What planning knows of one graph, and where its values stand so far.
  struct Frame : LoweredGraph {
    Places places;
    std::map<std::pair<ValueId, std::string>, Place> relays;  // copies in another layout
  };

  bool fuses(const Graph& g, const Cluster& c) {
    if (c.nodes.size() > 1) return true;
    Meaning m = meaning_of(g, g[c.nodes[0]]);
    return std::holds_alternative<Compute>(m) || std::holds_alternative<View>(m);
  }

  Frame open_frame(const Graph& g) {
    std::vector<FusedCluster> clusters;
    Places places(g.values().size());
    for (Cluster& c : form_clusters(g)) {
      FusedCluster fused{std::move(c), {}};
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

  /// Runs `work`; what it finds wrong with the model is noted, and the cluster's values get places all the same.
  void guarded(const Graph& g, const Cluster& c, Places& places, const std::function<void()>& work) {
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

  /// The value whose bytes `v` is made of, when every cluster in between only hands them on from their beginning.
  static ValueId root_of(const Frame& f, ValueId v) {
    for (auto it = f.maker.find(v); it != f.maker.end(); it = f.maker.find(v)) {
      const auto& l = f.lowered[it->second];
      if (alias_of(l) != 0) break;
      v = l[0].operands[1].value;
    }
    return v;
  }

  void plan_graph(const Graph& g, const std::vector<Place>& inputs, const std::vector<Place>& outputs) {
    Frame f = open_frame(g);
    if (diagnostics_.has_errors()) return;
    for (size_t i = 0; i < inputs.size(); ++i) f.places[g.inputs()[i].index] = inputs[i];
    std::vector<bool> written(outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) {  // values that a kernel can write where the output wants them
      ValueId v = g.outputs()[i].value, root = root_of(f, v);
      bool whole = is_compact(f, v) && f.layouts[root.index].elements == f.layouts[v.index].elements;
      if (!whole || g[root].constant || !g[root].producer || f.places[root.index] || !g[g[root].producer].bodies.empty()) continue;
      f.places[root.index] = outputs[i];
      written[i] = true;
    }
    for (size_t c = 0; c < f.clusters.size(); ++c)
      guarded(g, f.clusters[c].cluster, f.places, [&] { plan_cluster(f, c); });
    for (size_t i = 0; i < outputs.size(); ++i) {
      ValueId v = g.outputs()[i].value;
      if (written[i] || g.type(v).kind != Kind::Tensor || !is_static(g.type(v).shape)) continue;
      if (is_compact(f, v)) copy(outputs[i], place_of(f, v), bytes_of(g.type(v)), {});
      else relay(f, plain(f, v), outputs[i]);
    }
  }
  static bool is_compact(const Frame& f, ValueId v) { return is_row_major(f.layouts[v.index], extents(f.g.type(v).shape)); }
  static Operand plain(const Frame& f, ValueId v) {
    std::vector<int64_t> dims = extents(f.g.type(v).shape), none(dims.size());
    Layout l = row_major(dims);
    return {v, l, order_of(l), none, none, {}, {}};
  }

  /// Where a value stands in the layout that it was made in.
  Place place_of(Frame& f, ValueId v) {
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
  /// Where an operand stands in the layout that a kernel asks for: a constant is laid out now, a value by a kernel.
  Place place_operand(Frame& f, const Operand& o) {
    const Value& value = f.g[o.value];
    if (value.constant) return {{Base::Weights, 0, weights_.add(laid_out(f, o))}, {}};
    if (o.layout == f.layouts[o.value.index]) return place_of(f, o.value);
    auto key = std::pair(o.value, to_string(o.layout));
    if (auto it = f.relays.find(key); it != f.relays.end()) return it->second;
    Place to = new_buffer(o.layout.elements * byte_size(value.type.dtype), value.name);
    relay(f, o, to);
    f.relays[key] = to;
    return to;
  }
  void relay(Frame& f, const Operand& o, const Place& to) {
    LoweredKernel l = lower_relay(f.g, f.layouts, o, plan_.target);
    l.kernel.title = "Relay";
    NodeId n = f.g[o.value].producer;
    l.kernel.origin = n ? f.g[n].origin : reader_;  // an input is relaid for the first node that reads it
    if (has_halo(o)) add_border(f, o, to);
    push_kernel(std::move(l.kernel), {to, place_of(f, o.value)}, {});
  }
  /// Row-major, for what reads whole tensors: bodies, opaque kernels, scatters' operands.
  Place place_plain(Frame& f, ValueId v) { return place_operand(f, plain(f, v)); }
  Constant laid_out(const Frame& f, const Operand& o) {
    const Constant& t = f.g[o.value].constant;
    if (!o.packing && o.layout == row_major(t->dims())) return t;
    std::string how = o.packing ? "panels " + describe(*o.packing) : to_string(o.layout);
    Constant& made = packed_[std::pair(t.get(), how)];
    if (!made) made = std::make_shared<const Tensor>(o.packing ? pack_panels(*t, *o.packing) : relaid(*t, o.layout));
    return made;
  }
  static std::string describe(const Packing& p) {
    std::string s = fmt::format("{}x{} from {}", p.column.extent, p.column.stride, p.origin);
    for (auto& k : p.k) s += fmt::format(", {}x{}", k.extent, k.stride);
    return s;
  }
  static Tensor pack_panels(const Tensor& t, const Packing& p) {
    std::vector<int64_t> rows{p.origin};  // the offset of each k
    for (const Packing::Axis& a : p.k) {
      std::vector<int64_t> finer;
      for (int64_t r : rows)
        for (int64_t i = 0; i < a.extent; ++i) finer.push_back(r + i * a.stride);
      rows = std::move(finer);
    }
    Tensor out(t.dtype(), {rt::packed_b_elements(p.column.extent, p.k_total())});
    auto pack = [&]<class T>(T) {
      const T* from = reinterpret_cast<const T*>(t.bytes().data());
      rt::pack_b(reinterpret_cast<T*>(out.mutable_bytes().data()), p.column.extent, p.k_total(),
                 [&](int64_t k, int64_t column) { return from[rows[static_cast<size_t>(k)] + column * p.column.stride]; });
    };
    byte_size(t.dtype()) == 4 ? pack(uint32_t{}) : pack(uint16_t{});  // f32, or 16-bit floats
    return out;
  }
  /// Where a value is to be written: its own buffer, or the one that it is a window of.
  Place place_output(Frame& f, ValueId v) {
    if (f.places[v.index]) return *f.places[v.index];
    if (auto window = f.windows.find(v); window != f.windows.end()) {
      f.places[v.index] = place_output(f, window->second);
    } else {
      f.places[v.index] = new_buffer(f.layouts[v.index].elements * byte_size(f.g.type(v).dtype), f.g[v].name);
      if (auto halo = f.layouts.haloed.find(v); halo != f.layouts.haloed.end() && halo->second.layout == f.layouts[v.index]) add_border(f, halo->second, *f.places[v.index]);
    }
    return *f.places[v.index];
  }
  void add_border(const Frame& f, const Operand& o, const Place& to) {
    for (LoweredKernel& l : lower_border(f.g, o, plan_.target)) {
      l.kernel.origin = reader_;
      push_kernel(std::move(l.kernel), {to}, {});
    }
  }

  void check_types(const Graph& g, const Node& n) {
    for (ValueId v : n.inputs)
      if (const Type& t = g.type(v); v && (t.kind != Kind::Tensor || !runs(t.dtype)))
        throw CompileError(Code::E0403, fmt::format("`{}` reads {}, a type that cannot be computed with yet", n.op->name, to_string(t)));
    for (ValueId v : n.outputs) {
      if (!v) continue;
      const Type& t = g.type(v);
      if (t.kind != Kind::Tensor || !runs(t.dtype))
        throw CompileError(Code::E0403, fmt::format("`{}` makes {}, a type that cannot be computed with yet", n.op->name, to_string(t)));
      if (!is_static(t.shape))
        throw CompileError(Code::E0404, fmt::format("the shape of an output of `{}` is not known when compiling: {}", n.op->name, to_string(t)));
    }
  }

  void plan_cluster(Frame& f, size_t number) {
    const FusedCluster& c = f.clusters[number];
    if (const Parts& parts = f.lowered[number]; !parts.empty()) {
      ValueId v = c.cluster.outputs[0];
      if (alias_of(parts) && !f.places[v.index]) return;  // place_of finds the bytes
      return add_parts(f, c.cluster, v, parts);
    }
    if (!c.outputs.empty()) {  // several outputs: a kernel each
      for (size_t i = 0; i < c.outputs.size(); ++i) {
        ValueId v = c.cluster.outputs[i];
        if (product(f.g.type(v).shape).is_static(0)) place_output(f, v);
        else add_parts(f, c.cluster, v, lower_output(f, v, c.outputs[i], plan_.target));
      }
      return;
    }
    const Node& n = f.g[c.cluster.nodes[0]];
    Meaning m = meaning_of(f.g, n);
    if (auto* s = std::get_if<Scatter>(&m)) return plan_scatter(f, c.cluster, *s);
    if (auto* o = std::get_if<Opaque>(&m)) return plan_opaque(f, c.cluster, *o);
    if (auto* control = std::get_if<Control>(&m)) return control->form == Control::Loop ? plan_loop(f, n) : plan_if(f, n);
    if (std::holds_alternative<Compute>(m) || std::holds_alternative<View>(m)) return;  // reported when it was fused
    throw CompileError(Code::E0402, fmt::format("`{}` has no kernel yet: its output's size depends on data", n.op->name));
  }

  // ---- kernels ------------------------------------------------------------------------------------------------------
  void plan_scatter(Frame& f, const Cluster& c, const Scatter& s) {
    const Node& n = f.g[c.nodes[0]];
    if (product(f.g.type(n.outputs[0]).shape).is_static(0)) return void(place_output(f, n.outputs[0]));
    OutputExpr start = s.start;
    start.value = on_values(n, start.value);
    add_kernel(f, c, lower_nest(f.g, f.layouts, n.outputs[0], {start, start.index}, plan_.target));
    add_kernel(f, c, lower_scatter(f.g, f.layouts, n, s, plan_.target));
  }
  static Graph alone(const Graph& g, const Node& n) {
    Graph one(g.shared_sources());
    std::vector<ValueId> in;
    for (ValueId v : n.inputs)
      in.push_back(!v ? v : g[v].constant ? one.constant(g[v].constant) : one.add_input(g[v].name, g.type(v)));
    one.add(*n.op, in, n.attrs, n.origin, n.version, static_cast<int>(n.outputs.size()));
    return one;
  }
  void plan_opaque(Frame& f, const Cluster& c, const Opaque& o) {
    const Node& n = f.g[c.nodes[0]];
    LoweredKernel l;
    l.kernel.form = Form::Opaque;
    l.kernel.opaque = o.kernel;
    l.kernel.opaque_numbers = o.numbers;
    l.kernel.node = std::make_shared<const Graph>(alone(f.g, n));
    for (auto* list : {&n.outputs, &n.inputs})
      for (ValueId v : *list) {
        if (!v) throw CompileError(Code::E0402, fmt::format("`{}` with an absent operand has no kernel", n.op->name));
        l.operands.push_back(plain(f, v));
        l.kernel.operands.push_back(f.g.type(v).dtype);
      }
    add_kernel(f, c, std::move(l));
  }

  void add_parts(Frame& f, const Cluster& c, ValueId v, const Parts& parts) {
    for (const LoweredKernel& l : parts) {
      auto window = l.copies_to ? f.windows.find(l.operands[1].value) : f.windows.end();
      bool stands_there = window != f.windows.end() && window->second == v && layout_within(*l.copies_to, f.layouts[v.index]) == f.layouts[window->first.index];
      if (!stands_there) add_kernel(f, c, l);
    }
  }
  void add_kernel(Frame& f, const Cluster& c, LoweredKernel l) {
    for (NodeId n : c.nodes) l.kernel.origin = merge(l.kernel.origin, f.g[n].origin);
    reader_ = l.kernel.origin;
    l.kernel.title = title_of(f.g, c);
    std::vector<Place> at;
    for (const Operand& o : l.operands) {
      bool output = std::find(c.outputs.begin(), c.outputs.end(), o.value) != c.outputs.end();
      at.push_back(output ? place_output(f, o.value) : place_operand(f, o));
    }
    push_kernel(std::move(l.kernel), at, c.outputs);
    for (size_t i = 0; i < at.size(); ++i)
      if (std::ranges::find(c.outputs, l.operands[i].value) != c.outputs.end()) tap(f.g, l.operands[i], at[i]);
  }
  /// The last step says it: the ones before wrote a part, or a Scatter's start.
  void tap(const Graph& g, const Operand& o, const Place& at) {
    const Value& v = g[o.value];
    if (&g != root_ || v.name.empty()) return;
    std::erase_if(plan_.taps, [&](const Tap& t) { return t.name == v.name; });
    Ref ref = at.ref;
    ref.offset += o.layout.origin * byte_size(v.type.dtype);
    plan_.taps.push_back({now() - 1, ref, v.name, v.type.dtype, extents(v.type.shape), o.layout.pitch});
  }
  void push_kernel(Kernel k, const std::vector<Place>& at, const std::vector<ValueId>& written) {
    std::vector<Ref> refs;
    for (const Place& p : at) refs.push_back(use(p));
    const std::vector<int64_t> origins = take_origins(k);
    for (size_t i = 0; i < refs.size(); ++i) refs[i].offset += origins[i] * byte_size(k.operands[i]);
    Origin origin = k.origin;
    int chunks = chunks_of(k, plan_.target);
    plan_.scratch_bytes = std::max(plan_.scratch_bytes, k.scratch_bytes);
    uint32_t number = intern(std::move(k));
    Step& s = push(StepKind::Kernel, std::move(refs), origin);
    s.kernel = number;
    s.chunks = chunks;
    s.written = written;
  }

  /// The number of an equal kernel, or a new one: equal means the same text but for its name and origin.
  uint32_t intern(Kernel k) {
    std::string text = body_text(k);
    auto [it, fresh] = kernels_.try_emplace(text, static_cast<uint32_t>(plan_.kernels.size()));
    if (fresh) {
      k.symbol = symbol_of(plan_.kernels.size(), k.title);
      plan_.kernels.push_back(std::move(k));
    } else {
      Kernel& same = plan_.kernels[it->second];
      same.origin = merge(same.origin, k.origin);
    }
    return it->second;
  }
  /// A canonical text of a kernel: variables and nodes numbered in order of appearance.
  static std::string body_text(const Kernel& k) {
    std::string s = fmt::format("{} {} {} {} {} {} {}|", static_cast<int>(k.form), k.lanes, k.fold_lanes, k.team, k.owners, k.small, k.opaque);
    for (DType t : k.operands) s += fmt::format("{},", name(t));
    for (int64_t n : k.opaque_numbers) s += fmt::format("{},", n);
    std::map<uint64_t, size_t> vars;
    std::map<uint32_t, size_t> nodes;
    std::vector<Expr> roots(k.axes.begin(), k.axes.end());
    for (const Store& st : k.stores) roots.insert(roots.end(), {st.offset, st.guard, st.value});
    if (k.form == Form::Contract) {
      s += fmt::format("{},{},{},{},{},{},", k.sum.a, k.sum.b, k.sum.packed, k.sum.rows_per_tile, k.sum.vectors_per_tile, k.sum.term_groups);
      roots.insert(roots.end(), k.sum.segments.begin(), k.sum.segments.end());
      roots.insert(roots.end(), {k.sum.k, k.sum.a_offset, k.sum.b_offset});
    }
    if (k.form == Form::Window) {
      s += fmt::format("{},{},", static_cast<int>(k.window.kind), k.window.rows_per_tile);
      roots.insert(roots.end(), k.window.taps.begin(), k.window.taps.end());
      roots.push_back(k.window.body);
    }
    visit(roots, [&](Expr e) {
      uint64_t bits = e.op() == Op::Var ? vars.try_emplace(e.var_number(), vars.size()).first->second : e.bits();
      s += fmt::format(";{}:{}:{:x}", static_cast<int>(e.op()), static_cast<int>(e.type()), bits);
      for (Expr a : e.args()) s += fmt::format(" {}", nodes.at(a.id()));
      nodes.emplace(e.id(), nodes.size());
    });
    for (const Store& st : k.stores) s += fmt::format("|{} {} {} {}", st.operand, nodes.at(st.offset.id()), nodes.at(st.guard.id()), nodes.at(st.value.id()));
    for (Expr a : k.axes) s += fmt::format("|{}", nodes.at(a.id()));
    if (k.form == Form::Contract) {
      for (Expr a : k.sum.segments) s += fmt::format("|{}", nodes.at(a.id()));
      s += fmt::format("|{} {} {}", nodes.at(k.sum.k.id()), nodes.at(k.sum.a_offset.id()), nodes.at(k.sum.b_offset.id()));
    }
    if (k.form == Form::Window) {
      for (Expr t : k.window.taps) s += fmt::format("|{}", nodes.at(t.id()));
      s += fmt::format("|{}", nodes.at(k.window.body.id()));
    }
    return s;
  }

  // ---- control flow -------------------------------------------------------------------------------------------------
  static bool always_true(const Graph& g, ValueId v) { return !v || (g[v].constant && g[v].constant->get_int(0) != 0); }

  void plan_loop(Frame& f, const Node& n) {
    const Graph& g = f.g;
    Places& places = f.places;
    const Graph& body = *n.bodies[0];
    // node: trips, condition, carried.., captured.. -> carried.., scans..; body: iteration, condition, carried.., captured.. ->
    // condition, carried.., scans..
    size_t captured = captures_of(g, n);
    size_t carried = body.inputs().size() - 2 - captured;
    size_t scans = n.outputs.size() - carried;
    ValueId trips = n.inputs.size() > 0 ? n.inputs[0] : ValueId{}, condition = n.inputs.size() > 1 ? n.inputs[1] : ValueId{};
    ValueId body_condition = body.inputs()[1], condition_out = body.outputs()[0].value;
    bool conditional = !(always_true(g, condition) && (condition_out == body_condition || (body[condition_out].constant && always_true(body, condition_out))));

    Place counter = new_buffer(8, "iteration"), flag = new_buffer(1, "condition");
    Constant yes = std::make_shared<const Tensor>(Tensor::scalar(DType::b1, 1));
    Place initial = condition ? place_plain(f, condition) : Place{{Base::Weights, 0, weights_.add(yes)}, {}};
    copy(flag, initial, 1, n.origin);

    std::vector<Place> inputs{counter, flag}, outputs{flag};
    std::vector<std::pair<uint32_t, uint32_t>> swaps;
    std::vector<std::pair<uint32_t, int64_t>> advances;
    std::vector<Place> finals;
    for (size_t i = 0; i < carried; ++i) {
      int64_t bytes = bytes_of(body.type(body.inputs()[2 + i]));
      Place now_at = new_buffer(bytes, "carried"), next_at = new_buffer(bytes, "carried");
      copy(now_at, place_plain(f, n.inputs[2 + i]), bytes, n.origin);
      uint32_t a = plan_.slots++, b = plan_.slots++;
      set_base(a, now_at, n.origin);
      set_base(b, next_at, n.origin);
      std::vector<int> both{now_at.buffers[0], next_at.buffers[0]};
      inputs.push_back({{Base::Slot, a, 0}, both});
      outputs.push_back({{Base::Slot, b, 0}, both});
      finals.push_back({{Base::Slot, a, 0}, both});
      swaps.push_back({a, b});
    }
    for (size_t i = 0; i < captured; ++i) inputs.push_back(place_plain(f, n.inputs[2 + carried + i]));
    for (size_t i = 0; i < scans; ++i) {
      ValueId v = n.outputs[carried + i];
      Place at = v ? place_output(f, v) : new_buffer(bytes_of(body.type(body.outputs()[1 + carried + i].value)), "unused");
      uint32_t s = plan_.slots++;
      set_base(s, at, n.origin);
      outputs.push_back({{Base::Slot, s, 0}, at.buffers});
      advances.push_back({s, v ? bytes_of(body.type(body.outputs()[1 + carried + i].value)) : 0});
    }

    int begin = now();
    Step& head = push(StepKind::LoopBegin, {}, n.origin);
    head.a = plan_.loops++;
    bool trips_known = trips && g[trips].constant;
    std::vector<Ref> refs;
    uint32_t flags = 0;
    if (trips && !trips_known) { refs.push_back(use(place_plain(f, trips))); flags |= 1; }
    if (conditional) { refs.push_back(use(flag)); flags |= 2; }
    refs.push_back(use(counter));
    flags |= 4;
    plan_.steps[begin].refs = refs;
    plan_.steps[begin].b = flags;
    plan_.steps[begin].bytes = trips_known ? g[trips].constant->get_int(0) : trips ? 0 : INT64_MAX;
    plan_graph(body, inputs, outputs);
    for (auto [a, b] : swaps) {
      Step& s = push(StepKind::Swap, {}, n.origin);
      s.a = a;
      s.b = b;
    }
    for (auto [slot, bytes] : advances) {
      Step& s = push(StepKind::Advance, {}, n.origin);
      s.a = slot;
      s.bytes = bytes;
    }
    for (const Place& p : outputs) use(p);
    push(StepKind::LoopEnd, {}, n.origin).jump = begin;
    plan_.steps[begin].jump = now();
    keep_alive(begin, now() - 1);
    for (size_t i = 0; i < carried; ++i)
      if (n.outputs[i]) {
        if (places[n.outputs[i].index]) copy(*places[n.outputs[i].index], finals[i], bytes_of(g.type(n.outputs[i])), n.origin);
        else places[n.outputs[i].index] = finals[i];
      }
  }
  void set_base(uint32_t slot, const Place& p, const Origin& origin) {
    Ref r = use(p);
    push(StepKind::SetBase, {r}, origin).a = slot;
  }
  /// What was made before a loop and is read inside of it lives until the loop's end.
  void keep_alive(int begin, int end) {
    for (Buffer& b : plan_.buffers)
      if (b.first <= begin && b.last >= begin) b.last = std::max(b.last, end);
  }

  void plan_if(Frame& f, const Node& n) {
    std::vector<Place> outputs, captured;
    for (ValueId v : n.outputs) outputs.push_back(v ? place_output(f, v) : Place{});
    for (size_t i = 1; i < n.inputs.size(); ++i) captured.push_back(place_plain(f, n.inputs[i]));
    int test = now();
    Ref condition = use(place_plain(f, n.inputs[0]));
    push(StepKind::JumpIfFalse, {condition}, n.origin);
    plan_graph(*n.bodies[0], captured, outputs);
    for (const Place& p : outputs) use(p);
    int over = now();
    push(StepKind::Jump, {}, n.origin);
    plan_.steps[test].jump = now();
    plan_graph(*n.bodies[1], captured, outputs);
    for (const Place& p : outputs) use(p);
    plan_.steps[over].jump = now();
  }

  Plan& plan_;
  WeightPool& weights_;
  Diagnostics& diagnostics_;
  const Graph* root_ = nullptr;
  Origin reader_;  // of the kernel that is being added
  std::map<std::string, uint32_t> kernels_;
  std::map<std::pair<const Tensor*, std::string>, Constant> packed_;
};

}  // namespace

Plan make_plan(const Graph& g, const Target& target, WeightPool& weights, Diagnostics& diagnostics) {
  Plan plan;
  plan.target = target;
  Planner(plan, weights, diagnostics).plan_root(g);
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
