// Every file of text is one job for the workers; the link is one more.
#include "codegen/compile_module.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/build/artifact.h"
#include "codegen/build/files.h"
#include "codegen/build/worker.h"
#include "codegen/code_target.h"
#include "codegen/device_code.h"
#include "codegen/model_header.h"
#include "codegen/paths.h"
#include "codegen/pool_pieces.h"
#include "codegen/print_custom.h"
#include "codegen/print_goldens.h"
#include "codegen/write_sources.h"
#include "frontend/ir/diagnostic.h"

namespace cameo {
namespace {

bool go_on(const BuildOptions& o, std::string_view stage, size_t done, size_t total) {
  return !o.progress || o.progress(stage, done, total);
}

Progress progress_of(const BuildOptions& o, std::string_view stage) {
  return [&o, stage](size_t done, size_t total) { return go_on(o, stage, done, total); };
}

[[noreturn]] void fail(Code code, const std::string& message) { throw CompileError(code, message); }

std::vector<LinkInput> compile_sources(const Module& m, const EmittedModule& text,
                                       const std::vector<DeviceImage>& device, WorkerPool& pool,
                                       const BuildOptions& options) {
  std::vector<Job> jobs;
  std::vector<std::string> names;
  auto add = [&](const SourceFile& f, const Target& t, bool tables) {
    CompileJob job;
    job.name = f.path;
    job.source = f.text;
    job.target = code_target(t);
    if (tables) job.optimize = 0, job.headers = {device_header(device)};
    job.vectorize = is_custom_copy(f);  // kernels are written in vectors
    if (job.vectorize) job.headers = text.custom;
    names.push_back(f.path);
    jobs.push_back(std::move(job));
  };
  // the narrowest first: of an inline function that several objects hold, the linker keeps the first one's
  add(text.program, *find_target("x86-64-v2"), true);
  for (const SourceFile& f : text.host) add(f, host_target(), false);
  for (size_t p = m.plans.size(); p-- > 0;)
    if (!m.plans[p].target.is_gpu())
      for (const SourceFile& f : text.kernels[p]) add(f, m.plans[p].target, false);
  std::vector<Outcome> outcomes = pool.run(jobs, progress_of(options, "compile"));
  std::vector<LinkInput> objects;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i].ok) fail(Code::E0601, fmt::format("compiling {} failed: {}", names[i], outcomes[i].message));
    objects.push_back({names[i] + ".o", std::move(outcomes[i].bytes), {}});
  }
  return objects;
}

LinkInput golden_object(const std::vector<GoldenCase>& goldens) {
  ElfObject object;
  object.machine = Machine::kX86_64;
  object.sections.push_back(section_of(".rodata.cameo_goldens", golden_pieces(goldens)));
  object.symbols.push_back({.name = std::string(kGoldenSymbol), .section = 0, .size = object.sections[0].size});
  return {"goldens.o", elf_object_bytes(object), {}};
}

LinkJob link_job(OutputKind kind, bool program, std::vector<LinkInput> objects, const Module& m,
                 const std::filesystem::path& path) {
  switch (kind) {
    case OutputKind::SharedLibrary:
      return link_shared(std::move(objects), path.filename().string(), program ? "_cameo_start" : "",
                         {"cameo_model_api", m.name + "_api"});
    case OutputKind::Program: return link_program(std::move(objects), "_cameo_start");
    case OutputKind::Object: return relocatable(std::move(objects), {m.name + "_api"});
    default: return archive(std::move(objects), {m.name + "_api"});
  }
}

/// As its user includes it.
void write_header(const Module& m, const std::filesystem::path& library) {
  const std::filesystem::path header = header_beside(library, m.name);
  require_header_place(header);
  require_written(write_file(header.string(), {as_bytes(model_header(m))}));
}

}  // namespace

namespace {
int files_of(const Module& m) { return static_cast<int>(std::clamp<size_t>(m.plans[0].kernels.size() / 12, 1, 16)); }
}  // namespace

std::string ptx_of_module(const Module& m, const BuildOptions& options) {
  WorkerPool pool(options.jobs);
  return print_ptx(m, print_module(m, files_of(m)), pool, progress_of(options, "device"));
}

namespace {

/// Without weights.
Artifact compiled(const Module& m, const EmittedModule& text, const std::vector<GoldenCase>& goldens, OutputKind kind,
                  const std::filesystem::path& path, WorkerPool& pool, const BuildOptions& options) {
  const std::vector<DeviceImage> device = compile_device_code(m, text, pool, progress_of(options, "device"));
  std::vector<LinkInput> objects = compile_sources(m, text, device, pool, options);
  if (!device.empty()) objects.push_back({"device.o", elf_object_bytes(device_object(device)), {}});
  bool program = options.with_program && (kind == OutputKind::SharedLibrary || kind == OutputKind::Program);
  if (!goldens.empty()) objects.push_back(golden_object(goldens));
  for (LinkInput& o : runtime_objects("x86_64-unknown-linux-gnu", program, !device.empty())) {
    const bool shared_only = o.name == "core/shared.o";
    if (!shared_only || kind == OutputKind::SharedLibrary) objects.push_back(std::move(o));
  }
  return {link_job(kind, program, std::move(objects), m, path), "", {}, path.string()};
}

void embed_weights(const Module& m, Artifact& artifact) {
  if (m.weights.bytes) artifact.weights_symbol = "cameo_weights", artifact.weights = pool_pieces(m);
}

std::optional<WeightsFile> file_of(const Module& m, OutputKind kind, const std::filesystem::path& path,
                                   const BuildOptions& options) {
  if (options.weights.empty() || !m.weights.bytes) return std::nullopt;
  return weights_file(m, options.weights, kind == OutputKind::Sources ? path : path.parent_path());
}

}  // namespace

std::optional<WeightsFate> compile_module(const Module& m, const std::vector<GoldenCase>& goldens, OutputKind kind,
                                          const std::filesystem::path& path, const BuildOptions& options) {
  go_on(options, "print", 0, 1);
  const std::optional<WeightsFile> file = file_of(m, kind, path, options);
  const EmittedModule text = print_module(m, files_of(m), goldens, file ? &*file : nullptr);
  std::optional<WeightsOutput> weights;
  if (file && !(kind == OutputKind::Sources && file->is_beside())) weights.emplace(m, *file);
  if (kind == OutputKind::Sources) {
    write_sources(m, text, goldens, path, file ? &*file : nullptr, [&] { return go_on(options, "write", 0, 1); });
  } else {
    WorkerPool pool(options.jobs);
    Artifact artifact = compiled(m, text, goldens, kind, path, pool, options);
    if (!file) embed_weights(m, artifact);
    require_written(write_artifact(pool, std::move(artifact), progress_of(options, "link")));
  }
  if (kind == OutputKind::Object || kind == OutputKind::Archive) write_header(m, path);
  if (weights) return weights->commit();
  return file ? std::optional(WeightsFate::Written) : std::nullopt;
}

FileDescriptor compile_in_memory(const Module& m, const BuildOptions& options) {
  go_on(options, "print", 0, 1);
  const EmittedModule text = print_module(m, files_of(m), {});
  WorkerPool pool(options.jobs);
  ScratchFile file = ScratchFile::in_memory();
  Artifact artifact = compiled(m, text, {}, OutputKind::SharedLibrary, {}, pool, options);
  embed_weights(m, artifact);
  require_written(write_artifact(pool, std::move(artifact), file, progress_of(options, "link")));
  return file.take();
}

}  // namespace cameo
