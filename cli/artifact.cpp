// See artifact.h.
#include "cli/artifact.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <string_view>

#include "cli/artifact_cache.h"
#include "cli/artifact_key.h"
#include "codegen/print_module.h"

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

/// Whether the text stands anywhere in what is left of a file.
bool holds(std::istream& in, std::string_view text) {
  const std::boyer_moore_horspool_searcher searcher(text.begin(), text.end());
  std::string window(1 << 20, '\0');
  for (size_t kept = 0; in;) {
    in.read(window.data() + kept, static_cast<std::streamsize>(window.size() - kept));
    const std::string_view read(window.data(), kept + static_cast<size_t>(in.gcount()));
    if (std::search(read.begin(), read.end(), searcher) != read.end()) return true;
    kept = std::min(read.size(), text.size() - 1);  // it may begin in this window and end in the next one
    std::memmove(window.data(), read.data() + read.size() - kept, kept);
  }
  return false;
}

}  // namespace

bool is_artifact(const fs::path& file) {
  char magic[4] = {};
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return false;
  std::ifstream in(file, std::ios::binary);
  in.read(magic, sizeof magic);
  if (std::memcmp(magic, "\177ELF", sizeof magic) != 0) return false;
  if (!holds(in, kManifestSchema))
    throw Failure(kUnsupported,
                  fmt::format("`{}` is a program or a library that cameo has not built", printable(file.string())));
  return true;
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
