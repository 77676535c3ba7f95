// ONNX's TensorProto, read from the wire by hand.
#include "runtime/numbers.h"
#include "runtime/program/array.h"
#include "runtime/program/file.h"
#include "runtime/program/wire.h"
#include "runtime/sizes.h"

namespace rt::program {

bool read_varint(Slice* in, uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 70 && !in->empty(); shift += 7) {
    const unsigned char byte = static_cast<unsigned char>((*in)[0]);
    *in = in->from(1);
    if (shift == 63 && byte > 1) return false;
    *value |= static_cast<uint64_t>(byte & 127) << shift;
    if (byte < 128) return true;
  }
  return false;
}

bool read_fixed(Slice* in, size_t count, uint64_t* value) {
  if (in->size < count) return false;
  *value = 0;
  for (size_t i = 0; i < count; ++i) *value |= static_cast<uint64_t>(static_cast<unsigned char>((*in)[i])) << (8 * i);
  *in = in->from(count);
  return true;
}

bool read_field(Slice* in, Field* field) {
  uint64_t tag = 0;
  if (!read_varint(in, &tag) || tag >> 3 == 0 || tag >> 32) return false;
  field->number = tag >> 3;
  field->wire = tag & 7;
  switch (field->wire) {
    case 0: return read_varint(in, &field->value);
    case 1: return read_fixed(in, 8, &field->value);
    case 5: return read_fixed(in, 4, &field->value);
    case 2:
      if (!read_varint(in, &field->value) || field->value > in->size) return false;
      field->bytes = in->upto(field->value);
      *in = in->from(field->value);
      return true;
    default: return false;
  }
}

void put_varint(Text* to, uint64_t value) {
  for (; value >= 128; value >>= 7) to->add(static_cast<char>(value | 128));
  to->add(static_cast<char>(value));
}

namespace {

struct Elements {  // of one of the repeated fields, packed or one by one
  Tool& tool;
  Array& array;
  int64_t filled = 0;

  // Packed ones come as the bytes that they share.
  int64_t wanted() const { return is_packed(array.dtype) ? static_cast<int64_t>(array.bytes()) : array.numbers(); }
  bool add(uint64_t bits) {
    if (filled >= wanted()) return false;
    const int64_t bytes = element_bytes(type_of_parts(array.dtype));
    libc::memcpy(array.data + filled++ * bytes, &bits, static_cast<size_t>(bytes));
    return true;
  }
  bool add_all(const Field& field, uint64_t element_wire) {
    if (field.wire == element_wire) return add(field.value);
    if (field.wire != 2) return false;
    for (Slice rest = field.bytes; !rest.empty();) {
      uint64_t bits = 0;
      const bool ok =
          element_wire == 0 ? read_varint(&rest, &bits) : read_fixed(&rest, element_wire == 1 ? 8 : 4, &bits);
      if (!ok || !add(bits)) return false;
    }
    return true;
  }
};

bool add_dims(Array* array, const Field& field) {
  Slice rest = field.bytes;
  uint64_t dim = field.value;
  if (field.wire != 0 && field.wire != 2) return false;
  do {
    if (field.wire == 2 && rest.empty()) return true;
    if ((field.wire == 2 && !read_varint(&rest, &dim)) || array->rank == kMaxRank) return false;
    array->dims[array->rank++] = static_cast<int64_t>(dim);
  } while (field.wire == 2);
  return true;
}

struct Head {  // of the file, beside the array
  Slice raw;
  bool has_raw = false, is_external = false;
};

bool read_head(Slice file, Array* array, Head* head) {
  while (!file.empty()) {
    Field field;
    if (!read_field(&file, &field)) return false;
    if (field.number == 1 && !add_dims(array, field)) return false;
    if (field.number == 2 && field.wire == 0) array->dtype = static_cast<uint32_t>(field.value);
    if (field.number == 8 && field.wire == 2) array->name = field.bytes;
    if (field.number == 9 && field.wire == 2) head->raw = field.bytes, head->has_raw = true;
    if (field.number == 14 && field.wire == 0) head->is_external = field.value == 1;
  }
  return true;
}

// The wire type of the elements of field `number`, if elements of `dtype` stand there; else 9.
uint64_t element_wire(uint64_t number, uint32_t dtype) {
  const bool small = element_bytes(dtype) <= 2 || dtype == kI32;
  if (number == 4 && dtype == kF32) return 5;
  if (number == 5 && small) return 0;
  if (number == 7 && dtype == kI64) return 0;
  if (number == 10 && dtype == kF64) return 1;
  return number == 11 && (dtype == kU64 || dtype == kU32) ? 0 : 9;
}

bool read_texts(Slice file, Array* array) {
  int64_t filled = 0;
  while (!file.empty()) {
    Field field;
    if (!read_field(&file, &field)) return false;
    if (field.number != 6) continue;
    if (field.wire != 2 || filled == array->count()) return false;
    array->texts()[filled++] = field.bytes;
  }
  return filled == array->count();
}

bool read_elements(Slice file, Elements* elements) {
  while (!file.empty()) {
    Field field;
    if (!read_field(&file, &field)) return false;
    const uint64_t wire = element_wire(field.number, type_of_parts(elements->array.dtype));
    if (wire != 9 && !elements->add_all(field, wire)) return false;
  }
  return elements->filled == elements->wanted();
}

}  // namespace

