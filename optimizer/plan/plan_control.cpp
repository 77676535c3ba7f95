// Control flow is rows that jump: the bodies of Loop and If are planned into the same list of steps and the same arena.
// What a loop carries is double-buffered behind two slots that swap; what it scans is written through a slot that
// advances.
#include <algorithm>

#include "optimizer/plan/planner.h"
#include "runtime/program.h"

namespace cameo {
namespace {
const Type& type_of_output(const Graph& body, size_t i) { return body.type(body.outputs()[i].value); }
bool always_true(const Graph& g, ValueId v) { return !v || (g[v].constant && g[v].constant->get_int(0) != 0); }
/// Whether a body wants its condition for more than to hand it on as the next one.
bool reads_condition(const Graph& body) {
  const ValueId in = body.inputs()[1];
  return std::ranges::any_of(body.nodes(), [&](const Node& n) { return std::ranges::count(n.inputs, in) > 0; }) ||
         std::ranges::count(body.outputs().subspan(1), in, &Port::value) > 0;
}
}  // namespace

/// The node: trips, condition, carried.., captured.. -> carried.., scans..
/// Its body: iteration, condition, carried.., captured.. -> condition, carried.., scans..
struct Planner::Loop {
  const Node& n;
  const Graph& body;
  size_t captured, carried;
  bool conditional = false;
  Place counter{}, flag{};
  std::optional<Place> flag_of_round{};    // a copy that stays while the next condition is made
  std::vector<Place> inputs{}, outputs{};  // of the body
  std::vector<Place> finals{};             // where the carried values stand in the end
  std::vector<Step> turns{};               // Swap and Advance, after each round

