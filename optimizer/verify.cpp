// See verify.h. One walk over the nodes in order, with the values that stand so far; bodies are walked as graphs of
// their own.
#include "optimizer/verify.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/ir/check.h"
#include "frontend/ir/operator.h"
#include "optimizer/choose/claim.h"

namespace cameo {
namespace {

class Verifier {
 public:
  Verifier(const Graph& g, Waypoint from, std::vector<std::string>& problems)
      : g_(g), from_(from), problems_(problems), made_(g.values().size()) {}

  void run() {
    for (size_t v = 0; v < made_.size(); ++v) made_[v] = static_cast<bool>(g_.values()[v].constant);
    for (ValueId v : g_.inputs())
      if (exists(v, "an input of the graph")) made_[v.index] = true;
    for (uint32_t i = 0; i < g_.nodes().size(); ++i) check_node(NodeId{i});
    at_ = "the end of the graph";
    for (const Port& p : g_.outputs())
      if (exists(p.value, "an output of the graph") && !made_[p.value.index])
        say(fmt::format("output `{}` is never made", printable(p.name)));
    if (sound_ && from_ >= Waypoint::Replayed) check_reachable();
  }

 private:
  void say(std::string what) {
    problems_.push_back(at_ + ": " + std::move(what));
    sound_ = false;
  }
  bool exists(ValueId v, std::string_view what) {
    bool yes = v.index < g_.values().size();
    if (!yes) say(fmt::format("{} is no value of the graph", what));
    return yes;
  }

  void check_node(NodeId id) {
    const Node& n = g_[id];
    at_ = where(g_.sources(), n.provenance);
    if (at_.empty()) at_ = fmt::format("number {} (`{}`)", id.index, n.op->name);
    bool sound = sound_;
    sound_ = true;
    check_provenance(n);
    for (ValueId v : n.inputs)
      if (v && exists(v, "an operand") && !made_[v.index]) say(fmt::format("operand %{} is not made yet", v.index));
    for (ValueId v : n.outputs)
      if (v && exists(v, "a result")) check_result(id, v);
    if (sound_) check_types(n);  // a shape rule takes what it is given for sound
    if (sound_) check_bodies(n);
    if (sound_ && from_ >= Waypoint::Expanded) check_meaning(n);
    sound_ = sound_ && sound;
  }
  void check_provenance(const Node& n) {
    if (g_.sources().empty()) return;  // a graph that no model wrote
    if (n.provenance.empty()) say("comes from no node of the model");
    if (!std::ranges::is_sorted(n.provenance) || std::ranges::adjacent_find(n.provenance) != n.provenance.end())
      say("its provenance is no set");
    if (!n.provenance.empty() && n.provenance.back() >= g_.sources().size())
      say("comes from a node that the model has not");
  }
  void check_result(NodeId id, ValueId v) {
    if (g_[v].producer != id && !g_[v].constant) say(fmt::format("result %{} names another producer", v.index));
    if (made_[v.index] && !g_[v].constant) say(fmt::format("result %{} is made twice", v.index));
    made_[v.index] = true;
    const Type& t = g_.type(v);
    bool counted = t.kind == Kind::Tensor && is_static(t.shape);
    auto elements = counted ? static_cast<size_t>(product(t.shape).value()) : 0;
    if (!g_[v].content.empty() && (!counted || g_[v].content.size() != elements))
      say(fmt::format("result %{} has {} known elements, {} by its type", v.index, g_[v].content.size(), elements));
  }

