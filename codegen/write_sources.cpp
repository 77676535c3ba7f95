// See write_sources.h. Weights and golden cases are files of bytes that the assembler includes; the runtime is what
// cameo carries, file by file.
#include "codegen/write_sources.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "codegen/build/embedded_files.h"
#include "codegen/build/files.h"
#include "codegen/pool_pieces.h"
#include "codegen/print_goldens.h"
#include "codegen/print_program.h"
#include "codegen/source_makefile.h"
#include "frontend/ir/diagnostic.h"

namespace cameo {
namespace fs = std::filesystem;
namespace {

constexpr const char* kMark = ".cameo";  // a folder with this file is cameo's to replace

[[noreturn]] void fail(const std::string& message, const std::string& help = {}) {
  throw CompileError(Code::E0602, message, help);
}
void require(const Status& status) {
  if (!status.ok()) fail(status.message);
}

class Folder {
 public:
  Folder(fs::path final_path) : final_(without_slash(std::move(final_path))) {
    std::error_code error;
    if (fs::exists(final_, error)) require_ours();
    scratch_ = final_.parent_path() / fmt::format(".{}.cameo-{}", final_.filename().string(), ::getpid());
    if (!fs::create_directory(scratch_, error))
      fail(fmt::format("cannot write `{}`: {}", printable(final_.string()),
                       error ? error.message() : "it is being written"));
  }
  ~Folder() {
    std::error_code ignored;
    if (!scratch_.empty()) fs::remove_all(scratch_, ignored);
  }
  Folder(const Folder&) = delete;

  void write(const fs::path& name, std::string_view text) { write_pieces(name, {as_bytes(text)}); }
  void write_pieces(const fs::path& name, const Pieces& pieces) {
    std::error_code ignored;
    Status status;
    const fs::path path = scratch_ / name;
    fs::create_directories(path.parent_path(), ignored);
    OutputFile file = OutputFile::create(path.string(), false, status);
    for (const auto& piece : pieces)
      if (status.ok()) status = file.write(piece);
    require(status);
    require(file.commit());
  }
  void commit() {
    std::error_code error;
    fs::path old;
    if (fs::exists(final_, error)) {
      old = scratch_.string() + "-old";
      fs::rename(final_, old, error);
    }
    if (!error) fs::rename(scratch_, final_, error);
    if (error) fail(fmt::format("cannot write `{}`: {}", printable(final_.string()), error.message()));
    scratch_.clear();
    if (!old.empty()) fs::remove_all(old, error);
  }

 private:
  static fs::path without_slash(fs::path p) {
    p = fs::absolute(p).lexically_normal();
    return p.has_filename() ? p : p.parent_path();
  }
  void require_ours() const {
    std::error_code error;
    if (!fs::is_directory(final_, error))
      fail(fmt::format("cannot write the folder `{}`: a file has that name", printable(final_.string())));
    if (fs::is_empty(final_, error) || fs::exists(final_ / kMark, error)) return;
    fail(fmt::format("`{}` is not empty and was not written by cameo", printable(final_.string())),
         "name a new folder, or empty it");
  }

  fs::path final_, scratch_;
};

std::string data_assembly(const Module& m, const std::vector<GoldenCase>& goldens, bool with_weights) {
  std::string s = "# The bytes that no compiler reads: weights, golden cases.\n";
  auto add = [&](std::string_view symbol, std::string_view section, std::string_view file) {
    s += fmt::format(
        "\t.section {1},\"a\",@progbits\n\t.balign 64\n\t.globl {0}\n\t.hidden {0}\n\t.type "
        "{0},@object\n{0}:\n\t.incbin \"{2}\"\n\t.size {0}, . - {0}\n",
        symbol, section, file);
  };
  if (with_weights) add("cameo_weights", ".lrodata.cameo_weights", "weights.bin");
  if (!goldens.empty()) add(kGoldenSymbol, ".rodata.cameo_goldens", "goldens.bin");
  for (const Plan& p : m.plans)
    for (const std::string& a : p.target.architectures)
      add(device_symbol(p, a), ".rodata." + device_symbol(p, a), device_symbol(p, a) + ".bin");
  return s + "\t.section .note.GNU-stack,\"\",@progbits\n";
}

std::string_view embedded(std::string_view path) {
  for (const EmbeddedFile& f : embedded_files())
    if (f.path == path) return f.contents;
  return {};
}

}  // namespace

std::string header_of(const Module& m) {
  const std::string abi(embedded("runtime/cameo.h"));
  CAMEO_CHECK(!abi.empty(), "the ABI's header inside cameo");
  std::string guard = "CAMEO_MODEL_" + m.name + "_H";
  std::string s = fmt::format(
      "/* {}: a compiled ONNX model. {}_api(CAMEO_ABI_MAJOR) gives its functions, which the ABI below describes.\n",
      comment_safe(m.name), m.name);
  auto list = [&](std::string_view what, const std::vector<Interface::Io>& ios) {
    for (size_t i = 0; i < ios.size(); ++i)
      s += fmt::format(" * {} {}: {} {}\n", what, i, comment_safe(ios[i].name), to_string(ios[i].type));
  };
  list("input", m.io.inputs);
  list("output", m.io.outputs);
  s += " */\n" + abi;
  s += fmt::format(
      "\n#ifndef {0}\n#define {0}\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\nconst cameo_api* {1}_api(uint32_t "
      "abi_major);\n#ifdef __cplusplus\n}}\n#endif\n#endif /* {0} */\n",
      guard, m.name);
  return s;
}

void require_folder(const fs::path& folder) { const Folder probe(folder); }

void write_sources(const Module& m, const EmittedModule& text, const std::vector<GoldenCase>& goldens,
                   const fs::path& path, const WeightsFile* weights, const std::function<bool()>& go_on) {
  Folder folder(path);
  auto write = [&](const fs::path& name, std::string_view bytes) {
    if (!go_on()) fail("interrupted");
    folder.write(name, bytes);
  };
  write(kMark, "");
  write("program.cpp", text.program.text);
  for (size_t p = 0; p < m.plans.size(); ++p) {
    std::string all = "// Every kernel as one module.\n";
    for (const SourceFile& f : text.kernels[p]) write(f.path, f.text), all += fmt::format("#include \"{}\"\n", f.path);
    if (m.plans[p].target.is_gpu()) write(device_source(m.plans[p]), all);
  }
  for (const SourceFile& f : text.host) write(f.path, f.text);
  for (const SourceFile& f : text.custom) write(f.path, f.text);
  for (const EmbeddedFile& f : embedded_under("runtime/")) write(fs::path(f.path), f.contents);
  write(m.name + ".h", header_of(m));
  const bool embeds = m.weights.bytes && !weights;
  write("data.S", data_assembly(m, goldens, embeds));
  write("exports.map", fmt::format("{{ global: cameo_model_api; {}_api; local: *; }};\n", m.name));
  write("Makefile", source_makefile(m, text));
  if (!has_gpu(m))  // make knows nvcc's part alone
    write("CMakeLists.txt", source_cmake(m, text, weights));
  if (embeds) folder.write_pieces("weights.bin", pool_pieces(m));
  if (weights && weights->is_beside()) {
    const std::string header = weights_header(m, *weights);
    Pieces pieces = pool_pieces(m);
    pieces.insert(pieces.begin(), as_bytes(header));
    folder.write_pieces(weights->name, pieces);
  }
  if (!goldens.empty()) folder.write_pieces("goldens.bin", golden_pieces(goldens));
  folder.commit();
}

}  // namespace cameo