  ValueId trips() const { return n.inputs.size() > 0 ? n.inputs[0] : ValueId{}; }
  ValueId condition() const { return n.inputs.size() > 1 ? n.inputs[1] : ValueId{}; }
  void turn(StepKind kind, uint32_t a, uint32_t b, Dim bytes) {
    Step s;
    s.kind = kind;
    s.a = a;
    s.b = b;
    s.move(bytes);
    s.provenance = n.provenance;
    turns.push_back(std::move(s));
  }
};

Planner::Loop Planner::open_loop(Frame& f, const Node& n) {
  const Graph& body = *n.bodies[0];
  Loop loop{n, body, captures_of(f.g, n), 0};
  loop.carried = body.inputs().size() - 2 - loop.captured;
  const ValueId in = body.inputs()[1], out = body.outputs()[0].value;
  const bool stays = out == in || (body[out].constant && always_true(body, out));
  loop.conditional = !(always_true(f.g, loop.condition()) && stays);
  loop.counter = new_buffer(8, "iteration");
  loop.flag = new_buffer(1, "condition");
  const Constant yes = std::make_shared<const Tensor>(Tensor::scalar(DType::b1, 1));
  copy(loop.flag,
       loop.condition() ? place_plain(f, loop.condition()) : Place{{Base::Weights, 0, weights_.add(yes)}, {}}, 1,
       n.provenance);
  if (out != in && reads_condition(body)) loop.flag_of_round = new_buffer(1, "condition");
  loop.inputs = {loop.counter, loop.flag_of_round.value_or(loop.flag)};
  loop.outputs = {loop.flag};
  return loop;
}
uint32_t Planner::new_slot(const Place& p, const Provenance& provenance) {
  const uint32_t slot = plan_.slots++;
  const Ref r = use(p);
  push(StepKind::SetBase, {r}, provenance).a = slot;
  return slot;
}
void Planner::carry(Frame& f, Loop& loop) {
  for (size_t i = 0; i < loop.carried; ++i) {
    const Dim bytes = bytes_of(loop.body.type(loop.body.inputs()[2 + i]));
    const Place now_at = new_buffer(bytes, "carried"), next_at = new_buffer(bytes, "carried");
    copy(now_at, place_plain(f, loop.n.inputs[2 + i]), bytes, loop.n.provenance);
    const uint32_t a = new_slot(now_at, loop.n.provenance), b = new_slot(next_at, loop.n.provenance);
    const std::vector<int> both{now_at.buffers[0], next_at.buffers[0]};
    loop.inputs.push_back({{Base::Slot, a, 0}, both});
    loop.outputs.push_back({{Base::Slot, b, 0}, both});
    loop.finals.push_back({{Base::Slot, a, 0}, both});
    loop.turn(StepKind::Swap, a, b, 0);
  }
}
void Planner::scan(Frame& f, Loop& loop) {
  for (size_t i = loop.carried; i < loop.n.outputs.size(); ++i) {
    const ValueId v = loop.n.outputs[i];
    const Dim bytes = bytes_of(loop.body.type(loop.body.outputs()[1 + i].value));
    const Place at = v ? place_output(f, v) : new_buffer(bytes, "unused");
    const uint32_t slot = new_slot(at, loop.n.provenance);
    loop.outputs.push_back({{Base::Slot, slot, 0}, at.buffers});
    loop.turn(StepKind::Advance, slot, 0, v ? bytes : 0);
  }
}
int Planner::begin_loop(Frame& f, const Loop& loop) {
  const int begin = now();
  push(StepKind::LoopBegin, {}, loop.n.provenance);
  const ValueId trips = loop.trips();
  const bool known = trips && f.g[trips].constant;
  std::vector<Ref> refs;
  uint32_t flags = rt::kCounterRef;
  if (trips && !known) refs.push_back(use(place_plain(f, trips))), flags |= rt::kTripRef;
  if (loop.conditional) refs.push_back(use(loop.flag)), flags |= rt::kConditionRef;
  refs.push_back(use(loop.counter));
  Step& head = plan_.steps[static_cast<size_t>(begin)];
  head.refs = std::move(refs);
  head.a = plan_.loops++;
  head.b = flags;
  head.bytes = known ? f.g[trips].constant->get_int(0) : trips ? 0 : INT64_MAX;
  return begin;
}
void Planner::end_loop(const Loop& loop, int begin) {
  plan_.steps.insert(plan_.steps.end(), loop.turns.begin(), loop.turns.end());
  for (const Place& p : loop.outputs) use(p);
  push(StepKind::LoopEnd, {}, loop.n.provenance).jump = begin;
  plan_.steps[static_cast<size_t>(begin)].jump = now();
  keep_alive(begin, now() - 1);
}
/// What was made before a loop and is read inside of it lives until the loop's end.
void Planner::keep_alive(int begin, int end) {
  for (Buffer& b : plan_.buffers)
    if (b.first <= begin && b.last >= begin) b.last = std::max(b.last, end);
}

void Planner::plan_loop(Frame& f, const Node& n) {
  Loop loop = open_loop(f, n);
  carry(f, loop);
  for (size_t i = 0; i < loop.captured; ++i) loop.inputs.push_back(place_plain(f, n.inputs[2 + loop.carried + i]));
  scan(f, loop);
  const int begin = begin_loop(f, loop);
  if (loop.flag_of_round) copy(*loop.flag_of_round, loop.flag, 1, n.provenance);
  plan_graph(loop.body, loop.inputs, loop.outputs);
  end_loop(loop, begin);
  for (size_t i = 0; i < loop.carried; ++i)
    if (n.outputs[i]) settle(f, n.outputs[i], loop.finals[i], n.provenance);
}

/// A value that has come to stand at `at` is copied to its place where it has one.
void Planner::settle(Frame& f, ValueId v, const Place& at, const Provenance& provenance) {
  if (f.places[v.index])
    copy(*f.places[v.index], at, bytes_of(f.g.type(v)), provenance);
  else
    f.places[v.index] = at;
}

void Planner::plan_if(Frame& f, const Node& n) {
  std::vector<Place> outputs, captured;
  std::vector<size_t> copied;  // outputs that the branches give in different sizes: they stand where both have room
  for (size_t i = 0; i < n.outputs.size(); ++i) {
    const Type &yes = type_of_output(*n.bodies[0], i), &no = type_of_output(*n.bodies[1], i);
    const bool differs = n.outputs[i] && yes.shape != no.shape;
    if (differs) copied.push_back(i);
    outputs.push_back(differs        ? new_buffer(larger(bytes_of(yes), bytes_of(no)), "either")
                      : n.outputs[i] ? place_output(f, n.outputs[i])
                                     : Place{});
  }
  for (size_t i = 1; i < n.inputs.size(); ++i) captured.push_back(place_plain(f, n.inputs[i]));
  const int test = now();
  const Ref condition = use(place_plain(f, n.inputs[0]));
  push(StepKind::JumpIfFalse, {condition}, n.provenance);
  plan_graph(*n.bodies[0], captured, outputs);
  for (const Place& p : outputs) use(p);
  const int over = now();
  push(StepKind::Jump, {}, n.provenance);
  plan_.steps[static_cast<size_t>(test)].jump = now();
  plan_graph(*n.bodies[1], captured, outputs);
  for (const Place& p : outputs) use(p);
  plan_.steps[static_cast<size_t>(over)].jump = now();
  for (size_t i : copied) settle(f, n.outputs[i], outputs[i], n.provenance);
}

}  // namespace cameo
