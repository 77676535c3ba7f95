// The artifacts that `run`, `test`, `bench` and `profile` built of models, one file each, named by its key. A file
// appears whole or not at all and ends in a seal over its key and its bytes, so that what was cut off, changed or moved
// is no entry. Entries are handed out open: what is dropped or replaced meanwhile goes on running. When there is more
// than the limit allows, what was used longest ago goes.
#pragma once
#include <filesystem>
#include <string>

#include "codegen/build/files.h"

namespace cameo {

class ArtifactCache {
 public:
  static constexpr uint64_t kDefaultLimit = 8'000'000'000;

  /// This user's: below XDG_CACHE_HOME, else ~/.cache, else in the folder for temporary files.
  ArtifactCache();

  /// The artifact, marked as used now; none where there is none.
  FileDescriptor find(const std::string& key) const;
  Status keep(const std::string& key, const FileDescriptor& artifact) const;

  struct Contents {
    size_t artifacts = 0;
    uint64_t bytes = 0;
  };
  Contents contents() const;
  /// Drops everything; what was there.
  Contents clean() const;
  uint64_t limit() const;
  Status set_limit(uint64_t bytes) const;
  /// Makes the folder, if it is not there, and says why it cannot be used.
  Status usable() const;
  const std::filesystem::path& folder() const { return folder_; }

 private:
  FileDescriptor open_folder(Status& status) const;
  void drop_oldest() const;

  std::filesystem::path folder_;
};

}  // namespace cameo
