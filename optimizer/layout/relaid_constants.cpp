// See relaid_constants.h.
#include "optimizer/layout/relaid_constants.h"

#include <fmt/format.h>

#include "runtime/kernels/depthwise_shape.h"

namespace cameo {
namespace {

std::string describe(const Packing& p) {
  std::string s = fmt::format("{}x{} from {}", p.column.extent, p.column.stride, p.base_offset);
  for (auto& k : p.k) s += fmt::format(", {}x{}", k.extent, k.stride);
  for (auto& g : p.groups) s += fmt::format("; {}x{}", g.extent, g.stride);
  switch (p.form) {
    case PanelForm::Terms: return s;
    case PanelForm::Quads: return s + fmt::format(" in quads of {}", p.run);
    case PanelForm::Pairs: return s + fmt::format(" in pairs of {}", p.run);
    case PanelForm::Taps: return s + fmt::format(" in {} shifts", p.run);
    case PanelForm::Nibbles: return s + " in nibbles";
  }
  return s;
}

/// The offsets of all indices of these axes.
std::vector<int64_t> offsets_of(const std::vector<Packing::Axis>& axes, int64_t base_offset) {
  std::vector<int64_t> offsets{base_offset};
  for (const Packing::Axis& a : axes) {
    std::vector<int64_t> finer;
    for (int64_t at : offsets)
      for (int64_t i = 0; i < a.extent; ++i) finer.push_back(at + i * a.stride);
    offsets = std::move(finer);
  }
  return offsets;
}

/// `rows`: where the terms of a column stand.
Tensor pack_quads(const Tensor& t, const Packing& p, const std::vector<int64_t>& rows) {
  Tensor out(t.dtype(), {p.elements()});
  const auto* from = reinterpret_cast<const int8_t*>(t.bytes().data());
  auto* to = reinterpret_cast<int8_t*>(out.mutable_bytes().data());
  const int64_t segments = p.k_total() / p.run;
  for (int64_t group : offsets_of(p.groups, p.base_offset)) {
    rt::pack_quads(to, p.column.extent, segments, p.run, [&](int64_t term, int64_t column) {
      return from[group + rows[static_cast<size_t>(term)] + column * p.column.stride];
    });
    to += elements_of_panels(p.form, p.column.extent, p.k_total(), p.run);
  }
  return out;
}

Tensor pack_taps(const Tensor& t, const Packing& p, const std::vector<int64_t>& rows) {
  Tensor out(DType::i8, {p.elements()});
  const auto* from = reinterpret_cast<const int8_t*>(t.bytes().data()) + p.base_offset;
  const int64_t taps = p.k.back().extent;
  rt::pack_taps(reinterpret_cast<int8_t*>(out.mutable_bytes().data()), p.column.extent, p.k_total() / taps, taps, p.run,
                [&](int64_t segment, int64_t tap, int64_t column) {
                  return from[rows[static_cast<size_t>(segment * taps + tap)] + column * p.column.stride];
                });
  return out;
}

Tensor pack_pairs(const Tensor& t, const Packing& p, const std::vector<int64_t>& rows) {
  Tensor out(t.dtype(), {p.elements()});
  const auto* from = reinterpret_cast<const uint16_t*>(t.bytes().data());
  auto* to = reinterpret_cast<uint16_t*>(out.mutable_bytes().data());
  const int64_t segments = p.k_total() / p.run;
  for (int64_t group : offsets_of(p.groups, p.base_offset)) {
    rt::pack_pairs(to, p.column.extent, segments, p.run, [&](int64_t term, int64_t column) {
      return from[group + rows[static_cast<size_t>(term)] + column * p.column.stride];
    });
    to += elements_of_panels(p.form, p.column.extent, p.k_total(), p.run);
  }
  return out;
}

/// The first of two terms is a byte's lower half.
Tensor pack_nibbles(const Tensor& t, const Packing& p, const std::vector<int64_t>& rows) {
  Tensor out(DType::u8, {p.elements()});
  rt::pack_b(reinterpret_cast<uint8_t*>(out.mutable_bytes().data()), p.column.extent, p.k_total() / 2,
             [&](int64_t pair, int64_t column) {
               const auto code = [&](int64_t term) {
                 return t.get_int(p.base_offset + rows[static_cast<size_t>(term)] + column * p.column.stride);
               };
               return static_cast<uint8_t>(code(2 * pair) | code(2 * pair + 1) << 4);
             });
  return out;
}

Tensor pack_terms(const Tensor& t, const Packing& p, const std::vector<int64_t>& rows) {
  Tensor out(t.dtype(), {p.elements()});
  auto pack = [&]<class T>(T) {
    const T* from = reinterpret_cast<const T*>(t.bytes().data());
    T* to = reinterpret_cast<T*>(out.mutable_bytes().data());
    for (int64_t group : offsets_of(p.groups, p.base_offset)) {
      rt::pack_b(to, p.column.extent, p.k_total(), [&](int64_t k, int64_t column) {
        return from[group + rows[static_cast<size_t>(k)] + column * p.column.stride];
      });
      to += rt::packed_b_elements(p.column.extent, p.k_total());
    }
  };
  switch (byte_size(t.dtype())) {
    case 4: pack(uint32_t{}); break;
    case 2: pack(uint16_t{}); break;
    default: pack(uint8_t{});
  }
  return out;
}

Tensor pack_panels(const Tensor& t, const Packing& p) {
  const std::vector<int64_t> rows = offsets_of(p.k, 0);
  switch (p.form) {
    case PanelForm::Terms: break;
    case PanelForm::Quads: return pack_quads(t, p, rows);
    case PanelForm::Pairs: return pack_pairs(t, p, rows);
    case PanelForm::Taps: return pack_taps(t, p, rows);
    case PanelForm::Nibbles: return pack_nibbles(t, p, rows);
  }
  return pack_terms(t, p, rows);
}

}  // namespace

Constant RelaidConstants::get(const Constant& t, const Operand& as) {
  if (!as.packing && as.layout == row_major(shape_of(t->dims()))) return t;
  std::string how = as.packing ? "panels " + describe(*as.packing) : to_string(as.layout);
  Constant& made = made_[std::pair(t.get(), how)];
  if (!made) made = std::make_shared<const Tensor>(as.packing ? pack_panels(*t, *as.packing) : relaid(*t, as.layout));
  return made;
}

}  // namespace cameo
