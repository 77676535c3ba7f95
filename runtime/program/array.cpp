// See array.h.
#include "runtime/program/array.h"

namespace rt::program {

int64_t Array::numbers() const { return count() * parts_of_one(dtype); }

bool parse_dtype(Slice name, uint32_t* dtype) {
  const char* longer =  // one behind the other, by the type's number
      "float32\0uint8\0int8\0uint16\0int16\0int32\0int64\0string\0bool\0float16\0float64\0uint32\0uint64\0complex64\0"
      "complex128\0bfloat16\0float8e4m3fn\0float8e4m3fnuz\0float8e5m2\0float8e5m2fnuz\0uint4\0int4\0float4e2m1\0"
      "float8e8m0\0uint2\0int2";
  for (uint32_t i = 1; i < kTypeCount; ++i) {
    const Slice other = longer;
    if (name == kTypes[i].name || name == other) return *dtype = i, true;
    longer += other.size + 1;
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

bool is_list(const Array& array) { return array.kind != CAMEO_KIND_TENSOR; }

namespace {

Array view_strings(Tool& tool, const cameo_value& value, Slice name) {
  Array array = view(value.tensor, name);
  array.dtype = kString;
  Slice* texts = tool.arena.array<Slice>(static_cast<uint64_t>(array.count()));
  for (int64_t i = 0; i < array.count(); ++i) texts[i] = {value.strings[i], static_cast<size_t>(value.lengths[i])};
  array.data = reinterpret_cast<char*>(texts);
  return array;
}

[[gnu::cold]] Array view_list(Tool& tool, const cameo_value& value, Slice name) {
  static char there;
  Array list;
  list.name = name;
  list.kind = value.kind;
  list.data = &there;
  list.item_count = value.count;
  list.items = tool.arena.array<Array>(static_cast<uint64_t>(value.count));
  for (int32_t i = 0; i < value.count; ++i) {
    Text of_item(tool.arena);
    of_item.add(name);
    of_item.format("[%d]", i);
    list.items[i] = view(tool, value.items[i], of_item.slice());
  }
  return list;
}

void set_strings(Tool& tool, const Array& array, cameo_value* value) {
  const uint64_t count = static_cast<uint64_t>(array.count());
  const char** strings = tool.arena.array<const char*>(count);
  int64_t* lengths = tool.arena.array<int64_t>(count);
  for (uint64_t i = 0; i < count; ++i) {
    strings[i] = array.texts()[i].data;
    lengths[i] = static_cast<int64_t>(array.texts()[i].size);
  }
  value->kind = CAMEO_KIND_STRINGS;
  value->strings = strings;
  value->lengths = lengths;
}

void set_items(Tool& tool, const Array& list, cameo_value* value) {
  cameo_value* items = tool.arena.array<cameo_value>(static_cast<uint64_t>(list.item_count));
  for (int64_t i = 0; i < list.item_count; ++i) items[i] = value_of(tool, list.items[i]);
  value->kind = list.kind;
  value->items = items;
  value->count = list.item_count;
}

}  // namespace

Array view(Tool& tool, const cameo_value& value, Slice name) {
  if (value.kind == CAMEO_KIND_STRINGS) return view_strings(tool, value, name);
  return value.kind > CAMEO_KIND_STRINGS ? view_list(tool, value, name) : view(value.tensor, name);
}

cameo_value value_of(Tool& tool, const Array& array) {
  cameo_value value = {};
  value.struct_size = sizeof value;
  if (!array.data) return value;
  if (is_list(array)) return set_items(tool, array, &value), value;
  value.kind = CAMEO_KIND_TENSOR;
  value.tensor = {
      array.data, {CAMEO_CPU, 0}, array.rank, to_dlpack(array.dtype), const_cast<int64_t*>(array.dims), nullptr, 0};
  if (array.is_strings()) set_strings(tool, array, &value);
  return value;
}

}  // namespace rt::program
