// See custom_library.h. The library is linked into a file without a name and stays open as long as the process: graphs
// point to what is in it.
#include "codegen/custom_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "codegen/build/files.h"
#include "codegen/build/worker.h"
#include "frontend/import/import_onnx.h"

namespace cameo {
namespace {

constexpr const char* kTable = "cameo_operators";
constexpr size_t kMostBytes = 4 << 20;

/// An identifier that no other file of the build has.
std::string name_of(const std::filesystem::path& path, const std::vector<const Operator*>& others) {
  constexpr size_t kLongest = 60;
  std::string name = path.stem().string().substr(0, kLongest);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  std::set<std::string> taken;
  for (const Operator* op : others) taken.insert(as_custom(*op)->file->name);
  for (int n = 2; taken.contains(name); ++n) name = fmt::format("{}_{}", name, n);
  return name;
}

std::shared_ptr<const CustomFile> read_file(const std::filesystem::path& path,
                                            const std::vector<const Operator*>& others) {
  const MappedFile mapped = map_file(path);
  CustomFile file{
      path.string(), {reinterpret_cast<const char*>(mapped.bytes.data()), mapped.bytes.size()}, name_of(path, others)};
  if (file.text.size() > kMostBytes || file.text.find('\0') != file.text.npos)
    throw CompileError(Code::E0701, fmt::format("`{}` is no C++ text", printable(file.path)));
  return std::make_shared<const CustomFile>(std::move(file));
}

/// The compiler's words, with the file as the user named it.
std::string words_of(std::string message, const std::string& inside, const std::string& path) {
  for (size_t at = message.find(inside); at != message.npos; at = message.find(inside, at + path.size()))
    message.replace(at, inside.size(), path);
  while (message.ends_with('\n')) message.pop_back();
  return message;
}

[[noreturn]] void fail_without_table(const CustomFile& file) {
  throw CompileError(Code::E0702, fmt::format("`{}` has no table", printable(file.path)),
                     "its last line is CAMEO_OPERATORS({.name = \"MyOp\", ..})");
}

std::string compiled(const CustomFile& file) {
  CompileJob job;
  job.name = file.name + ".cpp";
  job.source = file.text;
  job.defines = {"CAMEO_OPERATORS_EXPORTED"};
  WorkerPool pool(1);
  const Job compile = job;
  Outcome object = std::move(pool.run(std::span(&compile, 1))[0]);
  if (!object.ok) {
    Diagnostic d{Code::E0701, fmt::format("`{}` does not compile", printable(file.path)), {}, {}, {}, {}};
    d.notes.push_back(words_of(object.message, "/cameo/source/" + job.name, printable(file.path)));
    throw CompileError(d);
  }
  const Job link = link_shared({{file.name + ".o", std::move(object.bytes), {}}}, file.name + ".so", "", {kTable});
  Outcome library = std::move(pool.run(std::span(&link, 1))[0]);
  if (library.ok) return std::move(library.bytes);
  if (library.message.find(fmt::format("to symbol '{}' failed", kTable)) != library.message.npos)
    fail_without_table(file);
  throw CompileError(Code::E0701, fmt::format("`{}` does not link: {}", printable(file.path), library.message),
                     "it can call nothing but what it has itself, and what <cameo/op.h> has");
}

/// Null where it has none.
const op::Table* loaded_table(const std::string& library) {
  static std::vector<ScratchFile> open;  // the loader takes what has the path of a library for that library
  ScratchFile& file = open.emplace_back(ScratchFile::in_memory());
  const Status status = file.write(as_bytes(library));
  void* const handle = status.ok() ? ::dlopen(file.path().c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  return handle ? static_cast<const op::Table*>(::dlsym(handle, kTable)) : nullptr;
}

}  // namespace

void load_custom_file(const std::filesystem::path& path, std::vector<const Operator*>& all) {
  const std::shared_ptr<const CustomFile> file = read_file(path, all);
  const op::Table* const table = loaded_table(compiled(*file));
  if (!table) fail_without_table(*file);
  declare_custom(*table, file, all);
}

}  // namespace cameo
