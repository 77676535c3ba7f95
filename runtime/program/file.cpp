// See file.h.
#include "runtime/program/file.h"

namespace rt::program {
namespace {

#if defined(__aarch64__)
constexpr int kDirectory = 040000;  // O_DIRECTORY
#else
constexpr int kDirectory = 0200000;
#endif
constexpr int kInterruptedCall = 4;  // EINTR

const char* c_path(Tool& tool, Slice path) {
  Text text(tool.arena);
  text.add(path);
  return text.c_str();
}

bool read_open_file(Tool& tool, int file, Slice path, Slice* bytes) {
  uint64_t capacity = 1 << 16, size = 0;
  char* data = static_cast<char*>(tool.arena.take(capacity));
  for (;;) {
    const long got = libc::read(file, data + size, capacity - size - 1);
    if (got < 0 && *libc::errno_location() == kInterruptedCall) continue;
    if (got < 0) return tool.fail(kBadData, "cannot read `%.*s`: %s", width(path), path.data, last_error());
    if (got == 0) break;
    size += static_cast<uint64_t>(got);
    if (size + 1 < capacity) continue;
    char* larger = static_cast<char*>(tool.arena.take(capacity * 4));
    libc::memcpy(larger, data, size);
    data = larger;
    capacity *= 4;
  }
  data[size] = 0;
  *bytes = {data, size};
  return true;
}

}  // namespace

const char* last_error() { return libc::strerror(*libc::errno_location()); }

bool write_all(int file, Slice bytes) {
  while (!bytes.empty()) {
    const long written = libc::write(file, bytes.data, bytes.size);
    if (written < 0 && *libc::errno_location() == kInterruptedCall) continue;
    if (written <= 0) return false;
    bytes = bytes.from(static_cast<size_t>(written));
  }
  return true;
}

bool read_file(Tool& tool, Slice path, Slice* bytes) {
  const int file = libc::open(c_path(tool, path), libc::kReadOnly | libc::kCloseOnExec);
  if (file < 0) return tool.fail(kBadData, "cannot open `%.*s`: %s", width(path), path.data, last_error());
  const bool ok = read_open_file(tool, file, path, bytes);
  libc::close(file);
  return ok;
}

bool write_file(Tool& tool, Slice path, Slice bytes) {
  Text partial(tool.arena);
  partial.format("%.*s.%d.partial", width(path), path.data, libc::getpid());
  const char* temporary = partial.c_str();
  const int flags = libc::kWriteOnly | libc::kCreate | libc::kTruncate | libc::kCloseOnExec;
  const int file = libc::open(temporary, flags, 0666);
  if (file < 0) return tool.fail(kUsage, "cannot write `%.*s`: %s", width(path), path.data, last_error());
  bool ok = write_all(file, bytes);
  ok = libc::close(file) == 0 && ok;
  ok = ok && libc::rename(temporary, c_path(tool, path)) == 0;
  if (ok) return true;
  tool.fail(kUsage, "cannot write `%.*s`: %s", width(path), path.data, last_error());
  libc::unlink(temporary);
  return false;
}

bool exists(Tool& tool, Slice path) {
  const int file = libc::open(c_path(tool, path), libc::kReadOnly | libc::kCloseOnExec);
  if (file >= 0) libc::close(file);
  return file >= 0;
}

bool is_folder(Tool& tool, Slice path) {
  const int file = libc::open(c_path(tool, path), libc::kReadOnly | libc::kCloseOnExec | kDirectory);
  if (file >= 0) libc::close(file);
  return file >= 0;
}

bool list_folder(Tool& tool, Slice path, Names* names) {
  void* folder = libc::opendir(c_path(tool, path));
  if (!folder) return tool.fail(kBadData, "cannot open the folder `%.*s`: %s", width(path), path.data, last_error());
  size_t capacity = 64;
  *names = {tool.arena.array<Slice>(capacity), 0};
  while (const libc::Dirent* entry = libc::readdir(folder)) {
    if (entry->name[0] == '.') continue;
    if (names->count == capacity) {
      Slice* larger = tool.arena.array<Slice>(capacity * 2);
      for (size_t i = 0; i < capacity; ++i) larger[i] = names->items[i];
      names->items = larger;
      capacity *= 2;
    }
    const Slice name = entry->name;
    size_t at = names->count++;  // insertion sort: folders of test data are small
    for (; at > 0 && natural_order(name, names->items[at - 1]) < 0; --at) names->items[at] = names->items[at - 1];
    names->items[at] = {c_path(tool, name), name.size};
  }
  libc::closedir(folder);
  return true;
}

Slice join_path(Tool& tool, Slice folder, Slice name) {
  Text text(tool.arena);
  text.add(folder);
  if (!folder.ends_with("/")) text.add('/');
  text.add(name);
  text.c_str();
  return text.slice();
}

}  // namespace rt::program
