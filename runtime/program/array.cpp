// See array.h.
#include "runtime/program/array.h"

namespace rt::program {

bool parse_dtype(Slice name, uint32_t* dtype) {
  static constexpr char kLong[][15] = {
      "",      "float32", "uint8",      "int8",         "uint16",         "int16",      "int32",
      "int64", "string",  "bool",       "float16",      "float64",        "uint32",     "uint64",
      "",      "",        "bfloat16",   "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz",
      "uint4", "int4",    "float4e2m1", "float8e8m0",   "uint2",          "int2"};
  for (uint32_t i = 1; i < kTypeCount; ++i) {
    if (!(is_number(i) || i == kString) || !(name == kTypes[i].name || (kLong[i][0] && name == kLong[i]))) continue;
    *dtype = i;
    return true;
  }
  return false;
}

void take_type(uint32_t dtype, Array* array) {
  const bool is_small = is_packed(dtype) || is_minifloat(dtype);
  const bool is_integer = is_packed(dtype) && !is_float(dtype);
  if ((is_small && array->dtype == kOpaqueByte) || (is_integer && array->dtype == (type_info(dtype).code ? kU8 : kI8)))
    array->dtype = dtype;
}

bool sized(const Array& array, uint64_t* bytes) {
  uint64_t size = array.dtype == kOpaqueByte ? 1
                  : array.is_strings()       ? sizeof(Slice)
                                             : static_cast<uint64_t>(element_bytes(array.dtype));
  bool fits = true, zero = false;
  for (int32_t i = 0; i < array.rank; ++i) {
    if (array.dims[i] < 0) return false;
    if (array.dims[i] == 0)
      zero = true;
    else
      fits = fits && !__builtin_mul_overflow(size, static_cast<uint64_t>(array.dims[i]), &size) && size >> 62 == 0;
  }
  *bytes = zero ? 0 : size;
  return fits;
}

bool allocate(Tool& tool, Array* array, Slice what) {
  uint64_t bytes = 0;
  if (!sized(*array, &bytes))
    return tool.fail(kBadData, "%.*s: dims of %s make no size", width(what), what.data, array->type().text);
  array->data = static_cast<char*>(tool.arena.take(bytes));
  return true;
}

Array array_of(const Io& io) {
  Array array;
  array.name = io.name;
  array.dtype = io.dtype;
  array.rank = io.rank;
  for (int32_t i = 0; i < io.rank; ++i) array.dims[i] = io.dims[i];
  return array;
}

Array view(const cameo_tensor& tensor, Slice name) {
  Array array;
  array.name = name;
  array.dtype = from_dlpack(tensor.dtype);
  array.rank = tensor.ndim;
  for (int32_t i = 0; i < tensor.ndim; ++i) array.dims[i] = tensor.shape[i];
  array.data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  return array;
}

Array view(Tool& tool, const cameo_value& value, Slice name) {
  if (value.kind != CAMEO_KIND_STRINGS) return view(value.tensor, name);
  Array array = view(value.tensor, name);
  array.dtype = kString;
  Slice* texts = tool.arena.array<Slice>(static_cast<uint64_t>(array.count()));
  for (int64_t i = 0; i < array.count(); ++i) texts[i] = {value.strings[i], static_cast<size_t>(value.lengths[i])};
  array.data = reinterpret_cast<char*>(texts);
  return array;
}

}  // namespace rt::program
