// Graphs through artifacts: optimised, planned, compiled, loaded and run through the C ABI. The compiler runs without
// workers, what it costs to start one is most of a small test; so it is tried in a child (child.h).
#pragma once
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codegen/compile_module.h"
#include "frontend/ir/graph.h"
#include "runtime/cameo.h"
#include "tests/support/road.h"

namespace cameo::test {

/// The road to a shared library, which is no program.
void build_graph(const Graph& g, const std::filesystem::path& path, const BuildOptions& options,
                 const Target& target = native_target(), const std::vector<GoldenCase>& goldens = {},
                 bool reduce_overhead = false);

/// A loaded artifact; as movable as a file.
class LoadedArtifact {
 public:
  /// Throws std::runtime_error with the loader's words.
  explicit LoadedArtifact(const std::filesystem::path& path);
  LoadedArtifact(const LoadedArtifact&) = delete;
  LoadedArtifact& operator=(const LoadedArtifact&) = delete;
  ~LoadedArtifact();

  /// A new model and context, one run. An index out of range, or a node that does not fit the sizes, is the
  /// CompileError that the interpreter throws for it; any other status a std::runtime_error.
  std::vector<Tensor> run(std::span<const Tensor> inputs, int threads = 2) const;
  const cameo_api& api() const { return *api_; }

 private:
  void* library_;
  const cameo_api* api_;
};

/// Built, with a file that is gone afterwards. Only in a child: clang and lld run in this process.
std::shared_ptr<const LoadedArtifact> load_artifact(const Graph& g, const Target& target = native_target());
/// Whose kernels are a GPU's and run over fibers, by a mock of the driver.
std::shared_ptr<const LoadedArtifact> load_for_emulated_gpu(const Graph& g);
std::vector<Tensor> run_through_artifact(const Graph& g, std::span<const Tensor> inputs,
                                         const Target& target = native_target());
std::vector<Tensor> run_on_emulated_gpu(const Graph& g, std::span<const Tensor> inputs);
/// What every child would do again: done once before the first fork, it is inherited.
void warm_up_compiler();

}  // namespace cameo::test
