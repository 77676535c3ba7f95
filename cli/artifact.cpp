// See artifact.h. A cache entry is CACHE/KEY/NAME.so, the key made of all that decides its bytes: this very cameo, the
// model's bytes, its constants (which external data holds), and the flags. It appears whole or not at all; what was
// used longest ago goes when there is too much.
#include "cli/artifact.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "codegen/build/content_hash.h"

namespace cameo {
namespace fs = std::filesystem;
namespace {

std::string hash_of_file(const fs::path& file) { return content_hash(map_file(file).bytes); }

std::string flags_text(const CompileOptions& o) {
  std::string s = o.name + "|";
  for (const auto& [name, n] : o.import.dims) s += fmt::format("dim {}={}|", name, n);
  for (const auto& [name, dims] : o.import.shapes) s += fmt::format("shape {}={}|", name, fmt::join(dims, "x"));
  for (const auto& [name, value] : o.import.constants) s += fmt::format("const {}={}|", name, value);
  for (const std::string& name : o.import.outputs) s += fmt::format("output {}|", name);
  for (const std::string& node : o.on_host) s += fmt::format("host {}|", node);
  for (const std::string& pass : o.skip) s += fmt::format("skip {}|", pass);
  s += fmt::format("rewrites {}|mode {}|", o.rewrite_limit, o.reduce_overhead);
  for (const Target& t : o.targets)
    s += fmt::format("target {} {} {} {}|", t.name, t.cpu, t.vector_bytes, fmt::join(t.architectures, "+"));
  return s;
}

std::string key_of(const Model& model, const CompileOptions& options) {
  std::string all = hash_of_file("/proc/self/exe") + hash_of_file(options.model) + flags_text(options);
  for (const Value& v : model.graph.values())
    if (v.constant && v.constant->dtype() != DType::str) all += content_hash(v.constant->bytes());
  return content_hash(std::as_bytes(std::span(all.data(), all.size())));
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// Only a folder of this user's, that no other can write: what lies there is run.
void require_own(const fs::path& folder) {
  struct stat status;
  if (::stat(folder.c_str(), &status) != 0)
    throw Failure(kUsage, fmt::format("cannot use the cache `{}`: {}", folder.string(), std::strerror(errno)),
                  "XDG_CACHE_HOME=DIR says where it may lie");
  if (status.st_uid == ::geteuid() && !(status.st_mode & 022)) return;
  throw Failure(kUsage, fmt::format("the cache `{}` can be written by other users", folder.string()),
                "XDG_CACHE_HOME=DIR says where it may lie");
}

fs::path make_entry(const std::string& key) {
  const fs::path root = cache_folder(), entry = root / key;
  std::error_code error;
  fs::create_directories(root, error);
  if (!error) fs::permissions(root, fs::perms::owner_all, error);
  fs::create_directory(entry, error);
  require_own(root);
  require_own(entry);
  return entry;
}

/// Drops what was used longest ago, once a build has added to it. Entries that run keep running: their files stay
/// mapped.
void bound_cache(const fs::path& root) {
  constexpr uint64_t kMostBytes = uint64_t{8} << 30;
  struct Entry {
    fs::file_time_type used;
    fs::path folder;
    uint64_t bytes;
  };
  std::vector<Entry> entries;
  uint64_t sum = 0;
  std::error_code ignored;
  for (const auto& folder : fs::directory_iterator(root, ignored)) {
    Entry e{folder.last_write_time(ignored), folder.path(), 0};
    for (const auto& file : fs::directory_iterator(folder, ignored)) e.bytes += file.file_size(ignored);
    sum += e.bytes;
    entries.push_back(std::move(e));
  }
  std::ranges::sort(entries, {}, &Entry::used);
  for (size_t i = 0; i + 1 < entries.size() && sum > kMostBytes; ++i) {
    fs::remove_all(entries[i].folder, ignored);
    sum -= entries[i].bytes;
  }
}

}  // namespace

fs::path cache_folder() {
  if (const std::string home = variable("XDG_CACHE_HOME"); home.starts_with('/')) return fs::path(home) / "cameo";
  if (const std::string home = variable("HOME"); home.starts_with('/')) return fs::path(home) / ".cache" / "cameo";
  return fs::temp_directory_path() / fmt::format("cameo-{}", ::geteuid());
}

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
  std::vector<std::string> words{path, verb};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  ::execv(path.c_str(), argv.data());
  const std::string why = std::strerror(errno);
  throw Failure(kBadData, fmt::format("cannot start `{}`: {}", printable(path), why),
                errno == EACCES ? fmt::format("chmod +x {}", shell_word(path)) : "");
}

fs::path cached_artifact(const Model& model, CompileOptions options, Console& console, Diagnostics& diagnostics) {
  if (options.name.empty()) options.name = identifier_of(options.called);
  const fs::path entry = make_entry(key_of(model, options));
  options.output = entry / (options.name + ".so");
  options.kind = OutputKind::SharedLibrary;
  options.stop = Stop::Artifact;
  std::error_code ignored;
  fs::last_write_time(entry, fs::file_time_type::clock::now(), ignored);
  if (fs::exists(options.output)) return options.output;
  Planned planned = plan_model(model, options, console, diagnostics);
  if (diagnostics.has_errors()) return {};
  write_module(planned.module, {}, options, console);
  bound_cache(cache_folder());
  return options.output;
}

}  // namespace cameo
