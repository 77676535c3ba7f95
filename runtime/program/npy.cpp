// NumPy's npy, versions 1 to 3: magic, a Python dictionary as text, the elements. Big-endian and Fortran order are
// turned. Elements of 8 bits and less that NumPy has no type of its own for stand there as those of ml_dtypes do, a
// byte each that says nothing of its type.
#include "runtime/kernels/utf8.h"
#include "runtime/numbers.h"
#include "runtime/program/array.h"

namespace rt::program {
namespace {

constexpr char kMagic[] = "\x93NUMPY";

struct Header {
  Slice text;  // the dictionary
  Slice data;
};

bool split(Slice file, Header* header) {
  if (file.size < 10 || !file.starts_with(kMagic)) return false;
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(file[i])); };
  const size_t version = byte(6), begin = version == 1 ? 10 : 12;
  if (version < 1 || version > 3 || file.size < begin) return false;
  const size_t length = byte(8) | byte(9) << 8 | (version == 1 ? 0 : byte(10) << 16 | byte(11) << 24);
  if (length > kNpyHeader || file.size - begin < length) return false;
  *header = {file.part(begin, begin + length), file.from(begin + length)};
  return true;
}

// What follows `'key':` in the dictionary, without blanks in front.
Slice value_of(Slice text, Slice key) {
  for (size_t i = 0; i + key.size + 2 < text.size; ++i) {
    if ((text[i] != '\'' && text[i] != '"') || !(text.part(i + 1, i + 1 + key.size) == key)) continue;
    size_t at = i + key.size + 2;
    while (at < text.size && (text[at] == ' ' || text[at] == ':')) ++at;
    return text.from(at);
  }
  return {};
}

struct Row {
  char name[4];
  uint32_t dtype;
};
constexpr Row kRows[] = {{"f4", kF32}, {"f8", kF64},   {"f2", kF16},  {"b1", kBool},   {"i1", kI8},        {"u1", kU8},
                         {"i2", kI16}, {"u2", kU16},   {"i4", kI32},  {"u4", kU32},    {"i8", kI64},       {"u8", kU64},
                         {"c8", kC64}, {"c16", kC128}, {"V2", kBf16}, {"f1", kF8E5M2}, {"V1", kOpaqueByte}};

// `width`: of strings, code points (U) or bytes (S) of each.
bool parse_descr(Slice descr, uint32_t* dtype, bool* swapped, int64_t* width = nullptr, bool* wide = nullptr) {
  if (descr.size < 4 || (descr[0] != '\'' && descr[0] != '"')) return false;
  const Slice type = descr.part(1, descr.find(descr[0], 1));
  if (type.size < 2) return false;
  const char order = type[0];
  if (order != '<' && order != '>' && order != '|' && order != '=') return false;
  *swapped = order == '>';
  if (int64_t count = 0; (type[1] == 'U' || type[1] == 'S') && parse_integer(type.from(2), &count) && !(count >> 32)) {
    if (width) *width = count, *wide = type[1] == 'U';
    return *dtype = kString, true;
  }
  for (const Row& row : kRows)
    if (type.from(1) == row.name) return *dtype = row.dtype, true;
  return false;
}

bool parse_shape(Slice text, Array* array) {
  if (!text.starts_with("(")) return false;
  for (size_t at = 1;;) {
    while (at < text.size && (text[at] == ' ' || text[at] == ',')) ++at;
    if (at >= text.size) return false;
    if (text[at] == ')') return true;
    size_t end = at;
    while (end < text.size && text[end] >= '0' && text[end] <= '9') ++end;
    if (array->rank == kMaxRank || !parse_integer(text.part(at, end), &array->dims[array->rank])) return false;
    ++array->rank;
    at = end + (end < text.size && text[end] == 'L');  // as Python 2 wrote them
  }
}

void swap_bytes(char* data, uint64_t bytes, uint64_t element) {
  for (uint64_t i = 0; i + element <= bytes; i += element)
    for (uint64_t a = i, b = i + element - 1; a < b; ++a, --b) {
      const char c = data[a];
      data[a] = data[b];
      data[b] = c;
    }
}

