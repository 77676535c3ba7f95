// Groups of several steps: kernels behind each other in the plan of which none reads or writes what another one writes.
// A processor's threads share their chunks as one job: a group has one barrier where its steps would have one each, and
// a step that is too small to be shared does not keep the other threads waiting.
//
// What a step touches is read off its lowered offsets: sums of terms, each with a stride and a range. Two of them in
// one buffer are apart where their ranges are, or, as windows side by side, where they are modulo one of the strides.
#include <algorithm>

#include "optimizer/choose/custom_call.h"
#include "optimizer/choose/family.h"

namespace cameo {
namespace {

constexpr int kMostSteps = 64;        // of a group: a thread looks for the step of its chunk one by one
constexpr size_t kMostAccesses = 16;  // of a kernel to one operand that are told apart

/// Bytes of an operand: `first` plus, for each stride, a multiple of it, of `spread` bytes altogether at most; from
/// there `bytes` neighbours.
struct Access {
  struct Stride {
    int64_t bytes, spread;
  };
  uint32_t operand = 0;
  bool written = false, whole = false;  // whole: any byte of its buffer
  int64_t first = 0, bytes = 0;
  std::vector<Stride> strides;

  int64_t end() const {
    int64_t at = first + bytes;
    for (const Stride& s : strides) at += s.spread;
    return at;
  }
};

Access access_to(uint32_t operand, DType type, Expr offset, bool written) {
  constexpr int64_t kFar = int64_t{1} << 48;  // elements
  Access a{operand, written, true, 0, 0, {}};
  const Interval range = range_of(offset);
  const Affine sum = affine(offset);
  if (range.low < -kFar || range.high > kFar || !never_wraps(sum)) return a;
  const auto size = static_cast<int64_t>(byte_size(type));
  Wide first = sum.constant;
  for (const Affine::Term& t : sum.terms) {
    const Interval r = range_of(t.term);
    if (t.coefficient < -kFar || t.coefficient > kFar) return a;
    const Wide spread = (r.high - r.low) * std::abs(t.coefficient);
    first += t.coefficient * (t.coefficient > 0 ? r.low : r.high);
    if (spread > kFar || first < -kFar || first > kFar) return a;
    a.strides.push_back({std::abs(t.coefficient) * size, static_cast<int64_t>(spread) * size});
  }
  a.whole = false;
  a.first = static_cast<int64_t>(first) * size;
  a.bytes = size;
  return a;
}

/// One for many: all between the lowest and the highest byte.
Access hull_of(std::span<const Access> accesses) {
  Access hull = accesses[0];
  int64_t end = hull.end();
  for (const Access& a : accesses) {
    hull.written |= a.written;
    hull.whole |= a.whole;
    hull.first = std::min(hull.first, a.first);
    end = std::max(end, a.end());
  }
  hull.strides.clear();
  hull.bytes = end - hull.first;
  return hull;
}

std::vector<Access> accesses_of(const Kernel& k) {
  std::vector<std::vector<Access>> by_operand(k.operands.size());
  std::vector<Expr> roots;
  for (const Store& s : k.stores) {
    by_operand[s.operand].push_back(access_to(s.operand, k.operands[s.operand], s.offset, true));
    roots.insert(roots.end(), {s.offset, s.guard, s.value});
    roots.insert(roots.end(), s.blamed.begin(), s.blamed.end());
  }
  if (k.accumulated) roots.push_back(k.accumulated);
  visit(roots, [&](Expr e) {
    if (e.op() == Op::Read && !e.guard().is_const(0))
      by_operand[e.operand()].push_back(access_to(e.operand(), k.operands[e.operand()], e.offset(), false));
  });
  std::vector<Access> all;
  for (uint32_t o = 0; o < by_operand.size(); ++o) {
    std::vector<Access>& of_operand = by_operand[o];
    if (k.node) of_operand = {{o, k.family->writes(k, o), true, 0, 0, {}}};
    if (of_operand.size() > kMostAccesses) of_operand = {hull_of(of_operand)};
    all.insert(all.end(), of_operand.begin(), of_operand.end());
  }
  return all;
}

/// Where an access lies on a circle of `pitch` bytes; false where it may be anywhere on it.
bool arc_on(int64_t pitch, const Access& a, int64_t base, int64_t& begin, int64_t& length) {
  length = a.bytes;
  for (const Access::Stride& s : a.strides)
    if (s.bytes % pitch) length += s.spread;
  begin = ((base + a.first) % pitch + pitch) % pitch;
  return length <= pitch;
}

bool apart_on(int64_t pitch, const Access& a, int64_t a_base, const Access& b, int64_t b_base) {
  int64_t a_begin = 0, a_length = 0, b_begin = 0, b_length = 0;
  if (pitch <= 0 || !arc_on(pitch, a, a_base, a_begin, a_length) || !arc_on(pitch, b, b_base, b_begin, b_length))
    return false;
  const int64_t distance = ((b_begin - a_begin) % pitch + pitch) % pitch;
  return distance >= a_length && distance + b_length <= pitch;
}

/// Of two accesses to one memory, whose operands begin at these bytes of it.
bool apart(const Access& a, int64_t a_base, const Access& b, int64_t b_base) {
  if (a.whole || b.whole) return false;
  if (a_base + a.end() <= b_base + b.first || b_base + b.end() <= a_base + a.first) return true;
  for (const Access* one : {&a, &b})
    for (const Access::Stride& s : one->strides)
      if (apart_on(s.bytes, a, a_base, b, b_base)) return true;
  return false;
}

class GroupFinder {
 public:
  explicit GroupFinder(const Plan& plan) : plan_(plan) {
    if (plan.target.shares_groups)
      for (const Kernel& k : plan.kernels) accesses_.push_back(accesses_of(k));
  }
  std::vector<Group> run() const {
    std::vector<Group> groups;
    for (int i = 0, end = 0; i < std::ssize(plan_.steps); i = end) {
      end = end_of_strip(plan_, i);
      if (groups.empty() || waits(i, end, groups.back())) groups.push_back({i, i});
      groups.back().end = end;
    }
    return groups;
  }

