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

// The size of a regular file; false for what has none: pipes, devices, files that the kernel makes up.
bool size_of(int file, uint64_t* size) {
  libc::Statx status;
  if (libc::statx(file, "", libc::kOfTheDescriptor, libc::kTypeAndSize, &status)) return false;
  *size = status.size;
  return (status.mode & libc::kTypeMask) == libc::kRegular && status.size;
}

bool read_open_file(Tool& tool, int file, Slice path, uint64_t most, Slice* bytes) {
  uint64_t capacity = most < (1 << 16) ? most : 1 << 16, size = 0, known = 0;
  if (size_of(file, &known)) capacity = known < most ? known : most;
  char* data = static_cast<char*>(tool.arena.take(capacity + 1));
  while (size < most) {
    if (size == capacity) {
      capacity = capacity > most / 2 ? most : capacity * 2;
      char* larger = static_cast<char*>(tool.arena.take(capacity + 1));
      libc::memcpy(larger, data, size);
      data = larger;
    }
    const long got = libc::read(file, data + size, capacity - size);
    if (got < 0 && *libc::errno_location() == kInterruptedCall) continue;
    if (got < 0) return tool.fail(kBadData, "cannot read `%.*s`: %s", width(path), path.data, last_error());
    if (got == 0) break;
    size += static_cast<uint64_t>(got);
  }
  data[size] = 0;
  *bytes = {data, size};
  return true;
}

int open_to_read(Tool& tool, Slice path) {
  const int file = libc::open(c_path(tool, path), libc::kReadOnly | libc::kCloseOnExec);
  if (file < 0) tool.fail(kBadData, "cannot open `%.*s`: %s", width(path), path.data, last_error());
  return file;
}

bool cannot_write(Tool& tool, Slice path) {
  return tool.fail(kUsage, "cannot write `%.*s`: %s", width(path), path.data, last_error());
}

bool write_and_close(int file, Slice bytes) {
  const bool written = write_all(file, bytes);
  return libc::close(file) == 0 && written;
}

bool is_pipe_or_device(const char* path) {
  libc::Statx status;
  return libc::statx(libc::kWorkingFolder, path, 0, libc::kTypeAndSize, &status) == 0 &&
         (status.mode & libc::kTypeMask) != libc::kRegular;
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
  const int file = open_to_read(tool, path);
  if (file < 0) return false;
  uint64_t size = 0;
  const bool sized = size_of(file, &size);
  const bool ok = read_open_file(tool, file, path, sized ? size : kMostUnsized, bytes);
  libc::close(file);
  if (ok && !sized && bytes->size == kMostUnsized)
    return tool.fail(kBadData, "`%.*s` goes on after %lu bytes; what has no size is read no further", width(path),
                     path.data, kMostUnsized);
  return ok;
}

bool read_start(Tool& tool, Slice path, uint64_t most, Slice* bytes, uint64_t* size) {
  if (most == kAll) return read_file(tool, path, bytes) && (*size = bytes->size, true);
  const int file = open_to_read(tool, path);
  if (file < 0) return false;
  const bool sized = size_of(file, size), ok = read_open_file(tool, file, path, most, bytes);
  libc::close(file);
  if (ok && !sized) *size = bytes->size;
  return ok;
}

bool write_file(Tool& tool, Slice path, Slice bytes) {
  Text partial(tool.arena);
  char followed[4096];
  const int flags = libc::kWriteOnly | libc::kCreate | libc::kTruncate | libc::kCloseOnExec;
  if (path == "/dev/stdout") return write_all(1, bytes) || cannot_write(tool, path);  // behind what is there
  const char* target = c_path(tool, path);
  if (is_pipe_or_device(target)) {
    const int file = libc::open(target, libc::kWriteOnly | libc::kCloseOnExec);
    return (file >= 0 && write_and_close(file, bytes)) || cannot_write(tool, path);
  }
  if (libc::realpath(target, followed)) target = followed;
  partial.format("%s.%d.partial", target, libc::getpid());
  const char* temporary = partial.c_str();
  const int file = libc::open(temporary, flags, 0666);
  if (file < 0) return cannot_write(tool, path);
  if (write_and_close(file, bytes) && libc::rename(temporary, target) == 0) return true;
  cannot_write(tool, path);
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
