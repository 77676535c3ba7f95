// Layout arithmetic.
#include "frontend/ir/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace cameo {

Layout with_halo(const Shape& dims, std::span<const int> order, std::span<const int64_t> before,
                 std::span<const int64_t> after) {
  Layout l;
  l.pitch.resize(dims.size());
  l.order.assign(order.begin(), order.end());
  l.elements = 1;
  for (size_t i = order.size(); i-- > 0;) {
    auto a = static_cast<size_t>(order[i]);
    l.pitch[a] = l.elements;
    l.base_offset = l.base_offset + Dim(before[a]) * l.elements;
    l.elements = l.elements * (dims[a] + Dim(before[a]) + Dim(after[a]));
  }
  return l;
}
Layout ordered(const Shape& dims, std::span<const int> order) {
  std::vector<int64_t> none(dims.size(), 0);
  return with_halo(dims, order, none, none);
}
Layout row_major(const Shape& dims) {
  std::vector<int> order(dims.size());
  std::iota(order.begin(), order.end(), 0);
  return ordered(dims, order);
}
bool is_static(const Layout& l) { return is_static(l.pitch) && l.base_offset.is_static() && l.elements.is_static(); }
bool is_row_major(const Layout& l, const Shape& dims) {
  Layout r = row_major(dims);
  if (!l.base_offset.is_static(0) || l.elements != r.elements) return false;
  for (size_t a = 0; a < dims.size(); ++a)
    if (!dims[a].is_static(1) && l.pitch[a] != r.pitch[a]) return false;
  return true;
}
Expr physical(const Layout& l, std::span<const Expr> index) {
  Expr offset = l.base_offset.extent();
  for (size_t a = 0; a < index.size(); ++a) offset = offset + index[a] * l.pitch[a].extent();
  return simplify_index(offset);
}
Tensor relaid(const Tensor& t, const Layout& to) {
  Tensor out(t.dtype(), {to.elements.value()});
  const std::vector<int64_t> pitch = extents(to.pitch);
  auto size = static_cast<size_t>(byte_size(t.dtype()));
  std::vector<int64_t> index(t.dims().size(), 0);
  for (int64_t i = 0; i < t.size(); ++i) {
    int64_t at = to.base_offset.value();
    for (size_t a = 0; a < index.size(); ++a) at += index[a] * pitch[a];
    std::memcpy(out.mutable_bytes().data() + static_cast<size_t>(at) * size,
                t.bytes().data() + static_cast<size_t>(i) * size, size);
    for (size_t a = index.size(); a-- > 0;) {
      if (++index[a] < t.dims()[a]) break;
      index[a] = 0;
    }
  }
  return out;
}
std::string to_string(const Layout& l) {
  std::string pitch;
  for (const Dim& d : l.pitch) pitch += (pitch.empty() ? "" : ", ") + to_string(d);
  return fmt::format("pitch [{}] base_offset {} of {}", pitch, to_string(l.base_offset), to_string(l.elements));
}

}  // namespace cameo
