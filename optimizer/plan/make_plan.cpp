// make_plan: clusters become kernels and steps, in order; every value gets a place. Control flow is rows that jump: the bodies
// of Loop and If are planned into the same list of steps and the same arena, loop-carried values are double-buffered behind
// two slots that swap, and scan outputs are written through a slot that advances.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "frontend/check.h"
#include "optimizer/annotate/clusters.h"
#include "optimizer/plan/lower_kernel.h"
#include "optimizer/plan/plan.h"

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
    plan_graph(g, inputs, outputs);
    plan_.arena_bytes = place_buffers(plan_.buffers);
    for (Step& s : plan_.steps)
      for (Ref& r : s.refs)
        if (r.base == Base::Arena) r = {Base::Arena, 0, r.offset + plan_.buffers[r.number].offset};
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
  static ValueId root_of(const Graph& g, ValueId v) {
    while (g[v].producer) {
      const Node& n = g[g[v].producer];
      Meaning m = meaning_of(g, n);
      auto* view = std::get_if<View>(&m);
      if (!view) break;
      v = n.inputs[view->input];
    }
    return v;
  }

  void plan_graph(const Graph& g, const std::vector<Place>& inputs, const std::vector<Place>& outputs) {
    Places places(g.values().size());
    for (size_t i = 0; i < inputs.size(); ++i) places[g.inputs()[i].index] = inputs[i];
    std::vector<bool> written(outputs.size());
    for (size_t i = 0; i < outputs.size(); ++i) {  // values that a kernel can write where the output wants them
      ValueId root = root_of(g, g.outputs()[i].value);
      if (g[root].constant || !g[root].producer || places[root.index] || is_control(g, root)) continue;
      places[root.index] = outputs[i];
      written[i] = true;
    }
    for (const Cluster& c : form_clusters(g)) {
      try {
        plan_cluster(g, c, places);
      } catch (CompileError& e) {
        if (e.diagnostic.node.empty()) e.diagnostic.node = where(g.sources(), g[c.nodes.back()].origin);
        diagnostics_.add(e.diagnostic);
        for (NodeId n : c.nodes)
          for (ValueId v : g[n].outputs)
            if (v && !places[v.index]) places[v.index] = new_buffer(1, {});
      }
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      ValueId v = g.outputs()[i].value;
      if (!written[i]) copy(outputs[i], place_of(g, v, places), bytes_of(g.type(v)), {});
    }
  }
  static bool is_control(const Graph& g, ValueId v) { return !g[g[v].producer].bodies.empty(); }

  Place place_of(const Graph& g, ValueId v, Places& places) {
    if (places[v.index]) return *places[v.index];
    const Value& value = g[v];
    if (value.constant) return {{Base::Weights, 0, weights_.add(value.constant)}, {}};
    ValueId root = root_of(g, v);
    CAMEO_CHECK(root != v, "a value that was planned before its user");
    places[v.index] = place_of(g, root, places);
    return *places[v.index];
  }
  Place place_output(const Graph& g, ValueId v, Places& places) {
    if (!places[v.index]) places[v.index] = new_buffer(bytes_of(g.type(v)), g[v].name);
    return *places[v.index];
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

  void plan_cluster(const Graph& g, const Cluster& c, Places& places) {
    for (NodeId n : c.nodes) check_types(g, g[n]);
    const Node& last = g[c.nodes.back()];
    if (c.nodes.size() > 1) return plan_compute(g, c, places);
    Meaning m = meaning_of(g, last);
    if (std::holds_alternative<View>(m)) return;  // place_of finds the bytes
    if (std::holds_alternative<Compute>(m)) return plan_compute(g, c, places);
    if (auto* s = std::get_if<Scatter>(&m)) return plan_scatter(g, c, *s, places);
    if (auto* o = std::get_if<Opaque>(&m)) return plan_opaque(g, c, *o, places);
    if (auto* f = std::get_if<Control>(&m)) return f->form == Control::Loop ? plan_loop(g, last, places) : plan_if(g, last, places);
    throw CompileError(Code::E0402, fmt::format("`{}` has no kernel yet: its output's size depends on data", last.op->name));
  }

  // ---- kernels ------------------------------------------------------------------------------------------------------
  void plan_compute(const Graph& g, const Cluster& c, Places& places) {
    std::vector<OutputExpr> outs = fuse(g, c);
    // outputs of one shape share a kernel; others get one each
    for (size_t i = 0; i < outs.size(); ++i) {
      if (product(g.type(c.outputs[i]).shape).is_static(0)) {
        place_output(g, c.outputs[i], places);
        continue;
      }
      Cluster one{c.nodes, {c.outputs[i]}, c.why};
      add_kernel(g, one, lower_kernel(g, one, {outs[i]}), places);
    }
  }
  void plan_scatter(const Graph& g, const Cluster& c, const Scatter& s, Places& places) {
    const Node& n = g[c.nodes[0]];
    Cluster one{c.nodes, {n.outputs[0]}, c.why};
    OutputExpr start = s.start;
    start.value = rewrite(start.value, [&](Expr x) -> Expr {
      return x.op() == Op::Load ? load(n.inputs[x.operand()].index, x.type(), x.index(), x.outside(), x.checked()) : x;
    });
    if (product(g.type(n.outputs[0]).shape).is_static(0)) return void(place_output(g, n.outputs[0], places));
    add_kernel(g, one, lower_kernel(g, one, {start}), places);
    add_kernel(g, one, lower_scatter(g, n, s), places);
  }
  void plan_opaque(const Graph& g, const Cluster& c, const Opaque& o, Places& places) {
    const Node& n = g[c.nodes[0]];
    LoweredKernel k;
    k.kernel.form = Form::Opaque;
    k.kernel.opaque = o.kernel;
    k.kernel.opaque_numbers = o.numbers;
    for (auto* list : {&n.outputs, &n.inputs})
      for (ValueId v : *list) {
        if (!v) throw CompileError(Code::E0402, fmt::format("`{}` with an absent operand has no kernel", n.op->name));
        k.operands.push_back(v);
        k.kernel.operands.push_back(g.type(v).dtype);
      }
    Cluster one{c.nodes, n.outputs, c.why};
    add_kernel(g, one, std::move(k), places);
  }

  void add_kernel(const Graph& g, const Cluster& c, LoweredKernel lowered, Places& places) {
    Kernel& k = lowered.kernel;
    for (NodeId n : c.nodes) k.origin = merge(k.origin, g[n].origin);
    k.title = title_of(g, c);
    std::vector<Place> at;
    for (ValueId v : lowered.operands) {
      bool output = std::find(c.outputs.begin(), c.outputs.end(), v) != c.outputs.end();
      at.push_back(output ? place_output(g, v, places) : place_of(g, v, places));
    }
    std::vector<Ref> refs;
    for (const Place& p : at) refs.push_back(use(p));
    Origin origin = k.origin;
    int chunks = chunks_of(k);
    uint32_t number = intern(std::move(k));
    Step& s = push(StepKind::Kernel, std::move(refs), origin);
    s.kernel = number;
    s.chunks = chunks;
    s.written = c.outputs;
  }

  /// Enough chunks for the threads to even out, none for kernels too small to be worth waking one.
  static int chunks_of(const Kernel& k) {
    if (k.form != Form::Nest) return 1;
    double points = 1;
    for (Expr a : k.axes) points *= static_cast<double>(a.extent().int_value());
    double work = 0;
    for (const Store& s : k.stores) work += points * cost_of(s.value);
    constexpr double kWorthAThread = 50'000;  // operations, some 5 us
    return static_cast<int>(std::clamp(work / kWorthAThread, 1.0, 64.0));
  }
  static double cost_of(Expr e) {
    double c = 0;
    std::map<Expr, double, bool (*)(Expr, Expr)> memo([](Expr a, Expr b) { return a.id() < b.id(); });
    std::vector<Expr> roots{e};
    visit(roots, [&](Expr x) {
      double own = 1;
      if (x.op() == Op::Fold && x.arg(0).extent().is_const()) {
        double body = 0;
        std::vector<Expr> b{x.arg(1)};
        visit(b, [&](Expr y) { body += y.op() == Op::Fold ? memo[y] : 1; });
        own = body * static_cast<double>(x.arg(0).extent().int_value());
      }
      memo[x] = own;
      c += own;
    });
    return c;
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
    std::string s = fmt::format("{} {} {}|", static_cast<int>(k.form), k.lanes, k.opaque);
    for (DType t : k.operands) s += fmt::format("{},", name(t));
    for (int64_t n : k.opaque_numbers) s += fmt::format("{},", n);
    std::map<uint64_t, size_t> vars;
    std::map<uint32_t, size_t> nodes;
    std::vector<Expr> roots(k.axes.begin(), k.axes.end());
    for (const Store& st : k.stores) roots.insert(roots.end(), {st.offset, st.guard, st.value});
    visit(roots, [&](Expr e) {
      uint64_t bits = e.op() == Op::Var ? vars.try_emplace(e.var_number(), vars.size()).first->second : e.bits();
      s += fmt::format(";{}:{}:{:x}", static_cast<int>(e.op()), static_cast<int>(e.type()), bits);
      for (Expr a : e.args()) s += fmt::format(" {}", nodes.at(a.id()));
      nodes.emplace(e.id(), nodes.size());
    });
    for (const Store& st : k.stores) s += fmt::format("|{} {} {} {}", st.operand, nodes.at(st.offset.id()), nodes.at(st.guard.id()), nodes.at(st.value.id()));
    for (Expr a : k.axes) s += fmt::format("|{}", nodes.at(a.id()));
    return s;
  }

  // ---- control flow -------------------------------------------------------------------------------------------------
  static bool always_true(const Graph& g, ValueId v) { return !v || (g[v].constant && g[v].constant->get_int(0) != 0); }

  void plan_loop(const Graph& g, const Node& n, Places& places) {
    const Graph& body = *n.bodies[0];
    // node: trips, condition, carried.., captured.. -> carried.., scans..; body: iteration, condition, carried.., captured.. ->
    // condition, carried.., scans..
    size_t captured = static_cast<size_t>(NodeView(g, n).attr_int("captures"));
    size_t carried = body.inputs().size() - 2 - captured;
    size_t scans = n.outputs.size() - carried;
    ValueId trips = n.inputs.size() > 0 ? n.inputs[0] : ValueId{}, condition = n.inputs.size() > 1 ? n.inputs[1] : ValueId{};
    ValueId body_condition = body.inputs()[1], condition_out = body.outputs()[0].value;
    bool conditional = !(always_true(g, condition) && (condition_out == body_condition || (body[condition_out].constant && always_true(body, condition_out))));

    Place counter = new_buffer(8, "iteration"), flag = new_buffer(1, "condition");
    Constant yes = std::make_shared<const Tensor>(Tensor::scalar(DType::b1, 1));
    Place initial = condition ? place_of(g, condition, places) : Place{{Base::Weights, 0, weights_.add(yes)}, {}};
    copy(flag, initial, 1, n.origin);

    std::vector<Place> inputs{counter, flag}, outputs{flag};
    std::vector<std::pair<uint32_t, uint32_t>> swaps;
    std::vector<std::pair<uint32_t, int64_t>> advances;
    std::vector<Place> finals;
    for (size_t i = 0; i < carried; ++i) {
      int64_t bytes = bytes_of(body.type(body.inputs()[2 + i]));
      Place now_at = new_buffer(bytes, "carried"), next_at = new_buffer(bytes, "carried");
      copy(now_at, place_of(g, n.inputs[2 + i], places), bytes, n.origin);
      uint32_t a = plan_.slots++, b = plan_.slots++;
      set_base(a, now_at, n.origin);
      set_base(b, next_at, n.origin);
      std::vector<int> both{now_at.buffers[0], next_at.buffers[0]};
      inputs.push_back({{Base::Slot, a, 0}, both});
      outputs.push_back({{Base::Slot, b, 0}, both});
      finals.push_back({{Base::Slot, a, 0}, both});
      swaps.push_back({a, b});
    }
    for (size_t i = 0; i < captured; ++i) inputs.push_back(place_of(g, n.inputs[2 + carried + i], places));
    for (size_t i = 0; i < scans; ++i) {
      ValueId v = n.outputs[carried + i];
      Place at = v ? place_output(g, v, places) : new_buffer(bytes_of(body.type(body.outputs()[1 + carried + i].value)), "unused");
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
    if (trips && !trips_known) { refs.push_back(use(place_of(g, trips, places))); flags |= 1; }
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

  void plan_if(const Graph& g, const Node& n, Places& places) {
    std::vector<Place> outputs, captured;
    for (ValueId v : n.outputs) outputs.push_back(v ? place_output(g, v, places) : Place{});
    for (size_t i = 1; i < n.inputs.size(); ++i) captured.push_back(place_of(g, n.inputs[i], places));
    int test = now();
    Ref condition = use(place_of(g, n.inputs[0], places));
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
  std::map<std::string, uint32_t> kernels_;
};

}  // namespace

Plan make_plan(const Graph& g, const Target& target, WeightPool& weights, Diagnostics& diagnostics) {
  Plan plan;
  plan.target = target;
  Planner(plan, weights, diagnostics).plan_root(g);
  return plan;
}

Interface interface_of(const Graph& g) {
  Interface io;
  for (ValueId v : g.inputs()) io.inputs.push_back({g[v].name, g.type(v)});
  for (const Port& p : g.outputs()) io.outputs.push_back({p.name, g.type(p.value)});
  return io;
}

}  // namespace cameo
