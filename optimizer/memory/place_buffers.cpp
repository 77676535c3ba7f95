// Memory planning: see place_buffers in plan.h.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "optimizer/plan/plan.h"

namespace cameo {
namespace {
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
      if (b.offset + whole_lines(b.bytes) <= p.offset) break;
      b.offset = std::max(b.offset, p.offset + whole_lines(p.bytes));
    }
    auto at = std::find_if(placed.begin(), placed.end(), [&](size_t j) { return buffers[j].offset > b.offset; });
    placed.insert(at, i);
    total = std::max(total, b.offset + whole_lines(b.bytes));
  }
  return total;
}

namespace {
/// Each target's plan packs for itself; tensors that differ mostly do so at once.
bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.size() == 0 || std::memcmp(a.bytes().data(), b.bytes().data(), a.bytes().size()) == 0;
}
}  // namespace

namespace {
/// With the numbers of the strings in place of their codes.
Constant numbered(const Constant& tensor, WeightPool& pool) {
  if (tensor->dtype() != DType::str) return tensor;
  Tensor out(DType::i64, tensor->dims());
  for (int64_t i = 0; i < out.size(); ++i) {
    const int64_t code = tensor->get_int(i);
    if (code == 0) continue;
    const auto [at, added] = pool.numbers.emplace(code, std::ssize(pool.strings) + 1);
    if (added) pool.strings.push_back(code);
    out.set_int(i, at->second);
  }
  return std::make_shared<const Tensor>(std::move(out));
}
}  // namespace

int64_t WeightPool::add(const Constant& tensor) {
  for (const Entry& e : entries)
    if (e.tensor == tensor ||
        (e.tensor->bytes().size() == tensor->bytes().size() &&
         (e.tensor->dtype() == DType::str) == (tensor->dtype() == DType::str) && same_bytes(*e.tensor, *tensor)))
      return e.offset;
  int64_t offset = bytes;
  entries.push_back({tensor, offset, numbered(tensor, *this)});
  bytes = whole_lines(offset + static_cast<int64_t>(tensor->bytes().size()));
  return offset;
}

}  // namespace cameo
