// Every file of text is one job for the workers; the link is one more.
#include "codegen/compile_module.h"

#include <fmt/format.h>

#include <chrono>

#include "codegen/build/artifact.h"
#include "codegen/build/worker.h"
#include "frontend/diagnostic.h"

namespace cameo {
namespace {

CodeTarget code_target(const Target& t) {
  CodeTarget c;
  c.cpu = t.cpu;
  c.vector_bits = t.vector_bytes * 8;
  return c;
}

class Stopwatch {
 public:
  Stopwatch(const BuildOptions& o, std::string stage) : options_(o), stage_(std::move(stage)), start_(std::chrono::steady_clock::now()) {}
  ~Stopwatch() {
    if (options_.seconds)
      (*options_.seconds)[stage_] += std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  const BuildOptions& options_;
  std::string stage_;
  std::chrono::steady_clock::time_point start_;
};

[[noreturn]] void fail(Code code, const std::string& message) { throw CompileError(code, message); }

std::vector<LinkInput> compile_sources(const Module& m, const EmittedModule& text, WorkerPool& pool, const BuildOptions& options) {
  Stopwatch watch(options, "compile");
  std::vector<Job> jobs;
  std::vector<std::string> names;
  auto add = [&](const SourceFile& f, const Target& t, bool tables) {
    CompileJob job;
    job.name = f.path;
    job.source = f.text;
    job.target = code_target(t);
    if (tables) job.optimize = 0;
    names.push_back(f.path);
    jobs.push_back(std::move(job));
  };
  for (size_t p = 0; p < m.plans.size(); ++p)
    for (const SourceFile& f : text.kernels[p]) add(f, m.plans[p].target, false);
  add(text.program, *find_target("x86-64-v2"), true);
  auto progress = [&](size_t done, size_t total) { return !options.progress || options.progress("compile", done, total); };
  std::vector<Outcome> outcomes = pool.run(jobs, progress);
  std::vector<LinkInput> objects;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i].ok) fail(Code::E0601, fmt::format("compiling {} failed: {}", names[i], outcomes[i].message));
    objects.push_back({names[i] + ".o", std::move(outcomes[i].bytes), {}});
  }
  return objects;
}

/// The pieces of the weight section, gaps filled so that each tensor starts where the plan says.
Pieces weight_pieces(const WeightPool& weights) {
  static constexpr std::byte kZeros[64]{};
  Pieces pieces;
  int64_t at = 0;
  for (const WeightPool::Entry& e : weights.entries) {
    if (e.offset > at) pieces.push_back(std::span(kZeros).first(static_cast<size_t>(e.offset - at)));
    pieces.push_back(e.tensor->bytes());
    at = e.offset + static_cast<int64_t>(e.tensor->bytes().size());
  }
  if (weights.bytes > at) pieces.push_back(std::span(kZeros).first(static_cast<size_t>(weights.bytes - at)));
  return pieces;
}

LinkJob link_job(OutputKind kind, std::vector<LinkInput> objects, const Module& m, const std::filesystem::path& path, bool program) {
  switch (kind) {
    case OutputKind::SharedLibrary: return link_shared(std::move(objects), path.filename().string(), program ? "_cameo_start" : "", {"cameo_model_api", m.name + "_api"});
    case OutputKind::Program: return link_program(std::move(objects), "_cameo_start");
    case OutputKind::Object: return relocatable(std::move(objects), {m.name + "_api"});
    default: return archive(std::move(objects));
  }
}

}  // namespace

void compile_module(const Module& m, const std::vector<GoldenCase>& goldens, OutputKind kind,
                    const std::filesystem::path& path, const BuildOptions& options) {
  size_t kernels = m.plans[0].kernels.size();
  int files = static_cast<int>(std::clamp<size_t>(kernels / 6, 1, 16));
  EmittedModule text = [&] {
    Stopwatch watch(options, "print");
    return print_module(m, files, goldens);
  }();
  WorkerPool pool(options.jobs);
  std::vector<LinkInput> objects = compile_sources(m, text, pool, options);
  bool program = options.with_program && (kind == OutputKind::SharedLibrary || kind == OutputKind::Program);
  for (LinkInput& o : runtime_objects("x86_64-unknown-linux-gnu", program)) objects.push_back(std::move(o));
  Stopwatch watch(options, "link");
  Artifact artifact{link_job(kind, std::move(objects), m, path, program), m.weights.bytes ? "cameo_weights" : "", weight_pieces(m.weights), path.string()};
  Status status = write_artifact(pool, std::move(artifact), [&](size_t done, size_t total) { return !options.progress || options.progress("link", done, total); });
  if (!status.ok()) fail(Code::E0602, status.message);
}

}  // namespace cameo
