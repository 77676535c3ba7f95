// The flags as they were typed, and what they say once read. Whatever a flag can get wrong by itself ends here with its
// name; what only the model can tell (is there such an input?) is the importer's.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/compile.h"

namespace cameo {

/// Of every verb that takes a model.
struct ModelFlags {
  std::vector<std::string> command;  // the words as they were typed, without the program
  std::string model;
  std::vector<std::string> dims, shapes, constants, open, outputs, targets, on_host, keep_fp32, skip, custom;
  std::string name, verify, mode, precision, tune_lock;
  bool lenient = false;
  int64_t rewrite_limit = INT64_MAX;
  int jobs = 0;  // 0: as many as there are processors
};

struct BuildFlags {
  std::string output, emit, golden, print_after, weights;
  std::string budget, threads;  // of --mode=max-autotune
  std::vector<std::string> buckets;
  bool no_program = false, time = false, reference = false;
  double tolerance = -1;
};

/// Of the verbs that an artifact answers too; `passed_on` are the flags as the artifact takes them.
struct RunFlags {
  std::vector<std::string> inputs, data, states;
  std::vector<std::string> passed_on;
  bool per_node = false, reference = false;
  double tolerance = -1;
  int threads = 0;
  // of `bench` alone
  std::string other;  // the model or artifact that the first one is compared with
  std::vector<int64_t> batches;
  std::optional<int> rounds;  // of a comparison, 7 by default
};

/// All throw Failure.
CompileOptions read_model_flags(const ModelFlags& flags);
void read_build_flags(const BuildFlags& flags, CompileOptions& options);
std::vector<Target> read_targets(const std::vector<std::string>& flags, DType precision);

}  // namespace cameo
