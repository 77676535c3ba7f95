// See relaid_constants.h.
#include "optimizer/layout/relaid_constants.h"

#include <fmt/format.h>

#include "runtime/kernels/contract_shape.h"

namespace cameo {
namespace {

std::string describe(const Packing& p) {
  std::string s = fmt::format("{}x{} from {}", p.column.extent, p.column.stride, p.origin);
  for (auto& k : p.k) s += fmt::format(", {}x{}", k.extent, k.stride);
  return s;
}

Tensor pack_panels(const Tensor& t, const Packing& p) {
  std::vector<int64_t> rows{p.origin};  // the offset of each k
  for (const Packing::Axis& a : p.k) {
    std::vector<int64_t> finer;
    for (int64_t r : rows)
      for (int64_t i = 0; i < a.extent; ++i) finer.push_back(r + i * a.stride);
    rows = std::move(finer);
  }
  Tensor out(t.dtype(), {rt::packed_b_elements(p.column.extent, p.k_total())});
  auto pack = [&]<class T>(T) {
    const T* from = reinterpret_cast<const T*>(t.bytes().data());
    rt::pack_b(
        reinterpret_cast<T*>(out.mutable_bytes().data()), p.column.extent, p.k_total(),
        [&](int64_t k, int64_t column) { return from[rows[static_cast<size_t>(k)] + column * p.column.stride]; });
  };
  byte_size(t.dtype()) == 4 ? pack(uint32_t{}) : pack(uint16_t{});  // f32, or 16-bit floats
  return out;
}

}  // namespace

Constant RelaidConstants::get(const Constant& t, const Operand& as) {
  if (!as.packing && as.layout == row_major(t->dims())) return t;
  std::string how = as.packing ? "panels " + describe(*as.packing) : to_string(as.layout);
  Constant& made = made_[std::pair(t.get(), how)];
  if (!made) made = std::make_shared<const Tensor>(as.packing ? pack_panels(*t, *as.packing) : relaid(*t, as.layout));
  return made;
}

}  // namespace cameo
