// Memory planning: see place_buffers in plan.h.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "optimizer/plan/plan.h"

namespace cameo {
namespace {
constexpr int64_t kAlign = 64;
int64_t align(int64_t n) { return (n + kAlign - 1) / kAlign * kAlign; }
bool live_at_once(const Buffer& a, const Buffer& b) { return a.first <= b.last && b.first <= a.last; }
}  // namespace

int64_t place_buffers(std::vector<Buffer>& buffers) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return buffers[a].bytes > buffers[b].bytes; });
  std::vector<size_t> placed;  // by offset
  int64_t total = 0;
  for (size_t i : order) {
    Buffer& b = buffers[i];
    b.offset = 0;
    for (size_t j : placed) {  // the first gap that is large enough
      const Buffer& p = buffers[j];
      if (!live_at_once(b, p)) continue;
      if (b.offset + align(b.bytes) <= p.offset) break;
      b.offset = std::max(b.offset, p.offset + align(p.bytes));
    }
    auto at = std::find_if(placed.begin(), placed.end(), [&](size_t j) { return buffers[j].offset > b.offset; });
    placed.insert(at, i);
    total = std::max(total, b.offset + align(b.bytes));
  }
  return total;
}

namespace {
/// Each target's plan packs for itself; tensors that differ mostly do so at once.
bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.size() == 0 || std::memcmp(a.bytes().data(), b.bytes().data(), a.bytes().size()) == 0;
}
}  // namespace

int64_t WeightPool::add(const Constant& tensor) {
  for (const Entry& e : entries)
    if (e.tensor == tensor || (e.tensor->bytes().size() == tensor->bytes().size() && same_bytes(*e.tensor, *tensor)))
      return e.offset;
  int64_t offset = bytes;
  entries.push_back({tensor, offset});
  bytes = align(offset + static_cast<int64_t>(tensor->bytes().size()));
  return offset;
}

}  // namespace cameo
