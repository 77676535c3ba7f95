// verify_groups: every step is in one group, and no two steps or strips of a group touch one byte of which either
// writes it. Where the ranges of two accesses meet, both are written out as runs of bytes, which are then compared:
// another way than `find_groups` goes.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "optimizer/choose/family.h"
#include "optimizer/plan/verify_plan.h"

namespace cameo {
namespace {

using Runs = std::vector<std::pair<int64_t, int64_t>>;  // bytes from, to; sorted, apart
constexpr size_t kMostRuns = size_t{1} << 20;           // beyond, `run_plan` is left to find it

struct Access {
  uint32_t operand;
  bool written;
  Expr offset;  // in elements; null: anywhere
};

std::vector<Access> accesses_of(const Kernel& k) {
  std::vector<Access> all;
  if (k.node)
    for (uint32_t i = 0; i < k.operands.size(); ++i) all.push_back({i, k.family->writes(k, i), {}});
  std::vector<Expr> roots;
  for (const Store& s : k.stores) {
    all.push_back({s.operand, true, s.offset});
    roots.insert(roots.end(), {s.value, s.guard, s.offset});
    roots.insert(roots.end(), s.blamed.begin(), s.blamed.end());
  }
  if (k.accumulated) roots.push_back(k.accumulated);
  visit(roots, [&](Expr e) {
    if (e.op() == Op::Read && !e.guard().is_const(0)) all.push_back({e.operand(), false, e.offset()});
  });
  return all;
}

void join_neighbours(Runs& runs) {
  std::ranges::sort(runs);
  size_t kept = 0;
  for (size_t i = 1; i < runs.size(); ++i) {
    if (runs[i].first <= runs[kept].second)
      runs[kept].second = std::max(runs[kept].second, runs[i].second);
    else
      runs[++kept] = runs[i];
  }
  runs.resize(kept + 1);
}

/// All that an access of a known range can touch, relative to its operand; nullopt: too many runs.
std::optional<Runs> runs_of(Expr offset, int64_t size) {
  Affine sum = affine(offset);
  std::ranges::sort(sum.terms, {}, [](const Affine::Term& t) { return std::abs(t.coefficient); });
  Runs runs{{sum.constant * size, (sum.constant + 1) * size}};
  for (const Affine::Term& t : sum.terms) {
    const Interval values = range_of(t.term);
    if (Wide(runs.size()) * (values.high - values.low + 1) > Wide(kMostRuns)) {
      const int64_t step = std::abs(t.coefficient) * size;
      if (runs.size() > 1 || step > runs[0].second - runs[0].first) return std::nullopt;
      const auto low = static_cast<int64_t>(values.low), high = static_cast<int64_t>(values.high);
      const int64_t ends[] = {low * t.coefficient * size, high * t.coefficient * size};
      runs[0] = {runs[0].first + std::min(ends[0], ends[1]), runs[0].second + std::max(ends[0], ends[1])};
      continue;
    }
    Runs next;
    for (Wide v = values.low; v <= values.high; ++v) {
      const int64_t by = static_cast<int64_t>(v) * t.coefficient * size;
      for (const auto& [from, to] : runs) next.emplace_back(from + by, to + by);
    }
    runs = std::move(next);
    join_neighbours(runs);
  }
  return runs;
}

/// An access of a step: bytes of one memory. `from` and `to` bound what it touches.
struct Touch {
  int step, strip;  // the first step of its strip
  Ref at;
  bool written;
  Expr offset;  // in elements from there; null: anywhere
  int64_t size, from, to;
};

bool share_a_byte(const Touch& a, const Touch& b) {
  if (a.to <= b.from || b.to <= a.from) return false;
  if (!a.offset || !b.offset) return true;
  const std::optional<Runs> of_a = runs_of(a.offset, a.size), of_b = runs_of(b.offset, b.size);
  if (!of_a || !of_b) return false;
  for (size_t i = 0, j = 0; i < of_a->size() && j < of_b->size();) {
    const int64_t a_from = a.at.offset + (*of_a)[i].first, a_to = a.at.offset + (*of_a)[i].second;
    const int64_t b_from = b.at.offset + (*of_b)[j].first, b_to = b.at.offset + (*of_b)[j].second;
    if (a_to <= b_from)
      ++i;
    else if (b_to <= a_from)
      ++j;
    else
      return true;
  }
  return false;
}

bool collide(const Touch& a, const Touch& b) {
  if (a.strip == b.strip || !(a.written || b.written)) return false;
  if (a.at.base == b.at.base && a.at.number == b.at.number) return share_a_byte(a, b);
  return a.at.base == Base::Slot || b.at.base == Base::Slot;  // which stand in the arena or in outputs
}

class GroupVerifier {
 public:
  explicit GroupVerifier(const Plan& plan) : plan_(plan), accesses_(plan.kernels.size()) {}

