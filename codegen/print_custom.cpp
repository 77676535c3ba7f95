// See print_custom.h.
#include "codegen/print_custom.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/print_program.h"
#include "optimizer/choose/custom_call.h"

namespace cameo {
namespace {

/// That a kernel of the plan calls, in the order of the kernels.
std::vector<const CustomFile*> custom_files(const Plan& p) {
  std::vector<const CustomFile*> files;
  for (const Kernel& k : p.kernels)
    if (const CustomOperator* c = custom_of(k); c && std::ranges::find(files, c->file.get()) == files.end())
      files.push_back(c->file.get());
  return files;
}

std::string table_name(const CustomFile& file, const Plan& p) {
  return fmt::format("custom_{}_{}", file.name, image_name(p));
}
std::string path_of(const CustomFile& file) { return fmt::format("custom/{}.cpp", file.name); }

}  // namespace

bool is_custom_copy(const SourceFile& file) { return file.path.starts_with("custom_"); }

void print_custom_tables(Writer& w, const Plan& p) {
  for (const CustomFile* file : custom_files(p)) {
    const std::string name = table_name(*file, p);
    w.line(fmt::format("extern \"C\" {} const cameo::op::Table {};", kHidden, name));
    w.line(fmt::format("static const cameo::op::Table& custom_{} = {};", file->name, name));
  }
}

void add_custom_files(const Plan& p, EmittedModule& out) {
  for (const CustomFile* file : custom_files(p)) {
    const std::string name = table_name(*file, p), path = path_of(*file);
    const std::string text = fmt::format("#define CAMEO_OPERATORS_NAME {}\n#include \"{}\"\n", name, path);
    (p.target.is_gpu() ? out.host : out.kernels.back()).push_back({fmt::format("{}.cpp", name), text});
    if (std::ranges::find(out.custom, path, &SourceFile::path) == out.custom.end())
      out.custom.push_back({path, file->text});
  }
}

}  // namespace cameo
