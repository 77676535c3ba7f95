// Places for buffers such that what a group needs lives all through it: its steps then do not reuse each other's
// memory. Where the arena would have to grow for that, those that do come to wait.
#include <algorithm>
#include <ranges>

#include "optimizer/plan/plan.h"

namespace cameo {
namespace {

bool overlap(const Buffer& a, const Buffer& b) {
  return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

void live_through_groups(const Plan& plan, std::vector<Buffer>& buffers) {
  for (Buffer& b : buffers) {
    if (b.first < std::ssize(plan.steps)) b.first = group_of(plan, b.first).begin;
    if (b.last < std::ssize(plan.steps)) b.last = group_of(plan, b.last).end - 1;
  }
}

/// A step waits that is the first one to use memory which a step of its group was the last one to use.
void wait_for_memory(Plan& plan) {
  std::vector<std::vector<const Buffer*>> begun(plan.steps.size() + 1), over(plan.steps.size() + 1);  // by step
  for (const Buffer& b : plan.buffers) {
    begun[b.first].push_back(&b);
    over[b.last].push_back(&b);
  }
  const auto reuses = [&](int step, int earlier) {
    return std::ranges::any_of(begun[step], [&](const Buffer* b) {
      return std::ranges::any_of(over[earlier], [&](const Buffer* gone) { return overlap(*gone, *b); });
    });
  };
  std::vector<Group> shorter;
  for (const Group& g : plan.groups)
    for (int i = g.begin; i < g.end; ++i) {
      const auto gave_memory = [&](int earlier) { return reuses(i, earlier); };
      if (i == g.begin || std::ranges::any_of(std::views::iota(shorter.back().begin, i), gave_memory))
        shorter.push_back({i, i});
      shorter.back().end = i + 1;
    }
  plan.groups = std::move(shorter);
}

}  // namespace

const Group& group_of(const Schedule& schedule, int step) {
  return *std::ranges::upper_bound(schedule.groups, step, {}, &Group::end);
}

void place_groups(Plan& plan) {
  std::vector<Buffer> wide = plan.buffers;
  live_through_groups(plan, wide);
  plan.arena_bytes = place_buffers(plan.buffers);
  if (const int64_t bytes = place_buffers(wide); bytes <= plan.arena_bytes) {
    plan.buffers = std::move(wide);
    plan.arena_bytes = bytes;
  } else {
    wait_for_memory(plan);
    keep_shared_groups(plan);
    live_through_groups(plan, plan.buffers);
  }
  place_blocks(plan);
}

}  // namespace cameo
