// See artifact.h.
#include "cli/artifact.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "cli/artifact_cache.h"
#include "cli/artifact_key.h"

namespace cameo {
namespace fs = std::filesystem;
namespace {

/// What execv takes.
class Arguments {
 public:
  Arguments(const std::string& title, const std::string& verb, const std::vector<std::string>& arguments)
      : words_{title, verb} {
    words_.insert(words_.end(), arguments.begin(), arguments.end());
    for (std::string& word : words_) pointers_.push_back(word.data());
    pointers_.push_back(nullptr);
  }
  char** data() { return pointers_.data(); }

 private:
  std::vector<std::string> words_;
  std::vector<char*> pointers_;
};

}  // namespace

bool is_artifact(const fs::path& file) {
  char magic[4] = {};
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return false;
  std::ifstream(file, std::ios::binary).read(magic, sizeof magic);
  return std::memcmp(magic, "\177ELF", sizeof magic) == 0;
}

void become_artifact(const fs::path& file, const std::string& verb, const std::vector<std::string>& arguments) {
  std::string path = file.string();
  if (path.find('/') == std::string::npos) path = "./" + path;
  ::execv(path.c_str(), Arguments(path, verb, arguments).data());
  const std::string why = std::strerror(errno);
  throw Failure(kBadData, fmt::format("cannot start `{}`: {}", printable(path), why),
                errno == EACCES ? fmt::format("chmod +x {}", shell_word(path)) : "");
}

void become_artifact(const FileDescriptor& file, const std::string& title, const std::string& verb,
                     const std::vector<std::string>& arguments) {
  // whoever has just put it into the cache may hold it open for writing for a moment longer
  constexpr int kMostTries = 5'000;
  for (int tries = 0; tries < kMostTries; ++tries) {
    ::fexecve(file.get(), Arguments(title, verb, arguments).data(), environ);
    if (errno != ETXTBSY) break;
    ::usleep(1'000);
  }
  throw Failure(kToolchain, fmt::format("cannot start what was built of the model: {}", std::strerror(errno)));
}

FileDescriptor cached_artifact(const Model& model, const CompileOptions& options, Console& console,
                               Diagnostics& diagnostics) {
  const ArtifactCache cache;
  const std::string key = artifact_key(model, options);
  if (FileDescriptor found = cache.find(key); found.valid()) return found;
  Planned planned = plan_model(model, options, console, diagnostics);
  if (diagnostics.has_errors()) return {};
  planned.module.name = options.name;  // what the model's file is called is no part of the key
  FileDescriptor artifact = build_in_memory(planned.module, options, console);
  if (!std::ranges::all_of(model.files, is_unchanged)) {
    console.note("note: the model was written to while it was read; what was built of it is not kept");
    return artifact;
  }
  const Status kept = cache.keep(key, artifact);
  if (!kept.ok())
    console.note(fmt::format("note: what was built is not kept: {} (XDG_CACHE_HOME=DIR says where it may lie)",
                             printable(kept.message)));
  FileDescriptor entry = cache.find(key);
  return entry.valid() ? std::move(entry) : std::move(artifact);
}

}  // namespace cameo
