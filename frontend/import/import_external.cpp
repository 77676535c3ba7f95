// Files from outside: the model's own, and external data, which is opened component by component under the model's
// folder without following links; what the descriptor says (not the path) decides whether it is a plain file of ours
// alone.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "frontend/import/import_internal.h"

namespace cameo {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& o) noexcept {
    std::swap(fd_, o.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }

 private:
  int fd_;
};

std::string_view kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR: return "a folder";
    case S_IFIFO: return "a pipe";
    case S_IFCHR:
    case S_IFBLK: return "a device";
    case S_IFSOCK: return "a socket";
    case S_IFLNK: return "a symbolic link";
    default: return "no plain file";
  }
}

MappedFile::State state_of(const struct stat& s) {
  constexpr int64_t kNanoseconds = 1'000'000'000;
  return {s.st_dev, s.st_ino, s.st_size, s.st_mtim.tv_sec * kNanoseconds + s.st_mtim.tv_nsec,
          s.st_ctim.tv_sec * kNanoseconds + s.st_ctim.tv_nsec};
}

MappedFile map_descriptor(int fd, const struct stat& s, const std::filesystem::path& path) {
  MappedFile file{{}, nullptr, path, state_of(s)};
  const size_t size = static_cast<size_t>(s.st_size);
  if (size == 0) return file;
  void* p = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (p == MAP_FAILED)
    throw CompileError(Code::E0101, fmt::format("mapping the file failed: {}", std::strerror(errno)));
  file.bytes = {static_cast<const std::byte*>(p), size};
  file.owner = std::shared_ptr<const void>(p, [size](const void* q) { munmap(const_cast<void*>(q), size); });
  return file;
}

}  // namespace

MappedFile map_file(const std::filesystem::path& file) {
  Descriptor fd(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a pipe must not hold us up
  if (!fd.ok())
    throw CompileError(Code::E0101,
                       fmt::format("`{}` cannot be opened: {}", printable(file.string()), std::strerror(errno)));
  struct stat s{};
  if (fstat(fd.get(), &s) != 0 || !S_ISREG(s.st_mode))
    throw CompileError(Code::E0101, fmt::format("`{}` is {}", printable(file.string()), kind_of(s.st_mode)));
  return map_descriptor(fd.get(), s, file);
}

bool is_unchanged(const MappedFile& file) {
  struct stat s{};
  return stat(file.path.c_str(), &s) == 0 && state_of(s) == file.state;
}

namespace importing {
namespace {

[[noreturn]] void refuse(const std::string& location, std::string_view why) {
  throw CompileError(Code::E0103, fmt::format("external data `{}` {}", printable(location), why),
                     "external data must be a plain file under the model's folder");
}

std::vector<std::string> components(const std::string& location) {
  if (location.empty()) refuse(location, "has no location");
  if (location[0] == '/') refuse(location, "is an absolute path");
  if (location.find('\0') != location.npos) refuse(location, "has a zero byte in its name");
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= location.size();) {
    size_t end = std::min(location.find('/', begin), location.size());
    std::string part = location.substr(begin, end - begin);
    if (part == "..") refuse(location, "leaves the model's folder with `..`");
    if (!part.empty() && part != ".") parts.push_back(std::move(part));
    begin = end + 1;
  }
  if (parts.empty()) refuse(location, "names a folder");
  return parts;
}

[[noreturn]] void refuse_errno(const std::string& location) {
  if (errno == ELOOP || errno == ENOTDIR || errno == EMLINK)
    refuse(location, "goes through a symbolic link, or through something that is no folder");
  refuse(location, fmt::format("cannot be opened: {}", std::strerror(errno)));
}

}  // namespace

const MappedFile& DataFolder::open(const std::string& location) {
  if (auto it = files_.find(location); it != files_.end()) return it->second;
  std::vector<std::string> parts = components(location);
  Descriptor at(::open(folder_.empty() ? "." : folder_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (size_t i = 0; i + 1 < parts.size() && at.ok(); ++i)
    at = Descriptor(openat(at.get(), parts[i].c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!at.ok()) refuse_errno(location);
  struct stat s{};
  if (fstatat(at.get(), parts.back().c_str(), &s, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(s.st_mode))
    refuse(location, fmt::format("is {}", kind_of(s.st_mode)));
  Descriptor fd(openat(at.get(), parts.back().c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd.ok()) refuse_errno(location);
  if (fstat(fd.get(), &s) != 0 || !S_ISREG(s.st_mode)) refuse(location, fmt::format("is {}", kind_of(s.st_mode)));
  if (s.st_nlink > 1) refuse(location, "has other names (hard links), which may lie outside of the folder");
  return files_.emplace(location, map_descriptor(fd.get(), s, folder_ / location)).first->second;
}

}  // namespace importing
}  // namespace cameo
