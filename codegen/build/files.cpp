// See files.h.
#include "codegen/build/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/Signals.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>

namespace cameo {
namespace {

constexpr size_t kWriteSize = size_t{1} << 30;  // write() takes at most 2 GB

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::string base_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

// A link is followed: what it points to is replaced, not the link.
std::string resolved(const std::string& path) {
  char buffer[PATH_MAX];
  return ::realpath(path.c_str(), buffer) ? std::string(buffer) : path;
}

// The number of this process as /proc counts it, which another pid namespace may not.
std::string own_process() {
  char buffer[32];
  const ssize_t length = ::readlink("/proc/self", buffer, sizeof buffer);
  return length > 0 ? std::string(buffer, length) : std::to_string(::getpid());
}

std::string path_of_descriptor(int descriptor) { return fmt::format("/proc/{}/fd/{}", own_process(), descriptor); }

bool has_no_unnamed_files(int error) { return error == EOPNOTSUPP || error == EISDIR; }

std::string hidden_name_beside(const std::string& path) {
  return fmt::format("{}/{}", folder_of(path), hidden_name(base_of(path)));
}

std::string cannot_write(const std::string& path, int error) {
  if (error == ENOENT) return fmt::format("cannot write `{}`: the folder `{}` does not exist", path, folder_of(path));
  return fmt::format("cannot write `{}`: {}", path, std::strerror(error));
}

// No signal ends the process while a file has its temporary name.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;
  ~SignalsHeld() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

Status link_under(int descriptor, const std::string& name, const std::string& path) {
  ::unlink(name.c_str());
  const std::string self = fmt::format("/proc/self/fd/{}", descriptor);
  const bool linked = ::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
  return linked ? Status{} : Status{cannot_write(path, errno)};
}

}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  if (this != &other) {
    reset();
    number_ = other.release();
  }
  return *this;
}

int FileDescriptor::release() { return std::exchange(number_, -1); }

void FileDescriptor::reset() {
  if (number_ >= 0) ::close(release());
}

Status write_all(int descriptor, std::span<const std::byte> bytes, std::string_view what) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), std::min(bytes.size(), kWriteSize));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return {cannot_write(std::string(what), written < 0 ? errno : ENOSPC)};
    bytes = bytes.subspan(written);
  }
  return {};
}

std::string read_all(int descriptor) {
  struct stat status;
  if (::fstat(descriptor, &status) != 0) return {};
  std::string bytes(status.st_size, '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got = ::pread(descriptor, bytes.data() + done, bytes.size() - done, done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += got;
  }
  bytes.resize(done);
  return bytes;
}

std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string hidden_name(const std::string& name) {
  constexpr size_t kLongest = 200;  // and what is added, of the 255 bytes of a name
  if (name.size() <= kLongest) return fmt::format(".{}.cameo-{}", name, ::getpid());
  return fmt::format(".{}.{:016x}.cameo-{}", name.substr(0, kLongest), std::hash<std::string>()(name), ::getpid());
}

ScratchFile ScratchFile::in_memory() {
  ScratchFile file;
  file.descriptor_ = FileDescriptor(::memfd_create("cameo", MFD_CLOEXEC));
  return file;
}

ScratchFile ScratchFile::beside(const std::string& output) {
  ScratchFile file;
  file.descriptor_ = FileDescriptor(::open(folder_of(output).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  return file.descriptor_.valid() ? std::move(file) : in_memory();
}

std::string ScratchFile::path() const { return path_of_descriptor(descriptor_.get()); }

OutputFile OutputFile::create(const std::string& path, bool executable, Status& status) {
  OutputFile file;
  file.path_ = resolved(path);
  const mode_t mode = executable ? 0777 : 0666;
  struct stat existing;
  const bool exists = ::stat(file.path_.c_str(), &existing) == 0;
  if (!exists && errno != ENOENT) {
    status = {cannot_write(path, errno)};
    return file;
  }
  if (exists && !S_ISREG(existing.st_mode)) {
    if (S_ISDIR(existing.st_mode)) {
      status = {fmt::format("cannot write `{}`: a folder has that name", path)};
      return file;
    }
    file.in_place_ = true;
    file.descriptor_ = FileDescriptor(::memfd_create("cameo", MFD_CLOEXEC));
    return file;
  }
  file.descriptor_ = FileDescriptor(::open(folder_of(file.path_).c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode));
  if (!file.descriptor_.valid() && has_no_unnamed_files(errno)) {
    file.temporary_ = hidden_name_beside(file.path_);
    llvm::sys::RemoveFileOnSignal(file.temporary_);
    const int flags = O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC;
    file.descriptor_ = FileDescriptor(::open(file.temporary_.c_str(), flags, mode));
  }
  if (!file.descriptor_.valid()) status = {cannot_write(path, errno)};
  return file;
}

OutputFile::~OutputFile() {
  if (descriptor_.valid() && !temporary_.empty()) ::unlink(temporary_.c_str());
}

std::string OutputFile::scratch_path() const { return path_of_descriptor(descriptor_.get()); }

Status OutputFile::commit() {
  if (in_place_) return copy_into_existing();
  const SignalsHeld held;
  const bool unnamed = temporary_.empty();
  const std::string name = unnamed ? hidden_name_beside(path_) : std::exchange(temporary_, {});
  if (unnamed) {
    Status linked = link_under(descriptor_.get(), name, path_);
    if (!linked.ok()) return linked;
  }
  const bool renamed = ::rename(name.c_str(), path_.c_str()) == 0;
  const int error = errno;
  if (!renamed) ::unlink(name.c_str());
  if (!unnamed) llvm::sys::DontRemoveFileOnSignal(name);
  descriptor_.reset();
  return renamed ? Status{} : Status{cannot_write(path_, error)};
}

Status write_file(const std::string& path, const std::vector<std::span<const std::byte>>& pieces) {
  Status status;
  OutputFile file = OutputFile::create(path, false, status);
  for (const auto piece : pieces)
    if (status.ok()) status = file.write(piece);
  return status.ok() ? file.commit() : status;
}

Status OutputFile::copy_into_existing() {
  const FileDescriptor target(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
  if (!target.valid()) return {cannot_write(path_, errno)};
  return write_all(target.get(), as_bytes(read_all(descriptor_.get())), path_);
}

}  // namespace cameo
