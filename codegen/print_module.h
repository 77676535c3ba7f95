// A Module as source text: one file with the program's tables, and for each plan files of kernels that compile in
// parallel.
#pragma once
#include "codegen/sources.h"
#include "codegen/weights_file.h"
#include "frontend/ir/bind_dims.h"
#include "optimizer/plan/plan.h"

namespace cameo {

struct GoldenCase {
  std::string name;
  std::vector<Tensor> inputs, outputs;
  std::vector<double> tolerances;  // absolute, one for each tensor of the outputs; negative: the default rule
  DimBinding sizes = {};           // of the dims that only a run knows
  std::vector<Tensor> held = {};   // the tensors of inputs, then outputs, as an artifact has them: elements of 4 and 2
                                   // bits packed
};

/// What an artifact's manifest begins its schema with; files are known for artifacts by it.
inline constexpr std::string_view kManifestSchema = "cameo.manifest/";

struct EmittedModule {
  SourceFile program;                            // tables; defines rt::Program cameo_program
  std::vector<std::vector<SourceFile>> kernels;  // for each plan: its kernels, in files of about equal work
  std::vector<SourceFile> host;                  // what the processor runs beside a plan of its own
  std::vector<SourceFile> custom;                // files of the user's, which others include
};
/// `files`: into how many files each plan's kernels are split. `weights`: where they are if not in the artifact. The
/// result depends on what is given alone.
EmittedModule print_module(const Module& m, int files, const std::vector<GoldenCase>& goldens = {},
                           const WeightsFile* weights = nullptr);

/// Whether one of its plans is for GPUs.
bool has_gpu(const Module& m);

}  // namespace cameo
