// See pool_pieces.h.
#include "codegen/pool_pieces.h"

#include <cmath>

namespace cameo {
namespace {

constexpr int64_t kWorthMakingUp = 1024;  // elements: biases and scales of norms are as they are

bool can_make_up(DType t) { return t == DType::f32 || is_half(t); }
bool is_made_up(const Module& m, const WeightPool::Entry& e) {
  return m.made_up_seed && can_make_up(e.tensor->dtype()) && e.tensor->size() >= kWorthMakingUp;
}

}  // namespace

Pieces pool_pieces(const Module& m) {
  static constexpr std::byte kZeros[64]{};
  Pieces pieces;
  int64_t at = 0;
  auto fill_until = [&](int64_t end) {
    if (end > at) pieces.push_back(std::span(kZeros).first(static_cast<size_t>(end - at)));
  };
  for (const WeightPool::Entry& e : m.weights.entries) {
    fill_until(e.offset);
    if (!is_made_up(m, e)) pieces.push_back(e.shipped->bytes());
    at = e.offset + static_cast<int64_t>(e.tensor->bytes().size());
  }
  fill_until(m.weights.bytes);
  return pieces;
}

std::vector<MadeUpTensor> made_up_tensors(const Module& m) {
  std::vector<MadeUpTensor> tensors;
  for (const WeightPool::Entry& e : m.weights.entries) {
    if (!is_made_up(m, e)) continue;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < e.tensor->size(); ++i) {
      const double x = e.tensor->get(i);
      sum += x, squares += x * x;
    }
    const double count = static_cast<double>(e.tensor->size()), mean = sum / count;
    const double deviation = std::sqrt(std::max(0.0, squares / count - mean * mean));
    tensors.push_back(
        {e.offset, e.tensor->size(), e.tensor->dtype(), static_cast<float>(mean), static_cast<float>(deviation)});
  }
  return tensors;
}

}  // namespace cameo
