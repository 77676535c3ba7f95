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
void read_zip64(Slice extra, NpzEntry* entry) {
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

bool read_entry(Slice file, size_t* at, NpzEntry* entry) {
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

bool packed_bytes(Slice file, const NpzEntry& entry, Slice* bytes) {
  if (entry.offset > file.size || file.size - entry.offset < kLocal) return false;
  const Slice local = file.from(entry.offset);
  if (little(local, 0, 4) != kLocalMagic) return false;
  const size_t skip = kLocal + little(local, 26, 2) + little(local, 28, 2);
  if (local.size < skip || local.size - skip < entry.packed) return false;
  *bytes = local.part(skip, skip + entry.packed);
  return true;
}

// The first `size` bytes of the entry; all of them must be right.
bool unpack(Tool& tool, Slice file, const NpzEntry& entry, Slice what, uint64_t size, Slice* bytes) {
  const char *name = entry.name.data, *of = what.data;
  const int n = width(entry.name), w = width(what);
  Slice packed;
  if (!packed_bytes(file, entry, &packed))
    return tool.fail(kBadData, "%.*s: entry `%.*s` lies outside the file", w, of, n, name);
  const bool is_damaged = entry.method == 0 && packed.size != entry.size;
  if (entry.method == 0 && !is_damaged) {
    *bytes = packed.upto(size);
  } else if (entry.method == 8) {
    if (entry.size / 1100 > entry.packed)  // deflate shrinks at most 1,032-fold
      return tool.fail(kBadData, "%.*s: entry `%.*s` claims %lu bytes in %lu", w, of, n, name, entry.size,
                       entry.packed);
    char* to = tool.arena.array<char>(size + 1);
    *bytes = {to, size};
    if (!inflate(tool, packed, to, size, size == entry.size))
      return tool.fail(kBadData, "%.*s: entry `%.*s` cannot be inflated", w, of, n, name);
  } else if (!is_damaged) {
    return tool.fail(kBadData, "%.*s: entry `%.*s` uses compression %lu; stored (0) and deflate (8) are read", w, of, n,
                     name, entry.method);
  }
  if (is_damaged || (size == entry.size && crc32(*bytes) != entry.crc))
    return tool.fail(kBadData, "%.*s: entry `%.*s` is damaged: its checksum does not fit", w, of, n, name);
  return true;
}

void put_header(Text* to, const NpzEntry& entry, bool central) {
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

bool list_npz(Tool& tool, Slice file, Slice what, NpzEntries* entries) {
  size_t end = 0;
  if (!find_end(file, &end)) return tool.fail(kBadData, "%.*s is not an npz (zip) file", width(what), what.data);
  const size_t count = little(file, end + 10, 2);
  size_t at = little(file, end + 16, 4);
  entries->items = tool.arena.array<NpzEntry>(count);
  entries->count = 0;
  for (size_t i = 0; i < count; ++i) {
    NpzEntry& entry = entries->items[entries->count];
    if (at > file.size || !read_entry(file, &at, &entry))
      return tool.fail(kBadData, "%.*s: entry %zu of its directory cannot be read", width(what), what.data, i);
    if (!entry.name.ends_with(".npy")) continue;
    entry.name = entry.name.upto(entry.name.size - 4);
    ++entries->count;
  }
  return true;
}

bool declare_npz(Tool& tool, Slice file, const NpzEntry& entry, Slice what, Array* array) {
  Slice head;
  const uint64_t most = kNpyHeader + 12;  // magic, version and length stand in front of it
  if (!unpack(tool, file, entry, what, entry.size < most ? entry.size : most, &head)) return false;
  if (!declare_npy(tool, head, entry.name, array)) return false;
  array->name = entry.name;
  return true;
}

bool read_npz(Tool& tool, Slice file, const NpzEntry& entry, Slice what, Array* array) {
  Slice bytes;
  if (!array->is_strings() && entry.size > kNpyHeader + 12 + array->bytes_apart())
    return tool.fail(kBadData, "%.*s: entry `%.*s` claims %lu bytes for %s", width(what), what.data, width(entry.name),
                     entry.name.data, entry.size, array->type().text);
  return unpack(tool, file, entry, what, entry.size, &bytes) && read_npy(tool, bytes, entry.name, array);
}

bool write_npz(Tool& tool, Arrays arrays, Text* to) {
  NpzEntry* entries = tool.arena.array<NpzEntry>(arrays.count);
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