  std::vector<std::string> run() {
    int behind = 0;
    for (const Group& g : plan_.groups) {
      if (g.begin != behind || g.end <= g.begin)
        return {fmt::format("a group of steps {} to {} follows step {}", g.begin, g.end - 1, behind - 1)};
      behind = g.end;
      if (plan_.steps[g.begin].follows ||
          (plan_.steps[g.begin].kind == StepKind::Kernel && g.end < end_of_strip(plan_, g.end - 1)))
        return {fmt::format("a strip is in the group of steps {} to {} and in another", g.begin, g.end - 1)};
    }
    if (behind != std::ssize(plan_.steps))
      return {fmt::format("groups have {} steps, the plan {}", behind, plan_.steps.size())};
    for (const Group& g : plan_.groups)
      if (g.end > g.begin + 1) check(g);
    return std::move(problems_);
  }

 private:
  void check(const Group& g) {
    std::vector<Touch> all;
    for (int i = g.begin; i < g.end; ++i) {
      const Step& s = plan_.steps[i];
      if (!s.follows) strip_ = i;
      if (s.kind != StepKind::Kernel || plan_.kernels.at(s.kernel).on_host) {
        problems_.push_back(fmt::format("step {}: stands beside others and is no kernel of the target", i));
        return;
      }
      add_touches(i, s, all);
    }
    for (size_t i = 0; i < all.size(); ++i)
      for (size_t j = i + 1; j < all.size(); ++j)
        if (collide(all[i], all[j])) {
          problems_.push_back(fmt::format("steps {} and {} stand side by side, but `{}` and `{}` share bytes",
                                          all[i].step, all[j].step, to_string(all[i].at), to_string(all[j].at)));
          return;
        }
  }
  void add_touches(int step, const Step& s, std::vector<Touch>& all) {
    const Kernel& k = plan_.kernels[s.kernel];
    if (has_no_points(k)) return;  // the least sizes may leave none
    if (accesses_[s.kernel].empty()) accesses_[s.kernel] = accesses_of(k);
    for (const Access& a : accesses_[s.kernel]) {
      const Ref& at = s.refs.at(a.operand);
      if (at.base == Base::Weights || at.base == Base::Input || at.base == Base::Scratch) continue;
      Touch t{step,      strip_,   at, a.written, {}, static_cast<int64_t>(byte_size(k.operands[a.operand])),
              INT64_MIN, INT64_MAX};
      if (a.offset && range_of(a.offset).known() && never_wraps(affine(a.offset))) {
        t.offset = a.offset;
        t.from = at.offset + static_cast<int64_t>(range_of(a.offset).low) * t.size;
        t.to = at.offset + static_cast<int64_t>(range_of(a.offset).high + 1) * t.size;
      }
      if (at.base == Base::Arena) keep_in_buffer(t);
      all.push_back(t);
    }
  }
  /// A guard sees to it.
  void keep_in_buffer(Touch& t) const {
    for (const Buffer& b : plan_.buffers)
      if (b.first <= t.step && t.step <= b.last && b.offset <= t.at.offset && t.at.offset < b.offset + b.bytes) {
        t.from = std::max(t.from, b.offset);
        t.to = std::min(t.to, b.offset + b.bytes);
      }
  }

  const Plan& plan_;
  std::vector<std::vector<Access>> accesses_;  // by kernel
  int strip_ = 0;                              // the first step of the one that is looked at
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> verify_groups(const Plan& plan) { return GroupVerifier(plan).run(); }

}  // namespace cameo
