// Zip archives of npy files: the central directory is read, entries may be stored or deflated; written ones are stored.
#include "runtime/program/array.h"
#include "runtime/program/image.h"

namespace rt::program {
namespace {

uint64_t little(Slice bytes, size_t at, size_t count) {
  uint64_t value = 0;
  for (size_t i = 0; i < count; ++i)
    value |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  return value;
}

void put(Text* to, uint64_t value, int count) {
  for (int i = 0; i < count; ++i) to->add(static_cast<char>(value >> (8 * i)));
}

struct Entry {
  Slice name;
  uint64_t method, crc, packed, size, offset;
};

constexpr size_t kEnd = 22, kCentral = 46, kLocal = 30;
constexpr uint32_t kEndMagic = 0x06054b50, kCentralMagic = 0x02014b50, kLocalMagic = 0x04034b50;

bool find_end(Slice file, size_t* at) {
  if (file.size < kEnd) return false;
  const size_t lowest = file.size > kEnd + 65535 ? file.size - kEnd - 65535 : 0;
  for (size_t i = file.size - kEnd + 1; i-- > lowest;)
    if (little(file, i, 4) == kEndMagic) return *at = i, true;
  return false;
}

// Sizes beyond 32 bits stand in the extra field with id 1, in this order, those only that do not fit.
void read_zip64(Slice extra, Entry* entry) {
  while (extra.size >= 4) {
    const size_t length = little(extra, 2, 2);
    if (extra.size - 4 < length) return;
    Slice field = extra.part(4, 4 + length);
    uint64_t* const values[] = {&entry->size, &entry->packed, &entry->offset};
    if (little(extra, 0, 2) == 1)
      for (uint64_t* value : values) {
        if (*value != 0xffffffff || field.size < 8) continue;
        *value = little(field, 0, 8);
        field = field.from(8);
      }
    extra = extra.from(4 + length);
  }
}

bool read_entry(Slice file, size_t* at, Entry* entry) {
  if (file.size - *at < kCentral || little(file, *at, 4) != kCentralMagic) return false;
  const Slice header = file.from(*at);
  const size_t name = little(header, 28, 2), extra = little(header, 30, 2), comment = little(header, 32, 2);
  if (header.size - kCentral < name + extra + comment) return false;
  *entry = {header.part(kCentral, kCentral + name),
            little(header, 10, 2),
            little(header, 16, 4),
            little(header, 20, 4),
            little(header, 24, 4),
            little(header, 42, 4)};
  read_zip64(header.part(kCentral + name, kCentral + name + extra), entry);
  *at += kCentral + name + extra + comment;
  return true;
}

bool packed_bytes(Slice file, const Entry& entry, Slice* bytes) {
  if (entry.offset > file.size || file.size - entry.offset < kLocal) return false;
  const Slice local = file.from(entry.offset);
  if (little(local, 0, 4) != kLocalMagic) return false;
  const size_t skip = kLocal + little(local, 26, 2) + little(local, 28, 2);
  if (local.size < skip || local.size - skip < entry.packed) return false;
  *bytes = local.part(skip, skip + entry.packed);
  return true;
}

bool unpack(Tool& tool, Slice file, const Entry& entry, Slice what, Slice* bytes) {
  const char *name = entry.name.data, *of = what.data;
  const int n = width(entry.name), w = width(what);
  Slice packed;
  if (!packed_bytes(file, entry, &packed))
    return tool.fail(kBadData, "%.*s: entry `%.*s` lies outside the file", w, of, n, name);
  if (entry.method == 0) {
    *bytes = packed;
  } else if (entry.method == 8) {
    if (entry.size / 1100 > entry.packed)  // deflate shrinks at most 1,032-fold
      return tool.fail(kBadData, "%.*s: entry `%.*s` claims %lu bytes in %lu", w, of, n, name, entry.size,
                       entry.packed);
    char* to = static_cast<char*>(tool.arena.take(entry.size + 1));
    *bytes = {to, entry.size};
    if (!inflate(tool, packed, to, entry.size))
      return tool.fail(kBadData, "%.*s: entry `%.*s` cannot be inflated", w, of, n, name);
  } else {
    return tool.fail(kBadData, "%.*s: entry `%.*s` uses compression %lu; stored (0) and deflate (8) are read", w, of, n,
                     name, entry.method);
  }
  if (bytes->size != entry.size || crc32(*bytes) != entry.crc)
    return tool.fail(kBadData, "%.*s: entry `%.*s` is damaged: its checksum does not fit", w, of, n, name);
  return true;
}

void put_header(Text* to, const Entry& entry, bool central) {
  put(to, central ? kCentralMagic : kLocalMagic, 4);
  if (central) put(to, 20, 2);
  put(to, 20, 2);     // version needed
  put(to, 0x800, 2);  // names are UTF-8
  put(to, 0, 2);
  put(to, 0x00210000, 4);  // 1980-01-01: the same bytes at any time
  put(to, entry.crc, 4);
  put(to, entry.size, 4);
  put(to, entry.size, 4);
  put(to, entry.name.size, 2);
  put(to, 0, 2);
  if (central) put(to, 0, 8), put(to, 0, 2), put(to, entry.offset, 4);
  to->add(entry.name);
}

}  // namespace

uint32_t crc32(Slice bytes, uint32_t crc) {
  uint32_t table[256];
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t value = i;
    for (int k = 0; k < 8; ++k) value = value >> 1 ^ (value & 1 ? 0xedb88320u : 0);
    table[i] = value;
  }
  crc = ~crc;
  for (size_t i = 0; i < bytes.size; ++i) crc = crc >> 8 ^ table[(crc ^ static_cast<unsigned char>(bytes[i])) & 255];
  return ~crc;
}

