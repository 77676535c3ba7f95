// Blocks for buffers of open sizes, which a run takes once it knows them. What is larger is not known, so a buffer
// takes the first block that is free, rather one of its own size than another, which then has room for both.
#include <algorithm>
#include <numeric>

#include "optimizer/plan/plan.h"

namespace cameo {

Dim larger(Dim a, Dim b) { return Dim(simplify_index(max(a.extent(), b.extent()))); }

void place_blocks(Plan& plan) {
  std::vector<size_t> order(plan.buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::erase_if(order, [&](size_t b) { return !plan.buffers[b].size; });
  std::ranges::stable_sort(order, {}, [&](size_t b) { return plan.buffers[b].first; });
  const std::vector<Expr> learned = learned_symbols(plan);
  std::vector<int> last;       // by block: the last step that needs it so far
  std::vector<size_t> stages;  // by block: what its sizes wait for
  for (size_t number : order) {
    Buffer& b = plan.buffers[number];
    const auto none = static_cast<uint32_t>(plan.blocks.size());
    b.block = none;
    for (uint32_t i = 0; i < none; ++i)
      if (last[i] < b.first && plan.blocks[i].on_host == b.on_host && stages[i] == waits_for(b.size, learned) &&
          (b.block == none || plan.blocks[i].bytes == b.size))
        b.block = i;
    if (b.block == none) {
      plan.blocks.push_back({b.size, b.on_host});
      last.push_back(b.last);
      stages.push_back(waits_for(b.size, learned));
      continue;
    }
    Expr& bytes = plan.blocks[b.block].bytes;
    if (bytes != b.size) bytes = larger(Dim(bytes), Dim(b.size)).extent();
    last[b.block] = b.last;
  }
}

}  // namespace cameo
