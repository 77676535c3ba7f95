// See artifact_cache.h.
#include "cli/artifact_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <vector>

#include "codegen/build/content_hash.h"
#include "frontend/import/import_onnx.h"

namespace cameo {
namespace fs = std::filesystem;
namespace {

constexpr size_t kHashDigits = 32;
constexpr const char* kLimitFile = "limit";

fs::path folder_of_user() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value ? value : "");
  };
  if (const fs::path home = variable("XDG_CACHE_HOME"); home.is_absolute()) return home / "cameo";
  if (const fs::path home = variable("HOME"); home.is_absolute()) return home / ".cache" / "cameo";
  std::error_code error;
  const fs::path temporary = fs::temp_directory_path(error);
  return (error ? "/tmp" : temporary) / fmt::format("cameo-{}", ::geteuid());
}

std::string file_of(const std::string& key) { return key + ".so"; }

/// KEY.so, or what OutputFile calls one that it writes. Nothing else in the folder is touched.
bool is_entry(std::string_view name) {
  if (name.starts_with('.')) name.remove_prefix(1);
  const size_t digits = std::min(name.find_first_not_of("0123456789abcdef"), name.size());
  return digits == kHashDigits && name.substr(digits).starts_with(".so");
}

std::string seal_of(const std::string& key, std::span<const std::byte> artifact) {
  return content_hash(as_bytes(key + content_hash(artifact)));
}

bool is_sealed(const std::string& key, std::span<const std::byte> entry) {
  if (entry.size() < kHashDigits) return false;
  const std::span<const std::byte> artifact = entry.first(entry.size() - kHashDigits), seal = entry.last(kHashDigits);
  return std::memcmp(seal_of(key, artifact).data(), seal.data(), kHashDigits) == 0;
}

/// Only what is this user's and no other can write: it is run.
bool is_own(const struct stat& status) { return status.st_uid == ::geteuid() && !(status.st_mode & 022); }

struct Entry {
  fs::path path;
  fs::file_time_type used;
  uint64_t bytes;
};

std::vector<Entry> entries_of(const fs::path& folder) {
  std::vector<Entry> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    const Entry entry{at->path(), at->last_write_time(gone), at->file_size(gone)};
    if (!gone && is_entry(entry.path.filename().string())) entries.push_back(entry);
  }
  return entries;
}

ArtifactCache::Contents sum_of(const std::vector<Entry>& entries) {
  ArtifactCache::Contents sum{entries.size(), 0};
  for (const Entry& entry : entries) sum.bytes += entry.bytes;
  return sum;
}

}  // namespace

ArtifactCache::ArtifactCache() : folder_(folder_of_user()) {}

FileDescriptor ArtifactCache::open_folder(Status& status) const {
  FileDescriptor folder(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat link{}, target{};
  struct statvfs system{};
  if (!folder.valid() || ::lstat(folder_.c_str(), &link) != 0 || ::fstat(folder.get(), &target) != 0) {
    status = {fmt::format("cannot use the cache `{}`: {}", folder_.string(), std::strerror(errno))};
  } else if (link.st_uid != ::geteuid() || !is_own(target)) {
    status = {fmt::format("the cache `{}` can be written by other users", folder_.string())};
  } else if (::fstatvfs(folder.get(), &system) == 0 && system.f_flag & ST_NOEXEC) {
    status = {fmt::format("nothing in the cache `{}` may be run: its file system is mounted noexec", folder_.string())};
  }
  return status.ok() ? std::move(folder) : FileDescriptor();
}

Status ArtifactCache::usable() const {
  std::error_code ignored;
  fs::create_directories(folder_.parent_path(), ignored);
  ::mkdir(folder_.c_str(), 0700);
  Status status;
  open_folder(status);
  if (status.ok() && ::access(folder_.c_str(), W_OK) != 0)
    status = {fmt::format("the cache `{}` cannot be written: {}", folder_.string(), std::strerror(errno))};
  return status;
}

FileDescriptor ArtifactCache::find(const std::string& key) const {
  Status status;
  const FileDescriptor folder = open_folder(status);
  if (!folder.valid()) return {};
  FileDescriptor file(::openat(folder.get(), file_of(key).c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat about{};
  if (!file.valid() || ::fstat(file.get(), &about) != 0 || !S_ISREG(about.st_mode) || !is_own(about)) return {};
  try {
    if (!is_sealed(key, map_file(fmt::format("/proc/self/fd/{}", file.get())).bytes)) return {};
  } catch (const CompileError&) { return {}; }
  ::futimens(file.get(), nullptr);
  return file;
}

Status ArtifactCache::keep(const std::string& key, const FileDescriptor& artifact) const {
  Status status = usable();
  if (!status.ok()) return status;
  OutputFile file = OutputFile::create((folder_ / file_of(key)).string(), true, status);
  if (!status.ok()) return status;
  ::fchmod(file.descriptor(), 0700);
  try {
    const MappedFile bytes = map_file(fmt::format("/proc/self/fd/{}", artifact.get()));
    status = file.write(bytes.bytes);
    if (status.ok()) status = file.write(as_bytes(seal_of(key, bytes.bytes)));
  } catch (const CompileError& e) { status = {e.what()}; }
  if (status.ok()) status = file.commit();
  drop_oldest();
  return status;
}

void ArtifactCache::drop_oldest() const {
  std::vector<Entry> entries = entries_of(folder_);
  uint64_t sum = sum_of(entries).bytes;
  const uint64_t most = limit();
  std::ranges::sort(entries, {}, &Entry::used);
  std::error_code ignored;
  for (size_t i = 0; i < entries.size() && sum > most; ++i) {
    fs::remove(entries[i].path, ignored);
    sum -= entries[i].bytes;
  }
}

ArtifactCache::Contents ArtifactCache::contents() const { return sum_of(entries_of(folder_)); }

ArtifactCache::Contents ArtifactCache::clean() const {
  Contents gone;
  for (const Entry& entry : entries_of(folder_)) {
    std::error_code error;
    if (!fs::remove(entry.path, error) || error) continue;
    ++gone.artifacts;
    gone.bytes += entry.bytes;
  }
  return gone;
}

uint64_t ArtifactCache::limit() const {
  uint64_t bytes = 0;
  return std::ifstream(folder_ / kLimitFile) >> bytes ? bytes : kDefaultLimit;
}

Status ArtifactCache::set_limit(uint64_t bytes) const {
  Status status = usable();
  if (!status.ok()) return status;
  status = write_file((folder_ / kLimitFile).string(), {as_bytes(fmt::format("{}\n", bytes))});
  drop_oldest();
  return status;
}

}  // namespace cameo