 private:
  /// A step, or those of a strip.
  bool waits(int begin, int end, const Group& before) const {
    const std::span<const Step> steps = steps_of(plan_, before), more = steps_of(plan_, {begin, end});
    return !plan_.target.shares_groups || std::ranges::count(steps, false, &Step::follows) >= kMostSteps ||
           more[0].kind != StepKind::Kernel || steps[0].kind != StepKind::Kernel || is_alone(more[0]) ||
           is_alone(steps[0]) || !std::ranges::all_of(more, [&](const Step& s) {
             return std::ranges::all_of(steps, [&](const Step& t) { return independent(t, s); });
           });
  }
  /// A custom function's scratch says why it failed until the run ends, which another step would write to.
  bool is_alone(const Step& s) const {
    const Kernel& k = plan_.kernels[s.kernel];
    return keeps_lists(k) || custom_of(k);
  }
  bool independent(const Step& x, const Step& y) const {
    for (const Access& a : accesses_[x.kernel])
      for (const Access& b : accesses_[y.kernel])
        if ((a.written || b.written) && meet(a, x.refs[a.operand], b, y.refs[b.operand])) return false;
    return true;
  }
  static bool meet(const Access& a, const Ref& at_a, const Access& b, const Ref& at_b) {
    if (at_a.base == Base::Scratch || at_b.base == Base::Scratch) return false;
    if (at_a.base != at_b.base || at_a.number != at_b.number)
      return (at_a.base == Base::Slot && moves(at_b)) || (at_b.base == Base::Slot && moves(at_a));
    return !apart(a, at_a.offset, b, at_b.offset);
  }
  /// Whether a slot may be there.
  static bool moves(const Ref& r) { return r.base == Base::Arena || r.base == Base::Output || r.base == Base::Slot; }

  const Plan& plan_;
  std::vector<std::vector<Access>> accesses_;  // by kernel
};

}  // namespace

int end_of_strip(const Schedule& schedule, int step) {
  int end = step + 1;
  while (end < std::ssize(schedule.steps) && schedule.steps[end].follows) ++end;
  return end;
}

void keep_shared_groups(Plan& plan) {
  std::vector<Group> kept;
  for (const Group& g : plan.groups) {
    const std::span<const Step> steps = steps_of(plan, g);
    const bool has_strips = std::ranges::count(steps, true, &Step::follows) > 0;
    if (has_strips || std::ranges::any_of(steps, [](const Step& s) { return s.chunks > 1; }))
      kept.push_back(g);
    else
      for (int i = g.begin; i < g.end; ++i) kept.push_back({i, i + 1});
  }
  plan.groups = std::move(kept);
}

void find_groups(Plan& plan) {
  plan.groups = GroupFinder(plan).run();
  keep_shared_groups(plan);
}

}  // namespace cameo
