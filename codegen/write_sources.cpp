// See write_sources.h. Weights and golden cases are files of bytes that the assembler includes; the runtime is what
// cameo carries, file by file.
#include "codegen/write_sources.h"

#include <fmt/format.h>

#include "codegen/build/embedded_files.h"
#include "codegen/build/files.h"
#include "codegen/model_header.h"
#include "codegen/paths.h"
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

class Folder {
 public:
  explicit Folder(const fs::path& path) : final_(plain_path(path)) {
    std::error_code error;
    if (is_within(fs::current_path(), final_))
      fail(fmt::format("`{}` is the folder you are in, or one around it, which sources would replace",
                       printable(path.string())),
           "-o sources/");
    if (fs::exists(final_, error)) require_ours();
    scratch_ = final_.parent_path() / hidden_name(final_.filename().string());
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
    const fs::path path = scratch_ / name;
    if (fs::exists(path, ignored))
      fail(fmt::format("cannot write `{}`: a file of the sources has that name", printable((final_ / name).string())));
    fs::create_directories(path.parent_path(), ignored);
    require_written(write_file(path.string(), pieces));
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
  void require_ours() const {
    std::error_code error;
    if (!fs::is_directory(final_, error))
      fail(fmt::format("cannot write the folder `{}`: a file has that name", printable(final_.string())));
    if (fs::is_empty(final_, error) || fs::exists(final_ / kMark, error)) return;
    fail(fmt::format("`{}` is not empty and was not written by cameo", printable(final_.string())),
         "name a new folder, or empty it");
  }

  const fs::path final_;  // what a link leads to is replaced, not the link
  fs::path scratch_;
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

}  // namespace

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
  write(m.name + ".h", model_header(m));
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