void copy_fortran(const Array& array, int32_t axis, int64_t offset, const char* from, char** to) {
  const int64_t bytes = element_bytes(array.dtype);
  if (axis == array.rank) {
    libc::memcpy(*to, from + offset * bytes, static_cast<size_t>(bytes));
    *to += bytes;
    return;
  }
  int64_t stride = 1;
  for (int32_t i = 0; i < axis; ++i) stride *= array.dims[i];
  for (int64_t i = 0; i < array.dims[axis]; ++i) copy_fortran(array, axis + 1, offset + i * stride, from, to);
}

// From a byte an element, from the front, so that none is overwritten before it is read; false: one has no room. The
// upper bits of a byte are the sign's, or, as ml_dtypes leaves them in its `V1`, none.
bool pack(Array* array, bool is_opaque) {
  const int bits = type_info(array->dtype).bits;
  const bool is_signed = type_info(array->dtype).code == 0;
  const int low = is_signed ? -(1 << (bits - 1)) : 0, end = is_opaque ? 1 << bits : low + (1 << bits);
  for (int64_t i = 0; i < array->count(); ++i) {
    const int value = array->data[i];
    if (value < low || value >= end) return false;
    set_integer(array->dtype, array->data, i, value);
  }
  return true;
}

uint32_t word_at(const char* from, bool swapped) {
  uint32_t word = 0;
  libc::memcpy(&word, from, sizeof word);
  return swapped ? __builtin_bswap32(word) : word;
}

// Of `width` places, those from the last one on that holds no 0.
Slice text_of(Tool& tool, const char* from, int64_t width, bool wide, bool swapped) {
  if (!wide) {
    while (width && !from[width - 1]) --width;
    return {from, static_cast<size_t>(width)};
  }
  while (width && !word_at(from + 4 * (width - 1), false)) --width;
  char* const text = static_cast<char*>(tool.arena.take(static_cast<uint64_t>(4 * width) + 1, 1));
  char* to = text;
  for (int64_t i = 0; i < width; ++i) {
    const uint32_t c = word_at(from + 4 * i, swapped);
    to = put_code_point(to, c > 0x10ffff ? 0xfffd : c);
  }
  return {text, static_cast<size_t>(to - text)};
}

bool read_texts(Tool& tool, const Header& header, Slice what, Array* array) {
  uint32_t dtype = 0;
  bool swapped = false, wide = false;
  int64_t width_of_one = 0;
  parse_descr(value_of(header.text, "descr"), &dtype, &swapped, &width_of_one, &wide);
  if (value_of(header.text, "fortran_order").starts_with("True"))
    return tool.fail(kBadData, "%.*s: strings are read in C's order only", width(what), what.data);
  const int64_t bytes = width_of_one * (wide ? 4 : 1), count = array->count();
  if (bytes && count > static_cast<int64_t>(header.data.size) / bytes)
    return tool.fail(kBadData, "%.*s is cut short: %s needs %ld bytes each, %zu are there", width(what), what.data,
                     array->type().text, bytes, header.data.size);
  if (!allocate(tool, array, what)) return false;
  for (int64_t i = 0; i < count; ++i)
    array->texts()[i] = text_of(tool, header.data.data + i * bytes, width_of_one, wide, swapped);
  return true;
}

// Code points of the longest text; bytes that are none count as one.
int64_t widest(const Array& array) {
  int64_t most = 1;
  for (int64_t i = 0; i < array.count(); ++i) {
    int64_t count = 0;
    const Slice text = array.texts()[i];
    const rt::Text all = {text.data, static_cast<int64_t>(text.size)};
    for (int64_t at = 0; at < all.bytes; at += code_point_at(all, at).bytes) ++count;
    if (count > most) most = count;
  }
  return most;
}

void write_texts(const Array& array, int64_t width, Text* to) {
  for (int64_t i = 0; i < array.count(); ++i) {
    const rt::Text all = {array.texts()[i].data, static_cast<int64_t>(array.texts()[i].size)};
    int64_t at = 0;
    for (int64_t k = 0; k < width; ++k) {
      uint32_t word = 0;
      if (at < all.bytes) {
        const CodePoint c = code_point_at(all, at);
        word = c.value < 0 ? 0xfffd : static_cast<uint32_t>(c.value);
        at += c.bytes;
      }
      char bytes[sizeof word];
      libc::memcpy(bytes, &word, sizeof word);
      to->add(Slice(bytes, sizeof word));
    }
  }
}

