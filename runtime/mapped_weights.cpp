// See mapped_weights.h. The name in a program's table counts from the folder of the file that the program is loaded
// from, which /proc/self/maps says whatever the working directory is and was, links followed.
#include "runtime/mapped_weights.h"

#include "runtime/errors.h"
#include "runtime/libc.h"

namespace rt {
namespace {

const char* last_error() { return libc::strerror(*libc::errno_location()); }

const char* find_char(const char* begin, const char* end, char wanted) {
  while (begin < end && *begin != wanted) ++begin;
  return begin;
}

uint64_t hexadecimal(const char* from, const char* end) {
  uint64_t value = 0;
  for (; from < end; ++from) value = value * 16 + static_cast<uint64_t>(*from <= '9' ? *from - '0' : *from - 'a' + 10);
  return value;
}

// The file in a line such as `7f00-7f80 r--p 00000000 08:01 4711    /lib/x.so`, if the line is of that address.
const char* file_in(const char* line, const char* end, uint64_t address) {
  const char *dash = find_char(line, end, '-'), *blank = find_char(dash, end, ' ');
  if (dash == end || address < hexadecimal(line, dash) || address >= hexadecimal(dash + 1, blank)) return nullptr;
  const char* path = find_char(line, end, '/');
  return path < end ? path : nullptr;
}

// The folder, with its slash, of the file that holds `address`; false where that is not known.
bool folder_of(const void* address, char* to, size_t room) {
  char buffer[8192];  // two of the longest lines
  size_t held = 0;
  const int maps = libc::open("/proc/self/maps", libc::kReadOnly | libc::kCloseOnExec);
  const char *path = nullptr, *end = nullptr;
  while (maps >= 0 && !path) {
    const long got = libc::read(maps, buffer + held, sizeof buffer - held);
    if (got <= 0) break;
    const char *line = buffer, *const last = buffer + held + got;
    while (!path && (end = find_char(line, last, '\n')) < last) {
      path = file_in(line, end, reinterpret_cast<uint64_t>(address));
      line = end + 1;
    }
    held = static_cast<size_t>(last - line);
    if (!path) libc::memmove(buffer, line, held);
  }
  if (maps >= 0) libc::close(maps);
  while (path && end[-1] != '/') --end;
  if (!path || static_cast<size_t>(end - path) >= room) return false;
  libc::memcpy(to, path, static_cast<size_t>(end - path));
  return to[end - path] = 0, true;
}

cameo_status find_file(const WeightsFile& wanted, const char* given, MappedWeights* to, cameo_error* error) {
  const char* const name = given ? given : wanted.name;
  const bool beside = !given && name[0] != '/';
  if (beside && !folder_of(&wanted, to->path, sizeof to->path))
    return fail(error, CAMEO_DATA_LOSS, -1, -1,
                "the weights are in the file %s, and the folder that it is looked for in is not known; name the file "
                "in options.weights_path (`--weights FILE`)",
                Quoted(name).text);
  const size_t length = libc::strlen(to->path), more = libc::strlen(name);
  if (length + more >= sizeof to->path)
    return fail(error, CAMEO_DATA_LOSS, -1, -1, "the path of the weights, %s, is too long", Quoted(name).text);
  libc::memcpy(to->path + length, name, more + 1);
  return CAMEO_OK;
}

cameo_status not_ours(const char* path, cameo_error* error) {
  return fail(error, CAMEO_DATA_LOSS, -1, -1, "%s is no file of weights that `cameo build --weights=file` wrote",
              Quoted(path).text);
}

cameo_status check_header(const MappedWeights& file, const Program& program, cameo_error* error) {
  const WeightsFile& wanted = *program.weights_file;
  const WeightsHeader& header = *static_cast<const WeightsHeader*>(file.memory);
  const Quoted path(file.path);
  if (libc::memcmp(header.magic, WeightsHeader().magic, sizeof header.magic)) return not_ours(file.path, error);
  if (header.version != kWeightsVersion || header.begin != kPoolBegin)
    return fail(error, CAMEO_DATA_LOSS, -1, -1, "%s is a file of weights of version %u, and this library reads %u",
                path.text, header.version, kWeightsVersion);
  if (header.hash != wanted.hash)
    return fail(error, CAMEO_DATA_LOSS, -1, -1,
                "%s holds other weights (hash %016lx) than this library was built with (%016lx); take the file that "
                "was written with it, or build it again",
                path.text, header.hash, wanted.hash);
  if (file.bytes == kPoolBegin + program.weights_bytes) return CAMEO_OK;
  return fail(error, CAMEO_DATA_LOSS, -1, -1, "%s has %lu bytes and was written with %lu: it is damaged; copy it again",
              path.text, file.bytes, kPoolBegin + program.weights_bytes);
}

cameo_status map_file(int file, const Program& program, MappedWeights* to, cameo_error* error) {
  libc::Statx status;
  if (libc::statx(file, "", libc::kOfTheDescriptor, libc::kTypeAndSize, &status))
    return fail(error, CAMEO_DATA_LOSS, -1, -1, "cannot read %s: %s", Quoted(to->path).text, last_error());
  if ((status.mode & libc::kTypeMask) != libc::kRegular || status.size < kPoolBegin) return not_ours(to->path, error);
  void* const memory = libc::mmap(nullptr, status.size, libc::kMapRead, libc::kMapShared, file, 0);
  if (memory == libc::map_failed())
    return fail(error, CAMEO_DATA_LOSS, -1, -1, "cannot map %s: %s", Quoted(to->path).text, last_error());
  to->memory = memory;
  to->bytes = status.size;
  const cameo_status wrong = check_header(*to, program, error);
  if (wrong) libc::munmap(memory, to->bytes), to->memory = nullptr;
  return wrong;
}

cameo_status open_weights(const Program& program, const char* path, MappedWeights* to, cameo_error* error) {
  if (cameo_status status = find_file(*program.weights_file, path, to, error)) return status;
  const int file = libc::open(to->path, libc::kReadOnly | libc::kCloseOnExec);
  if (file < 0)
    return fail(error, CAMEO_DATA_LOSS, -1, -1,
                "cannot open the weights %s: %s; put the file there, or name it in options.weights_path "
                "(`--weights FILE`)",
                Quoted(to->path).text, last_error());
  const cameo_status status = map_file(file, program, to, error);
  libc::close(file);
  return status;
}

bool are_right(const Program& program, const void* pool) {
  PoolHash hash;
  hash.add(pool, program.weights_bytes);
  return hash.finish() == program.weights_file->hash;
}

}  // namespace

const WeightsReader weights_reader = {open_weights, are_right};

}  // namespace rt
