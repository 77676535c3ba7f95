// See values.h. Messages say what was given and what the model declares.
#include "runtime/values.h"

#include "runtime/dtype.h"
#include "runtime/errors.h"
#include "runtime/libc.h"

namespace rt {

const cameo_value& value_at(const cameo_value* values, int32_t i) {
  return *reinterpret_cast<const cameo_value*>(reinterpret_cast<const char*>(values) +
                                               static_cast<size_t>(i) * values->struct_size);
}

cameo_value& value_at(cameo_value* values, int32_t i) {
  return const_cast<cameo_value&>(value_at(const_cast<const cameo_value*>(values), i));
}

int64_t elements(const Io& io) {
  int64_t count = 1;
  for (int32_t i = 0; i < io.rank; ++i) count *= io.dims[i];
  return count;
}

uint64_t io_bytes(const Io& io) { return static_cast<uint64_t>(bytes_of(io.dtype, elements(io))); }

cameo_status check_count(const cameo_value* values, int32_t count, uint32_t expected, const char* what,
                         cameo_error* error) {
  if (count != static_cast<int32_t>(expected))
    return fail(error, CAMEO_INVALID_ARGUMENT, -1, -1, "%d %ss given, the model has %u", count, what, expected);
  if (!count) return CAMEO_OK;
  if (!values) return fail(error, CAMEO_INVALID_ARGUMENT, -1, -1, "the array of %ss is null", what);
  if (!is_struct_size(values->struct_size, sizeof *values) || values->struct_size % alignof(cameo_value))
    return fail(error, CAMEO_INVALID_ARGUMENT, 0, -1, "%s 0 has struct_size %u, this library reads %zu", what,
                values->struct_size, sizeof *values);
  for (int32_t i = 1; i < count; ++i)
    if (value_at(values, i).struct_size != values->struct_size)
      return fail(error, CAMEO_INVALID_ARGUMENT, i, -1, "%s %d has struct_size %u, but %s 0 has %u", what, i,
                  value_at(values, i).struct_size, what, values->struct_size);
  return CAMEO_OK;
}

cameo_status check_kind(const Io& io, const cameo_value& value, const char* what, int32_t index, cameo_error* error) {
  if (value.kind == io.kind) return CAMEO_OK;
  constexpr const char* kKinds[] = {"nothing", "a tensor", "a tensor of strings", "a sequence", "a map", "an optional"};
  return fail(error, CAMEO_INVALID_ARGUMENT, index, -1, "%s %d %s has kind %u, expected %s (%u)", what, index,
              Quoted(io.name).text, value.kind, kKinds[io.kind], io.kind);
}

cameo_status check_rank(const Io& io, const cameo_tensor& tensor, const char* what, int32_t index, cameo_error* error) {
  if (tensor.ndim != io.rank)
    return fail(error, CAMEO_INVALID_ARGUMENT, index, -1, "%s %d %s has rank %d, the model declares %s", what, index,
                Quoted(io.name).text, tensor.ndim, TypeText(io).text);
  if (io.rank && !tensor.shape)
    return fail(error, CAMEO_INVALID_ARGUMENT, index, -1, "%s %d %s: shape is null", what, index, Quoted(io.name).text);
  return CAMEO_OK;
}

bool has_dims(const Io& io, const cameo_tensor& tensor) {
  if (tensor.ndim != io.rank || (io.rank && !tensor.shape)) return false;
  int32_t d = 0;
  while (d < io.rank && tensor.shape[d] == io.dims[d]) ++d;
  return d == io.rank;
}

namespace {

[[gnu::cold]] cameo_status other_dims(const Io& io, const cameo_tensor& tensor, const char* what, int32_t index,
                                      cameo_error* error) {
  if (cameo_status status = check_rank(io, tensor, what, index, error)) return status;
  int32_t d = 0;
  while (tensor.shape[d] == io.dims[d]) ++d;
  if (io.dim_sizes && io.dim_sizes[d] >= 0)
    return fail(error, CAMEO_INVALID_ARGUMENT, index, -1, "%s %d %s has %ld in dim %d, which is %ld in this run", what,
                index, Quoted(io.name).text, tensor.shape[d], d, io.dims[d]);
  return fail(error, CAMEO_INVALID_ARGUMENT, index, -1, "%s %d %s is %s, the model declares %s: dim %d differs", what,
              index, Quoted(io.name).text, TypeText(io.dtype, io.rank, tensor.shape).text, TypeText(io).text, d);
}

cameo_status check_device(const Io& io, const cameo_tensor& tensor, cameo_device device, const char* what,
                          int32_t index, cameo_error* error) {
  const cameo_device is = tensor.device;
  if (is.device_type == CAMEO_CPU) return CAMEO_OK;
  if (device.device_type == CAMEO_CPU)
    return fail(error, CAMEO_INVALID_ARGUMENT, index, -1, "%s %d %s is on device type %d, expected 1 (CPU)", what,
                index, Quoted(io.name).text, is.device_type);
  if (is.device_type == device.device_type && is.device_id == device.device_id) return CAMEO_OK;
  return fail(error, CAMEO_INVALID_ARGUMENT, index, -1,
              "%s %d %s is on device %d of type %d, expected the CPU (type 1) or device %d of type %d", what, index,
              Quoted(io.name).text, is.device_id, is.device_type, device.device_id, device.device_type);
}

int64_t count_of(const cameo_tensor& tensor) {
  int64_t count = 1;
  for (int32_t d = 0; d < tensor.ndim; ++d) count *= tensor.shape[d];
  return count;
}

cameo_status check_type(const Io& io, const cameo_tensor& tensor, const char* what, int32_t index, cameo_error* error) {
  const TypeInfo& type = type_info(io.dtype);
  if (tensor.dtype.code == type.code && tensor.dtype.bits == type.bits && tensor.dtype.lanes == 1) return CAMEO_OK;
  return fail(error, CAMEO_INVALID_ARGUMENT, index, -1,
              "%s %d %s has element type %s (code %u, %u bits, %u lanes), the model declares %s", what, index,
              Quoted(io.name).text, type_info(from_dlpack(tensor.dtype)).name, tensor.dtype.code, tensor.dtype.bits,
              tensor.dtype.lanes, type.name);
}

cameo_status check_address(const Io& io, const cameo_tensor& tensor, const char* what, int32_t index,
                           cameo_error* error) {
  const auto address = reinterpret_cast<uint64_t>(data_of(tensor));
  const uint32_t moved = type_of_parts(io.dtype);
  if (address & static_cast<uint64_t>(element_bytes(moved) - 1))  // 2^n bytes
    return fail(error, CAMEO_INVALID_ARGUMENT, index, -1, "%s %d %s: data is not aligned to its %u-bit elements", what,
                index, Quoted(io.name).text, type_info(moved).bits);
  if (tensor.device.device_type != CAMEO_CPU && address % kAlignment)
    return fail(error, CAMEO_INVALID_ARGUMENT, index, -1,
                "%s %d %s: data on a GPU is not aligned to %d bytes, as its kernels need it", what, index,
                Quoted(io.name).text, static_cast<int>(kAlignment));
  return CAMEO_OK;
}

}  // namespace

cameo_status check_tensor(const Io& io, const cameo_tensor& tensor, cameo_device device, const char* what,
                          int32_t index, cameo_error* error) {
  cameo_status status = check_device(io, tensor, device, what, index, error);
  if (!status) status = check_type(io, tensor, what, index, error);
  if (status) return status;
  if (!has_dims(io, tensor)) return other_dims(io, tensor, what, index, error);
  if (count_of(tensor) == 0) return CAMEO_OK;
  if (!tensor.data)
    return fail(error, CAMEO_INVALID_ARGUMENT, index, -1, "%s %d %s: data is null", what, index, Quoted(io.name).text);
  if (is_packed(io.dtype) && !is_compact(tensor))
    return fail(error, CAMEO_INVALID_ARGUMENT, index, -1,
                "%s %d %s must be compact: its elements of %u bits share bytes, its strides are not those of that",
                what, index, Quoted(io.name).text, type_info(io.dtype).bits);
  return check_address(io, tensor, what, index, error);
}

cameo_status check_room(const Io& io, const cameo_value& value, cameo_device device, int32_t index,
                        cameo_error* error) {
  cameo_status status = check_device(io, value.tensor, device, "output", index, error);
  if (!status) status = check_type(io, value.tensor, "output", index, error);
  if (status) return status;
  if (value.tensor.strides)
    return fail(error, CAMEO_INVALID_ARGUMENT, index, -1, "output %d %s must be compact, its strides null", index,
                Quoted(io.name).text);
  if (value.count < 0 || value.count > kMaxBytes / element_bytes(io.dtype))
    return fail(error, CAMEO_INVALID_ARGUMENT, index, -1, "output %d %s: `count` is %ld, for how many elements is room",
                index, Quoted(io.name).text, value.count);
  return check_address(io, value.tensor, "output", index, error);
}

bool is_compact(const cameo_tensor& tensor) {
  if (!tensor.strides) return true;
  int64_t stride = 1;
  for (int32_t d = tensor.ndim; d-- > 0;) {
    if (tensor.shape[d] == 0) return true;
    if (tensor.shape[d] != 1 && tensor.strides[d] != stride) return false;
    stride *= tensor.shape[d];
  }
  return true;
}

char* data_of(const cameo_tensor& tensor) {
  return tensor.data ? static_cast<char*>(tensor.data) + tensor.byte_offset : nullptr;
}

namespace {

// `bytes`: of what stands without gaps behind `axes` axes.
char* copy_axis(const cameo_tensor& from, int32_t axis, int32_t axes, const char* source, char* to, int64_t bytes,
                int64_t element_bytes) {
  if (axis == axes) return static_cast<char*>(libc::memmove(to, source, static_cast<size_t>(bytes))) + bytes;
  for (int64_t i = 0; i < from.shape[axis]; ++i)
    to = copy_axis(from, axis + 1, axes, source + i * from.strides[axis] * element_bytes, to, bytes, element_bytes);
  return to;
}

}  // namespace

void copy_strided(const cameo_tensor& from, void* to, int64_t element_bytes) {
  int32_t axes = from.ndim;
  int64_t count = 1;
  while (axes > 0 && from.strides[axes - 1] == count) count *= from.shape[--axes];
  if (count_of(from))
    copy_axis(from, 0, axes, data_of(from), static_cast<char*>(to), count * element_bytes, element_bytes);
}

bool overlap(Span a, Span b) {
  return a.bytes && b.bytes && a.begin < b.begin + b.bytes && b.begin < a.begin + a.bytes;
}

Span extent_of(const cameo_tensor& tensor, uint32_t dtype) {
  const int64_t count = count_of(tensor), element = element_bytes(dtype);
  if (!count) return {nullptr, 0};
  if (is_compact(tensor)) return {data_of(tensor), static_cast<uint64_t>(bytes_of(dtype, count))};
  int64_t low = 0, high = 0;
  for (int32_t d = 0; d < tensor.ndim; ++d) {
    const int64_t reach = (tensor.shape[d] - 1) * tensor.strides[d];
    (reach < 0 ? low : high) += reach;
  }
  return {data_of(tensor) + low * element, static_cast<uint64_t>((high - low + 1) * element)};
}

}  // namespace rt