  /// An extent that only the data tells gets a new symbol each time that it is inferred.
  static bool same(const Dim& a, const Dim& b) {
    bool open = false;
    std::vector<Expr> both{a.extent(), b.extent()};
    visit(both, [&](Expr e) { open |= e.op() == Op::Symbol && symbol_name(e).starts_with('?'); });
    return a == b || open;
  }
  static bool same(const Type& a, const Type& b) {
    if (a.kind != Kind::Tensor || b.kind != Kind::Tensor) return a.kind == b.kind;
    return a.dtype == b.dtype &&
           std::ranges::equal(a.shape, b.shape, [](const Dim& x, const Dim& y) { return same(x, y); });
  }
  void check_types(const Node& n) {
    Infer infer(g_, n, static_cast<int>(n.outputs.size()));
    try {
      n.op->infer(infer);
    } catch (const CompileError& e) { return say("cannot be typed again: " + e.diagnostic.message); }
    for (size_t i = 0; i < n.outputs.size(); ++i)
      if (n.outputs[i] && !same(g_.type(n.outputs[i]), *infer.types[i]))
        say(fmt::format("result %{} is {}, its shape rule says {}", n.outputs[i].index,
                        to_string(g_.type(n.outputs[i])), to_string(*infer.types[i])));
  }

  /// The values that a body takes over from outside are the last operands, in order.
  void check_bodies(const Node& n) {
    for (const auto& body : n.bodies) {
      const size_t captures = captures_of(g_, n);
      if (captures > n.inputs.size() || captures > body->inputs().size()) {
        say(fmt::format("captures {} values, its body has {} inputs", captures, body->inputs().size()));
        continue;
      }
      for (size_t i = 1; i <= captures; ++i) {
        ValueId outer = n.inputs[n.inputs.size() - i], inner = body->inputs()[body->inputs().size() - i];
        if (!outer || !same(g_.type(outer), body->type(inner)))
          say(fmt::format("captures %{}, its body expects {}", outer.index, to_string(body->type(inner))));
      }
      Verifier(*body, from_, problems_).run();
    }
  }

  void check_meaning(const Node& n) {
    if (!n.op->meaning) return;
    const Meaning& m = meaning_of(g_, n);
    if (std::holds_alternative<Composite>(m) && !is_claimed(n))
      say(fmt::format("`{}` is a composite that was not expanded", n.op->name));
    if (auto* view = std::get_if<View>(&m)) check_view(n, *view);
    auto* compute = std::get_if<Compute>(&m);
    for (size_t i = 0; compute && i < n.outputs.size(); ++i)
      if (n.outputs[i] &&
          (i >= compute->outputs.size() || compute->outputs[i].index.size() != g_.type(n.outputs[i]).shape.size()))
        say(fmt::format("the meaning of result %{} has another rank than its type", n.outputs[i].index));
  }
  void check_view(const Node& n, const View& view) {
    const Shape &from = g_.type(n.inputs[view.input]).shape, &to = g_.type(n.outputs[0]).shape;
    if (is_static(from) && is_static(to) && product(from).value() != product(to).value())
      say(fmt::format("views {} elements as {}", product(from).value(), product(to).value()));
  }

  void check_reachable() {
    std::vector<bool> wanted(g_.values().size());
    for (const Port& p : g_.outputs()) wanted[p.value.index] = true;
    for (size_t i = g_.nodes().size(); i-- > 0;) {
      const Node& n = g_.nodes()[i];
      if (!must_run(n) && std::ranges::none_of(n.outputs, [&](ValueId v) { return v && wanted[v.index]; })) {
        at_ = where(g_.sources(), n.provenance);
        say(fmt::format("`{}` is needed by no output", n.op->name));
      }
      for (ValueId v : n.inputs)
        if (v) wanted[v.index] = true;
    }
  }

  const Graph& g_;
  Waypoint from_;
  std::vector<std::string>& problems_;
  std::vector<bool> made_;
  std::string at_ = "the graph";
  bool sound_ = true;
};

}  // namespace

std::vector<std::string> verify(const Graph& g, Waypoint from) {
  std::vector<std::string> problems;
  Verifier(g, from, problems).run();
  return problems;
}

void require_sound(const std::vector<std::string>& problems, std::string_view what) {
  if (!problems.empty()) internal_error(fmt::format("{}: {}", what, fmt::join(problems, "\n  ")));
}

}  // namespace cameo