// A number takes ten bytes at most, as a varint; names and what is unknown have room beside them.
uint64_t most_pb_bytes(const Io& io) {
  return is_open(io) || io.dtype == kString
             ? kAll
             : (1 << 20) + 10 * most_bytes(io) / static_cast<uint64_t>(element_bytes(type_of_parts(io.dtype)));
}

bool declare_pb(Tool& tool, Slice file, Slice what, Array* array) {
  const int w = width(what);
  Head head;
  uint64_t bytes = 0;
  *array = {};
  if (!read_head(file, array, &head))
    return tool.fail(kBadData, "%.*s is not a TensorProto, or it is cut short", w, what.data);
  if (!array->is_strings() && !is_number(array->dtype))
    return tool.fail(kBadData, "%.*s holds no tensor of numbers or strings (data type %u)", w, what.data, array->dtype);
  if (head.is_external)
    return tool.fail(kBadData, "%.*s keeps its data in another file; that is not read here", w, what.data);
  if (!sized(*array, &bytes))
    return tool.fail(kBadData,
                     "%.*s is no TensorProto with dims that make a size; sequences and maps are not read here", w,
                     what.data);
  return true;
}

bool read_pb(Tool& tool, Slice file, Slice what, Array* array) {
  const int w = width(what);
  const uint64_t bytes = array->bytes();
  Array declared;
  Head head;
  read_head(file, &declared, &head);
  if (array->is_strings()) {
    if (static_cast<uint64_t>(array->count()) > file.size)  // two bytes of the file are one's at least
      return tool.fail(kBadData, "%.*s is cut short: it declares %s", w, what.data, array->type().text);
    if (!allocate(tool, array, what)) return false;
    if (!head.has_raw && read_texts(file, array)) return true;
    return tool.fail(kBadData, "%.*s: %s needs %ld strings, not what stands there", w, what.data, array->type().text,
                     array->count());
  }
  if (head.has_raw && head.raw.size != bytes)
    return tool.fail(kBadData, "%.*s: %s needs %lu bytes, its raw data has %zu", w, what.data, array->type().text,
                     bytes, head.raw.size);
  if (!head.has_raw && bytes / 8 > file.size)  // an element takes a byte at least
    return tool.fail(kBadData, "%.*s is cut short: it declares %s", w, what.data, array->type().text);
  if (!allocate(tool, array, what)) return false;
  if (head.has_raw) return libc::memcpy(array->data, head.raw.data, bytes), true;
  Elements elements{tool, *array};
  if (read_elements(file, &elements)) return true;
  return tool.fail(kBadData, "%.*s: %s needs %ld elements, not what stands there", w, what.data, array->type().text,
                   array->count());
}

void write_pb(const Array& array, Text* to) {
  for (int32_t i = 0; i < array.rank; ++i) to->add('\x08'), put_varint(to, static_cast<uint64_t>(array.dims[i]));
  to->add('\x10');
  put_varint(to, array.dtype);
  to->add('\x42');
  put_varint(to, array.name.size);
  to->add(array.name);
  for (int64_t i = 0; array.is_strings() && i < array.count(); ++i) {
    to->add('\x32');
    put_varint(to, array.texts()[i].size);
    to->add(array.texts()[i]);
  }
  if (array.is_strings()) return;
  to->add('\x4a');
  put_varint(to, array.bytes());
  to->add(Slice(array.data, array.bytes()));
}

}  // namespace rt::program
