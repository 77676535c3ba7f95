// ONNX's SequenceProto, OptionalProto and MapProto, read and written by hand. A file does not say which of them it is:
// the model's type does.
#include "runtime/numbers.h"
#include "runtime/program/array.h"
#include "runtime/program/wire.h"

namespace rt::program {
namespace {

// The field of SequenceProto and of OptionalProto that holds such values.
uint64_t field_of(uint32_t kind) {
  switch (kind) {
    case CAMEO_KIND_SEQUENCE: return 5;
    case CAMEO_KIND_MAP: return 6;
    case CAMEO_KIND_OPTIONAL: return 7;
    default: return 3;
  }
}

[[gnu::cold]] bool malformed(Tool& tool, const Io& io, Slice what) {
  return tool.fail(kBadData, "`%.*s` is no value of %s, or it is cut short", width(what), what.data, TypeText(io).text);
}

bool read_value(Tool& tool, const Io& io, Slice file, Slice what, Array* array);

[[gnu::cold]] bool read_item(Tool& tool, const Io& io, Slice file, Slice what, Array* array) {
  if (!declare_pb(tool, file, what, array)) return false;
  bool same = array->dtype == io.dtype && (io.rank == kAnyRank || array->rank == io.rank);
  for (int32_t d = 0; same && d < io.rank; ++d) same = io.dims[d] < 0 || array->dims[d] == io.dims[d];
  if (same) return read_pb(tool, file, what, array);
  return tool.fail(kBadData, "`%.*s` holds %s where the model takes %s", width(what), what.data, array->type().text,
                   TypeText(io).text);
}

[[gnu::cold]] uint64_t count_fields(Slice file, uint64_t number) {
  uint64_t count = 0;
  for (Field field; !file.empty() && read_field(&file, &field);) count += field.number == number;
  return count;
}

[[gnu::cold]] bool read_items(Tool& tool, const Io& io, Slice file, Slice what, Array* list) {
  const uint64_t number = field_of(io.of->kind);
  const Slice all = file;
  list->items = tool.arena.array<Array>(count_fields(file, number));
  while (!file.empty()) {
    Field field;
    if (!read_field(&file, &field) || (field.number > 2 && field.number != number)) return malformed(tool, io, all);
    if (field.number == 1 && field.wire == 2) list->name = field.bytes;
    if (field.number != number) continue;
    if (field.wire != 2) return malformed(tool, io, what);
    if (!read_value(tool, *io.of, field.bytes, what, &list->items[list->item_count++])) return false;
  }
  return io.kind != CAMEO_KIND_OPTIONAL || list->item_count <= 1 || malformed(tool, io, what);
}

// Integers one by one or packed; strings one by one.
[[gnu::cold]] bool read_keys(Slice file, Array* keys) {
  int64_t* integers = reinterpret_cast<int64_t*>(keys->data);
  int64_t& count = keys->dims[0] = 0;
  while (!file.empty()) {
    Field field;
    if (!read_field(&file, &field)) return false;
    if (field.number == 4 && field.wire == 2 && keys->is_strings()) keys->texts()[count++] = field.bytes;
    if (field.number != 3 || keys->is_strings()) continue;
    if (field.wire == 0) integers[count++] = static_cast<int64_t>(field.value);
    uint64_t key = 0;
    for (Slice rest = field.bytes; !rest.empty(); integers[count++] = static_cast<int64_t>(key))
      if (!read_varint(&rest, &key)) return false;
  }
  return true;
}

// name, the type of the keys, keys that are integers, keys that are strings, values: a sequence of scalars.
[[gnu::cold]] bool read_map(Tool& tool, const Io& io, Slice file, Slice what, Array* map) {
  Array* keys = map->items = tool.arena.array<Array>(2);
  Array* values = keys + 1;
  Io of_values = *io.of, sequence = {.kind = CAMEO_KIND_SEQUENCE, .of = &of_values};
  of_values.rank = kAnyRank;
  Array scalars;
  map->item_count = 2;
  keys->dtype = io.key;
  values->dtype = io.of->dtype;
  keys->rank = values->rank = 1;
  keys->dims[0] = static_cast<int64_t>(keys->is_strings() ? count_fields(file, 4) : file.size);  // at most
  if (!allocate(tool, keys, what) || !read_keys(file, keys)) return malformed(tool, io, what);
  while (!file.empty()) {
    Field field;
    read_field(&file, &field);
    if (field.number == 5 && !read_value(tool, sequence, field.bytes, what, &scalars)) return false;
  }
  values->dims[0] = keys->dims[0];
  if (scalars.item_count != keys->dims[0] || !allocate(tool, values, what)) return malformed(tool, io, what);
  const int64_t bytes = values->stride();
  for (int64_t i = 0; i < scalars.item_count; ++i) {
    if (scalars.items[i].count() != 1) return malformed(tool, io, what);
    libc::memcpy(values->data + i * bytes, scalars.items[i].data, static_cast<size_t>(bytes));
  }
  return true;
}

[[gnu::cold]] bool read_value(Tool& tool, const Io& io, Slice file, Slice what, Array* array) {
  static char there;
  if (!io.of) return read_item(tool, io, file, what, array);
  *array = {};
  array->kind = io.kind;
  array->data = &there;
  return io.kind == CAMEO_KIND_MAP ? read_map(tool, io, file, what, array) : read_items(tool, io, file, what, array);
}

[[gnu::cold]] void put_field(Text* to, uint64_t number, Slice bytes) {
  put_varint(to, number << 3 | 2);
  put_varint(to, bytes.size);
  to->add(bytes);
}
void put_number(Text* to, uint64_t number, uint64_t value) {
  put_varint(to, number << 3);
  put_varint(to, value);
}

// Of SequenceProto and OptionalProto: what kind its values are.
uint64_t kind_number(uint32_t kind) {
  switch (kind) {
    case CAMEO_KIND_SEQUENCE: return 3;
    case CAMEO_KIND_MAP: return 4;
    case CAMEO_KIND_OPTIONAL: return 5;
    default: return 1;
  }
}

[[gnu::cold]] void write_map(Tool& tool, const Array& map, Text* to) {
  const Array &keys = map.items[0], &values = map.items[1];
  put_number(to, 2, keys.dtype);
  Array sequence, *scalars = tool.arena.array<Array>(static_cast<uint64_t>(values.count()));
  for (int64_t i = 0; i < values.count(); ++i) {
    if (keys.is_strings())
      put_field(to, 4, keys.texts()[i]);
    else
      put_number(to, 3, static_cast<uint64_t>(integer_at(keys.dtype, keys.data, i)));
    scalars[i].dtype = values.dtype;
    scalars[i].data = values.data + i * values.stride();
  }
  sequence.kind = CAMEO_KIND_SEQUENCE;
  sequence.items = scalars;
  sequence.item_count = values.count();
  Text bytes(tool.arena);
  write_list_pb(tool, sequence, &bytes);
  put_field(to, 5, bytes.slice());
}

}  // namespace

[[gnu::cold]] bool read_list_pb(Tool& tool, const Io& io, Slice file, Slice what, Array* array) {
  const bool ok = read_value(tool, io, file, what, array);
  array->name = io.name;
  return ok;
}

[[gnu::cold]] void write_list_pb(Tool& tool, const Array& array, Text* to) {
  if (!is_list(array)) return write_pb(array, to);
  if (!array.name.empty()) put_field(to, 1, array.name);
  if (array.kind == CAMEO_KIND_MAP) return write_map(tool, array, to);
  if (array.item_count) put_number(to, 2, kind_number(array.items[0].kind));
  for (int64_t i = 0; i < array.item_count; ++i) {
    Text bytes(tool.arena);
    write_list_pb(tool, array.items[i], &bytes);
    put_field(to, field_of(array.items[i].kind), bytes.slice());
  }
}

const ListFiles list_files = {read_list_pb, write_list_pb};

}  // namespace rt::program
