// See outputs.h.
#include "cli/outputs.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "codegen/model_header.h"
#include "codegen/paths.h"
#include "codegen/weights_file.h"
#include "codegen/write_sources.h"

namespace cameo {
namespace fs = std::filesystem;
namespace {

bool writes_anything(const CompileOptions& options) { return options.stop >= Stop::Sources && !options.output.empty(); }
bool has_header_beside(OutputKind kind) { return kind == OutputKind::Object || kind == OutputKind::Archive; }

struct Output {
  std::string_view flag;  // that decides where it is
  fs::path path;
};
std::vector<Output> outputs_of(const CompileOptions& options) {
  std::vector<Output> all{{"-o", options.output}};
  if (!options.weights.empty()) all.push_back({"--weights", options.weights});
  if (has_header_beside(options.kind)) all.push_back({"the header of -o", *header_of_output(options)});
  return all;
}

void require_apart(const std::vector<Output>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i)
    for (size_t k = 0; k < i; ++k)
      if (are_same_file(outputs[i].path, outputs[k].path))
        throw Failure(kUsage, fmt::format("`{}` and `{}` are one file, `{}`", outputs[k].flag, outputs[i].flag,
                                          printable(outputs[i].path.string())));
}

std::string as_input(const fs::path& file) {
  return fmt::format("`{}`, which the build reads", printable(file.string()));
}

/// Where nothing can stand beside the output.
void require_nothing_beside(const CompileOptions& options) {
  const std::string output = printable(options.output.string());
  if (has_header_beside(options.kind))
    throw Failure(kUsage, fmt::format("`-o {}` is no file, and an object has a header beside it", output), "-o x.o");
  if (!options.weights.empty())
    throw Failure(kUsage, fmt::format("`-o {}` is no file, and has no place for weights beside it", output), "-o x.so");
}

void require_creatable(const fs::path& file) {
  Status status;
  OutputFile::create(file.string(), false, status);
  require_written(status);
}

}  // namespace

fs::path without_version(const fs::path& path) {
  const auto is_number = [](const std::string& extension) {
    return extension.size() > 1 && extension.find_first_not_of("0123456789", 1) == extension.npos;
  };
  fs::path library = path;
  while (is_number(library.extension())) library.replace_extension();
  return library.extension() == ".so" ? library : path;
}

fs::path beside_output(const CompileOptions& options, std::string_view ending) {
  fs::path path = options.output.has_filename() ? options.output : options.output.parent_path();
  const bool is_whole = options.kind == OutputKind::Program || options.kind == OutputKind::Sources;
  if (is_whole || without_version(path) != path) return path += ending;  // versions have files of their own
  return path.replace_extension(ending);
}

std::optional<fs::path> header_of_output(const CompileOptions& options) {
  if (options.kind == OutputKind::Sources) return options.output / (name_of(options) + ".h");
  if (has_header_beside(options.kind)) return header_beside(options.output, name_of(options));
  return std::nullopt;
}

bool goes_to_stdout(const CompileOptions& options) {
  struct stat output, standard;
  return !options.output.empty() && ::stat(options.output.c_str(), &output) == 0 &&
         ::fstat(STDOUT_FILENO, &standard) == 0 && output.st_dev == standard.st_dev && output.st_ino == standard.st_ino;
}

bool is_no_file(const CompileOptions& options) {
  std::error_code ignored;
  return fs::is_other(fs::status(options.output, ignored)) || goes_to_stdout(options);
}

void require_kept(const CompileOptions& options, const fs::path& file, const std::string& what) {
  for (const Output& output : outputs_of(options))
    if (are_same_file(output.path, file))
      throw Failure(kUsage,
                    fmt::format("`{} {}` would overwrite {}", output.flag, printable(output.path.string()), what));
  if (options.kind == OutputKind::Sources && is_within(file, options.output))
    throw Failure(kUsage,
                  fmt::format("`-o {}` would replace the folder that has {}", printable(options.output.string()), what),
                  "-o another_folder/");
}

void require_writable(const CompileOptions& options) {
  if (!writes_anything(options)) return;
  require_kept(options, options.model, "the model");
  for (const fs::path& input : options.inputs) require_kept(options, input, as_input(input));
  require_apart(outputs_of(options));
  if (!options.weights.empty()) require_weights_place(options.weights);
  if (options.kind == OutputKind::Sources) return require_folder(options.output);
  if (is_no_file(options)) require_nothing_beside(options);
  for (const Output& output : outputs_of(options)) require_creatable(output.path);
  if (const auto header = header_of_output(options)) require_header_place(*header);
}

void require_kept(const CompileOptions& options, const std::vector<MappedFile>& files) {
  if (!writes_anything(options)) return;
  for (const MappedFile& file : files) require_kept(options, file.path, as_input(file.path));
}

}  // namespace cameo
