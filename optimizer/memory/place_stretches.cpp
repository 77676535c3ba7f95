// Places for buffers such that what a stretch needs lives all through it: its steps then do not reuse each other's
// memory. Where the arena would have to grow for that, those that do come to wait.
#include <algorithm>

#include "optimizer/plan/plan.h"

namespace cameo {
namespace {

bool overlap(const Buffer& a, const Buffer& b) {
  return a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
}

void live_through_stretches(const Plan& plan, std::vector<Buffer>& buffers) {
  std::vector<int> first(plan.steps.size()), last(plan.steps.size());  // by step: those of its stretch
  for_each_stretch(plan, [&](int begin, int end) {
    std::fill(first.begin() + begin, first.begin() + end, begin);
    std::fill(last.begin() + begin, last.begin() + end, end - 1);
  });
  for (Buffer& b : buffers) {
    b.first = b.first < std::ssize(first) ? first[b.first] : b.first;
    b.last = b.last < std::ssize(last) ? last[b.last] : b.last;
  }
}

/// A step waits that is the first one to use memory which a step of its stretch was the last one to use.
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
  for (int i = 0, begin = 0; i < std::ssize(plan.steps); ++i) {
    for (int earlier = begin; earlier < i && !plan.steps[i].joins; ++earlier) plan.steps[i].joins = reuses(i, earlier);
    if (plan.steps[i].joins) begin = i;
  }
}

}  // namespace

int end_of_stretch(const Plan& plan, int begin) {
  int end = begin + 1;
  while (end < std::ssize(plan.steps) && !plan.steps[end].joins) ++end;
  return end;
}

void for_each_stretch(const Plan& plan, const std::function<void(int begin, int end)>& f) {
  for (int begin = 0, end = 0; begin < std::ssize(plan.steps); begin = end) f(begin, end = end_of_stretch(plan, begin));
}

void place_stretches(Plan& plan) {
  std::vector<Buffer> wide = plan.buffers;
  live_through_stretches(plan, wide);
  plan.arena_bytes = place_buffers(plan.buffers);
  if (const int64_t bytes = place_buffers(wide); bytes <= plan.arena_bytes) {
    plan.buffers = std::move(wide);
    plan.arena_bytes = bytes;
    return;
  }
  wait_for_memory(plan);
  keep_shared_stretches(plan);
  live_through_stretches(plan, plan.buffers);
}

}  // namespace cameo
