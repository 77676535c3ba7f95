// See abi_values.h.
#include "codegen/abi_values.h"

#include <cstring>

#include "runtime/dtype.h"

namespace cameo {
namespace {

/// The kind of an input or output, or, `depth` times, of what it holds.
uint32_t kind_of(const cameo_api& api, bool is_output, size_t index, int depth) {
  cameo_io io = {};
  io.struct_size = sizeof io;
  const auto number = static_cast<int32_t>(index);
  const cameo_status status =
      depth ? api.io_element(is_output, number, depth - 1, &io) : api.io_get(is_output, number, &io);
  return status ? uint32_t{CAMEO_KIND_TENSOR} : io.kind;
}

}  // namespace

AbiValue::AbiValue(const cameo_api& api, size_t input, const Tensor& t, int depth) {
  value_.struct_size = sizeof value_;
  if (t.is_list()) {
    set_items(api, input, t, depth);
    return;
  }
  value_.kind = CAMEO_KIND_TENSOR;
  held_ = packed(t);
  shape_ = t.dims();
  value_.tensor = {const_cast<std::byte*>(held_.bytes().data()),
                   {CAMEO_CPU, 0},
                   t.rank(),
                   rt::to_dlpack(static_cast<uint32_t>(t.dtype())),
                   shape_.data(),
                   nullptr,
                   0};
  if (t.dtype() == DType::str) set_strings(t);
}

void AbiValue::set_items(const cameo_api& api, size_t input, const Tensor& list, int depth) {
  for (const Tensor& item : list.items()) items_.push_back(of_items_.emplace_back(api, input, item, depth + 1).get());
  value_.kind = kind_of(api, false, input, depth);
  value_.items = items_.data();
  value_.count = static_cast<int64_t>(items_.size());
}

void AbiValue::set_strings(const Tensor& strings) {
  for (int64_t i = 0; i < strings.size(); ++i) {
    texts_.push_back(strings.text(i).data());
    lengths_.push_back(std::ssize(strings.text(i)));
  }
  value_.kind = CAMEO_KIND_STRINGS;
  value_.tensor.data = nullptr;
  value_.strings = texts_.data();
  value_.lengths = lengths_.data();
}

cameo_value abi_output(const cameo_api& api, size_t output) {
  cameo_value value = {};
  value.struct_size = sizeof value;
  value.kind = kind_of(api, true, output, 0);
  return value;
}

namespace {

Tensor list_of(const cameo_value& value) {
  std::vector<Tensor> items;
  for (int64_t i = 0; i < value.count; ++i) items.push_back(tensor_of(value.items[i]));
  return Tensor::of_items(std::move(items));
}

Tensor strings_of(const cameo_value& value) {
  const std::vector<int64_t> dims(value.tensor.shape, value.tensor.shape + value.tensor.ndim);
  std::vector<std::string> texts;
  for (int64_t i = 0; i < *element_count(dims); ++i)
    texts.emplace_back(value.strings[i], static_cast<size_t>(value.lengths[i]));
  return Tensor::of_strings(dims, texts);
}

}  // namespace

Tensor tensor_of(const cameo_value& value) {
  if (value.kind > CAMEO_KIND_STRINGS) return list_of(value);
  if (value.kind == CAMEO_KIND_STRINGS) return strings_of(value);
  const cameo_tensor& t = value.tensor;
  const auto type = static_cast<DType>(rt::from_dlpack(t.dtype));
  const std::byte* bytes = static_cast<const std::byte*>(t.data) + t.byte_offset;
  Tensor copy(type, {t.shape, t.shape + t.ndim});
  if (is_packed(type)) return unpacked(type, copy.dims(), std::span(bytes, packed_bytes(type, copy.size())));
  if (copy.size()) std::memcpy(copy.mutable_bytes().data(), bytes, copy.bytes().size());
  return copy;
}

}  // namespace cameo
