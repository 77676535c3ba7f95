// See precision.h.
#include "cli/precision.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>

#include "cli/artifact.h"
#include "cli/interrupt.h"
#include "cli/loaded_model.h"
#include "cli/outputs.h"
#include "cli/sizes.h"
#include "codegen/goldens.h"
#include "frontend/reference/compare.h"
#include "optimizer/work.h"

namespace cameo {
namespace {

constexpr double kOfInterpreter = 50e6;  // operations that take it a second or so

/// The largest error of the floating outputs, of their largest magnitudes; negative: there are none.
double largest_share(const std::vector<Tensor>& got, const std::vector<Tensor>& want) {
  double share = -1;
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i].is_list() || !is_float(got[i].dtype())) continue;
    double error = 0;
    for (int64_t k = 0; k < got[i].size(); ++k) {
      const double a = got[i].get(k), b = want[i].get(k);
      const bool same = a == b || (std::isnan(a) && std::isnan(b));
      if (!same) error = std::max(error, std::isfinite(a - b) ? std::abs(a - b) : HUGE_VAL);
    }
    share = std::max(share, error == 0 ? 0 : error / magnitude_of(want[i]));
  }
  return share;
}

/// What a case needs to run.
struct Trial {
  Graph graph;
  Interface io;
  std::vector<Tensor> inputs;
};
Trial trial_of(const Model& model) {
  const DimBinding sizes = sizes_of_case(model.graph, 2);
  Trial t{at_sizes(model.graph, sizes, "random inputs"), {}, {}};
  t.io = interface_of(t.graph);
  t.inputs = random_inputs(t.io, 0);
  return t;
}

FileDescriptor artifact_of(const Model& model, CompileOptions options, DType precision, Console& console) {
  options.precision = precision;
  if (precision == DType::f32) {
    options.keep_fp32.clear();
    for (Target& t : options.targets) t.lock = nullptr;  // it names the kernels of the other build
  }
  options.output.clear();
  options.weights.clear();
  options.golden.clear();
  options.kind = OutputKind::SharedLibrary;
  options.with_program = true;
  Diagnostics diagnostics;
  FileDescriptor built = cached_artifact(model, options, console, diagnostics);
  console.end();
  return built;
}

/// What was built just now, if it can be loaded.
FileDescriptor narrow_artifact(const Model& model, const CompileOptions& options, Console& console) {
  if (options.kind == OutputKind::SharedLibrary && !is_no_file(options))
    return FileDescriptor(::open(std::filesystem::absolute(options.output).c_str(), O_RDONLY | O_CLOEXEC));
  return artifact_of(model, options, options.precision, console);
}

/// In a child, so that a fault there costs the line and not the build. Negative: it gave no answer.
double share_of_artifacts(const Trial& t, const FileDescriptor& narrow, const FileDescriptor& wide) {
  int ends[2];
  if (::pipe(ends)) return -1;
  std::fflush(nullptr);
  const pid_t child = fork_to_help();
  if (child == 0) {
    double share = -1;
    try {
      const auto run = [&](const FileDescriptor& file) {
        return LoadedModel(fmt::format("/proc/self/fd/{}", file.get()), 0).run(t.inputs, t.io);
      };
      share = largest_share(run(narrow), run(wide));
    } catch (const std::exception&) {}
    ::_exit(::write(ends[1], &share, sizeof share) == sizeof share ? 0 : 1);
  }
  ::close(ends[1]);
  double share = -1;
  if (child < 0 || ::read(ends[0], &share, sizeof share) != sizeof share) share = -1;
  ::close(ends[0]);
  while (child > 0 && ::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {}
  return share;
}

}  // namespace

PrecisionError measure_precision(const Model& model, const CompileOptions& options, Console& console) {
  if (options.made_up_seed) return {-1, "the weights are made up"};
  try {
    console.begin("precision");
    const Trial t = trial_of(model);
    PrecisionError e;
    if (estimate_operations(t.graph) <= kOfInterpreter) {
      e = {largest_share(interpret(*narrowed(t.graph, options), t.inputs).rounded,
                         interpret(t.graph, t.inputs).unrounded),
           "by the interpreter, from exact values"};
    } else {
      const FileDescriptor narrow = narrow_artifact(model, options, console);
      const FileDescriptor wide = artifact_of(model, options, DType::f32, console);
      e = {share_of_artifacts(t, narrow, wide), "from the build of f32"};
    }
    console.end();
    if (e.share < 0) e.how = "this machine cannot run it, or no output is floating";
    return e;
  } catch (const std::exception& e) {
    console.end();
    return {-1, e.what()};
  }
}

}  // namespace cameo
