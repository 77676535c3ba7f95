// See verify_plan.h. How far a kernel reaches from each of its operands is read off its offsets: the range of what is
// loaded and stored without a guard. What a guard keeps in range is left to `run_plan`.
#include "optimizer/plan/verify_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "optimizer/lower/lower_kernel.h"

namespace cameo {
namespace {

using Problems = std::vector<std::string>;

/// Distinct indices have distinct offsets: each axis steps over all that the finer ones reach.
bool injective(const Layout& l, const std::vector<int64_t>& dims) {
  const std::vector<int64_t> pitch = extents(l.pitch);
  int64_t reach = 0;
  for (size_t i = l.order.size(); i-- > 0;) {
    auto a = static_cast<size_t>(l.order[i]);
    if (dims[a] <= 1) continue;
    if (pitch[a] <= reach) return false;
    reach += pitch[a] * (dims[a] - 1);
  }
  return true;
}

/// Whether an offset has an index that runs over nothing: no element there is touched.
bool is_never(Expr offset) {
  bool never = false;
  visit(std::vector{offset}, [&](Expr e) { never |= e.op() == Op::Var && e.extent().is_const(0); });
  return never;
}

/// The elements after the operand's first that a kernel may touch; one past the last.
std::vector<int64_t> extents_of(const Kernel& k) {
  std::vector<int64_t> reach(k.operands.size(), 0);
  if (std::ranges::any_of(k.axes, [](Expr axis) { return axis.extent().is_const(0); })) return reach;
  auto touch = [&](uint32_t operand, Expr offset) {
    Interval r = range_of(offset);
    if (r.known() && operand < reach.size() && !is_never(offset))
      reach[operand] = std::max(reach[operand], static_cast<int64_t>(r.high + 1));
  };
  std::vector<Expr> values;
  for (const Store& s : k.stores) {
    if (s.guard.is_const(1)) touch(s.operand, s.offset);
    values.push_back(s.value);
    values.push_back(s.offset);
  }
  if (k.accumulated) values.push_back(k.accumulated);
  visit(values, [&](Expr e) {
    if (e.op() == Op::Read && e.guard().is_const(1)) touch(e.operand(), e.offset());
  });
  return reach;
}

class PlanVerifier {
 public:
  PlanVerifier(const Plan& plan, const Interface& io, int64_t weights_bytes)
      : plan_(plan), io_(io), weights_bytes_(weights_bytes) {}

  Problems run() {
    check_buffers();
    for (const Kernel& k : plan_.kernels) reaches_.push_back(extents_of(k));
    for (size_t i = 0; i < plan_.steps.size(); ++i) check_step(static_cast<int>(i));
    for (const Tap& t : plan_.taps)
      if (t.step < 0 || t.step >= static_cast<int>(plan_.steps.size()))
        problems_.push_back(fmt::format("tap `{}` is behind step {}, which is none", printable(t.name), t.step));
    return std::move(problems_);
  }

 private:
  void say(int step, std::string what) { problems_.push_back(fmt::format("step {}: {}", step, std::move(what))); }

  void check_buffers() {
    std::vector<size_t> order(plan_.buffers.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t i) { return plan_.buffers[i].offset; });
    for (size_t i = 0; i < order.size(); ++i) {
      const Buffer& a = plan_.buffers[order[i]];
      if (a.offset < 0 || a.offset + a.bytes > plan_.arena_bytes)
        problems_.push_back(
            fmt::format("buffer {} stands at {} of {} arena bytes", order[i], a.offset, plan_.arena_bytes));
      for (size_t j = i + 1; j < order.size(); ++j) {
        const Buffer& b = plan_.buffers[order[j]];
        if (b.offset >= a.offset + a.bytes) break;
        if (a.first <= b.last && b.first <= a.last)
          problems_.push_back(fmt::format("buffers {} and {} overlap while both live", std::min(order[i], order[j]),
                                          std::max(order[i], order[j])));
      }
    }
  }