bool read_npz(Tool& tool, Slice file, Slice what, Arrays* arrays) {
  size_t end = 0;
  if (!find_end(file, &end)) return tool.fail(kBadData, "%.*s is not an npz (zip) file", width(what), what.data);
  const size_t count = little(file, end + 10, 2);
  size_t at = little(file, end + 16, 4);
  arrays->items = tool.arena.array<Array>(count);
  arrays->count = 0;
  for (size_t i = 0; i < count; ++i) {
    Entry entry;
    Slice bytes;
    if (at > file.size || !read_entry(file, &at, &entry))
      return tool.fail(kBadData, "%.*s: entry %zu of its directory cannot be read", width(what), what.data, i);
    if (!entry.name.ends_with(".npy")) continue;
    Array& array = arrays->items[arrays->count];
    if (!unpack(tool, file, entry, what, &bytes) || !read_npy(tool, bytes, entry.name, &array)) return false;
    array.name = entry.name.upto(entry.name.size - 4);
    ++arrays->count;
  }
  return true;
}

bool write_npz(Tool& tool, Arrays arrays, Text* to) {
  Entry* entries = tool.arena.array<Entry>(arrays.count);
  for (size_t i = 0; i < arrays.count; ++i) {
    Text name(tool.arena), bytes(tool.arena);
    name.add(arrays.items[i].name);
    name.add(".npy");
    if (!write_npy(tool, arrays.items[i], &bytes)) return false;
    const uint64_t size = bytes.slice().size;
    entries[i] = {name.slice(), 0, crc32(bytes.slice()), size, size, to->slice().size};
    if (entries[i].offset + size > 0xfffffff0u || name.slice().size > 0xffff || arrays.count > 0xfffe)
      return tool.fail(kUsage, "an npz file of more than 4 GB is not written here; use one npy file for each output");
    put_header(to, entries[i], false);
    to->add(bytes.slice());
  }
  const uint64_t begin = to->slice().size;
  for (size_t i = 0; i < arrays.count; ++i) put_header(to, entries[i], true);
  const uint64_t size = to->slice().size - begin;
  put(to, kEndMagic, 4);
  put(to, 0, 4);
  put(to, arrays.count, 2);
  put(to, arrays.count, 2);
  put(to, size, 4);
  put(to, begin, 4);
  put(to, 0, 2);
  return true;
}

}  // namespace rt::program