void add_descr(uint32_t dtype, Text* to) {
  uint32_t stored = dtype;
  if (is_packed(dtype)) stored = type_info(dtype).code ? kU8 : kI8;
  if (is_minifloat(dtype) && dtype != kF8E5M2) stored = kOpaqueByte;
  const Row* row = kRows;
  while (row->dtype != stored) ++row;
  to->format("%c%s", element_bytes(dtype) == 1 && !is_minifloat(dtype) ? '|' : '<', row->name);
}

}  // namespace

struct StringFiles {  // what only programs with strings hold (StringTable::files)
  bool (*read)(Tool& tool, const Header& header, Slice what, Array* array);
  int64_t (*widest)(const Array& array);
  void (*write)(const Array& array, int64_t width, Text* to);
};
const StringFiles string_files = {read_texts, widest, write_texts};

bool declare_npy(Tool& tool, Slice file, Slice what, Array* array) {
  Header header;
  bool swapped = false;
  uint64_t bytes = 0;
  *array = {};
  if (!split(file, &header)) return tool.fail(kBadData, "%.*s is not an npy file", width(what), what.data);
  const Slice descr = value_of(header.text, "descr");
  if (!parse_descr(descr, &array->dtype, &swapped))
    return tool.fail(kBadData, "%.*s holds elements of a type that is not read here: %.*s", width(what), what.data,
                     width(descr.upto(descr.find(','))), descr.data);
  if (!parse_shape(value_of(header.text, "shape"), array) || !sized(*array, &bytes))
    return tool.fail(kBadData, "%.*s: its shape cannot be read", width(what), what.data);
  return true;
}

bool read_npy(Tool& tool, Slice file, Slice what, Array* array) {
  Header header;
  uint32_t dtype = kUndefined;
  bool swapped = false;
  if (!split(file, &header) || !parse_descr(value_of(header.text, "descr"), &dtype, &swapped))
    return tool.fail(kBadData, "%.*s is not an npy file", width(what), what.data);
  if (array->is_strings()) return tool.program->strings->files->read(tool, header, what, array);
  const uint64_t bytes = array->bytes_apart();
  if (bytes > header.data.size)
    return tool.fail(kBadData, "%.*s is cut short: %s needs %lu bytes, %zu are there", width(what), what.data,
                     array->type().text, bytes, header.data.size);
  array->data = static_cast<char*>(tool.arena.take(bytes));
  char* to = array->data;
  if (bytes && value_of(header.text, "fortran_order").starts_with("True"))
    copy_fortran(*array, 0, 0, header.data.data, &to);
  else
    libc::memcpy(to, header.data.data, bytes);
  if (swapped) swap_bytes(array->data, bytes, static_cast<uint64_t>(element_bytes(type_of_parts(array->dtype))));
  if (!is_packed(array->dtype) || pack(array, dtype == kOpaqueByte)) return true;
  return tool.fail(kBadData, "%.*s holds numbers that %s does not", width(what), what.data,
                   type_info(array->dtype).name);
}

bool write_npy(Tool& tool, const Array& array, Text* to) {
  const StringFiles* const strings = array.is_strings() ? tool.program->strings->files : nullptr;
  const int64_t width_of_one = strings ? strings->widest(array) : 0;
  Text header(tool.arena);
  header.add("{'descr': '");
  if (strings)
    header.format("<U%ld", width_of_one);
  else
    add_descr(array.dtype, &header);
  header.add("', 'fortran_order': False, 'shape': (");
  for (int32_t i = 0; i < array.rank; ++i) header.format(array.rank == 1 ? "%ld," : i ? ", %ld" : "%ld", array.dims[i]);
  header.add("), }");
  while ((10 + header.slice().size + 1) % 64) header.add(' ');
  header.add('\n');
  const size_t length = header.slice().size;
  to->add(Slice(kMagic, 6));
  const char version[] = {1, 0, static_cast<char>(length & 255), static_cast<char>(length >> 8)};
  to->add(Slice(version, 4));
  to->add(header.slice());
  if (strings) return strings->write(array, width_of_one, to), true;
  if (!is_packed(array.dtype)) return to->add(Slice(array.data, array.bytes())), true;
  for (int64_t i = 0; i < array.count(); ++i) to->add(static_cast<char>(element_in_byte(array.dtype, array.data, i)));
  return true;
}

}  // namespace rt::program