  void check_step(int number) {
    const Step& s = plan_.steps[number];
    int end = static_cast<int>(plan_.steps.size());
    bool jumps = s.kind == StepKind::Jump || s.kind == StepKind::JumpIfFalse || s.kind == StepKind::LoopBegin ||
                 s.kind == StepKind::LoopEnd;
    if (jumps && (s.jump < 0 || s.jump > end))
      say(number, fmt::format("jumps to {}, the plan ends at {}", s.jump, end));
    if (s.kind == StepKind::LoopEnd && s.jump >= 0 && s.jump < end && plan_.steps[s.jump].kind != StepKind::LoopBegin)
      say(number, fmt::format("ends a loop that step {} does not begin", s.jump));
    for (uint32_t slot : slots_of(s))
      if (slot >= plan_.slots) say(number, fmt::format("slot{} of {}", slot, plan_.slots));
    if (s.kind == StepKind::LoopBegin && s.a >= plan_.loops)
      say(number, fmt::format("loop {} of {}", s.a, plan_.loops));
    if (s.kind == StepKind::Kernel) return check_kernel(number, s);
    for (const Ref& r : s.refs)
      check_ref(number, r, s.kind == StepKind::Copy || s.kind == StepKind::Sizes ? s.bytes : 1);
  }
  static std::vector<uint32_t> slots_of(const Step& s) {
    std::vector<uint32_t> slots;
    if (s.kind == StepKind::SetBase || s.kind == StepKind::Advance || s.kind == StepKind::Swap) slots.push_back(s.a);
    if (s.kind == StepKind::Swap) slots.push_back(s.b);
    for (const Ref& r : s.refs)
      if (r.base == Base::Slot) slots.push_back(r.number);
    return slots;
  }
  void check_kernel(int number, const Step& s) {
    if (s.kernel >= plan_.kernels.size())
      return say(number, fmt::format("kernel {} of {}", s.kernel, plan_.kernels.size()));
    const Kernel& k = plan_.kernels[s.kernel];
    if (s.chunks < 1 || s.chunks > 65535) say(number, fmt::format("has {} chunks", s.chunks));
    if (s.follows && s.chunks != 1) say(number, fmt::format("is part of a strip and has {} chunks", s.chunks));
    if (s.refs.size() != k.operands.size())
      return say(number,
                 fmt::format("gives `{}` {} operands, it takes {}", k.symbol, s.refs.size(), k.operands.size()));
    for (size_t i = 0; i < s.refs.size(); ++i)
      if ((s.refs[i].base == Base::Scratch) != k.is_in_scratch(i))
        say(number, fmt::format("`{}` takes operand {} from elsewhere than `{}`", k.symbol, i, to_string(s.refs[i])));
    if (has_no_points(k)) return;
    for (size_t i = 0; i < s.refs.size(); ++i)
      check_ref(number, s.refs[i], reaches_[s.kernel][i] * byte_size(k.operands[i]));
    for (const Store& store : k.stores)
      for (uint32_t i = 0; i < s.refs.size(); ++i)
        if (i != store.operand) check_overwritten(number, s, k, store.operand, i);
  }
  /// An output at an operand's own place; what overlaps otherwise are windows side by side in one buffer.
  void check_overwritten(int number, const Step& s, const Kernel& k, uint32_t written, uint32_t read) {
    bool stored = std::ranges::any_of(k.stores, [&](const Store& o) { return o.operand == read; });
    if (s.refs[written] != s.refs[read] || reaches_[s.kernel][read] == 0 || stored || may_overwrite(k, read)) return;
    const std::vector<int64_t> begin = base_offsets_of(k);  // of windows whose places only a run's sizes tell
    if (begin[written] * byte_size(k.operands[written]) != begin[read] * byte_size(k.operands[read])) return;
    say(number, fmt::format("`{}` writes `{}` and reads it elsewhere", k.symbol, to_string(s.refs[written])));
  }

  /// `bytes` from the operand on must lie in its input, output or weights, or in one buffer that lives at this step.
  void check_ref(int step, const Ref& r, int64_t bytes) {
    if (r.base == Base::Slot) return;
    if (r.base != Base::Arena) {
      int64_t size = size_of(r);
      if (r.offset < 0 || r.offset + bytes > size)
        say(step, fmt::format("`{}` reaches {} bytes into {}", to_string(r), r.offset + bytes, size));
      return;
    }
    bool held = std::ranges::any_of(plan_.buffers, [&](const Buffer& b) {
      return b.first <= step && step <= b.last && b.offset <= r.offset && r.offset + bytes <= b.offset + b.bytes;
    });
    if (!held) say(step, fmt::format("`{}` and {} bytes from there lie in no buffer that lives", to_string(r), bytes));
  }
  int64_t size_of(const Ref& r) const {
    if (r.base == Base::Weights) return weights_bytes_;
    if (r.base == Base::Host) return plan_.host_bytes;
    if (r.base == Base::Scratch) return plan_.scratch_bytes.upper();
    const auto& list = r.base == Base::Input ? io_.inputs : io_.outputs;
    if (r.number >= list.size()) return -1;
    return packed_bytes(list[r.number].type).upper();
  }

  const Plan& plan_;
  const Interface& io_;
  int64_t weights_bytes_;
  std::vector<std::vector<int64_t>> reaches_;  // by kernel and operand, in elements
  Problems problems_;
};

}  // namespace

Problems verify_layouts(const Graph& g, const std::vector<Layout>& layouts) {
  Problems problems;
  auto say = [&](uint32_t v, std::string_view what) {
    std::string name = g.values()[v].name;
    problems.push_back(fmt::format("the layout of {} {}: {}",
                                   name.empty() ? fmt::format("%{}", v) : "`" + printable(name) + "`", what,
                                   to_string(layouts[v])));
  };
  if (layouts.size() != g.values().size())
    return {fmt::format("{} layouts of {} values", layouts.size(), g.values().size())};
  for (uint32_t v = 0; v < layouts.size(); ++v) {
    const Type& t = g.values()[v].type;
    const Layout& l = layouts[v];
    if (t.kind == Kind::Error || !is_static(t.shape) || !is_static(l)) continue;
    std::vector<int64_t> dims = extents(t.shape);
    if (l.pitch.size() != dims.size() || l.order.size() != dims.size()) {
      say(v, "has another rank");
      continue;
    }
    if (element_count(dims) == 0) continue;
    int64_t last = l.base_offset.value();
    for (size_t a = 0; a < dims.size(); ++a) last += (dims[a] - 1) * l.pitch[a].value();
    if (l.base_offset.value() < 0 || last >= l.elements.value()) say(v, "does not cover its elements");
    if (!injective(l, dims)) say(v, "puts two elements in one place");
  }
  return problems;
}

Problems verify_plan(const Plan& plan, const Interface& io, int64_t weights_bytes) {
  Problems problems = PlanVerifier(plan, io, weights_bytes).run();
  return problems.empty() ? verify_groups(plan) : problems;
}

}  // namespace cameo
