// compile: the road from an ONNX file to an artifact, as the verbs share it.
#pragma once
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/console.h"
#include "cli/data.h"
#include "codegen/compile_module.h"
#include "frontend/import/import_onnx.h"
#include "optimizer/pipeline.h"
#include "optimizer/target.h"

namespace cameo {

enum class Stop { Graph, Optimized, Plan, Bodies, Choices, Ptx, Sources, Artifact };  // where --emit cuts the road off

struct CompileOptions {
  std::filesystem::path model, output;
  std::string model_title;                    // what messages call the model's file, and names are made of
  std::vector<std::string> command;           // the words as they were typed, without the program
  std::string model_word;                     // the one of them that names the model
  std::vector<std::filesystem::path> inputs;  // that flags name, beside the model: no output takes their place
  ImportOptions import;
  std::vector<DimBinding> buckets;  // --bucket
  std::vector<Target> targets{native_target()};
  bool reduce_overhead = false;          // --mode
  std::vector<std::string> on_host;      // nodes
  DType precision = DType::f32;          // of products of f32: --precision
  std::vector<std::string> keep_fp32;    // but for those of these nodes
  std::string name;                      // of the artifact's symbols; empty: from the output's file name
  std::optional<uint64_t> made_up_seed;  // --weights=random:SEED
  std::filesystem::path weights;         // --weights=file: where they go; empty: into the artifact
  std::string golden;                    // --golden
  double tolerance = -1;                 // of golden cases, as a share of the magnitude; negative: by the rule
  std::vector<std::string> skip;         // passes
  int64_t rewrite_limit = INT64_MAX;
  bool verify_each = false;
  std::string print_after;  // a pass, or `all`
  Stop stop = Stop::Artifact;
  OutputKind kind = OutputKind::SharedLibrary;
  bool with_program = true, time_passes = false;
  bool reference = false;  // the interpreter measures golden cases of models beyond 10 GFLOP too
  int jobs = 2;
};

inline constexpr size_t kLongestName = 200;  // NAME.h and its like are names of files too
/// A C identifier made of a file's name: `mobilenet-v2.so` -> `mobilenet_v2`.
std::string identifier_of(const std::filesystem::path& file);

/// Imports, and reports what is wrong with the model. Null when there were errors. While dims are unbound, sizes that
/// are not known count as no error: they may follow; so `leave_open` comes before anything is computed.
std::optional<Model> load_model(const CompileOptions& options, Console& console, Diagnostics& diagnostics);

/// Binds what no flag did by the shapes of data, and imports again. False: errors.
bool bind_from_data(std::optional<Model>& model, CompileOptions& options, const InputShapes& shapes, Console& console,
                    Diagnostics& diagnostics);

/// The command that was typed, as one of another verb, with more flags behind its model: a line to paste.
std::string command_with(const CompileOptions& options, std::string_view verb, const std::string& flags);

/// Imports again with the dims that nothing binds as sizes that only a run knows, so that one artifact runs at any of
/// them; W0008 says so, with the line of this verb to paste; empty: none. They stay `unbound` dims of the model.
/// Nothing to do where there are none.
void leave_open(std::optional<Model>& model, CompileOptions& options, std::string_view verb, Console& console,
                Diagnostics& diagnostics);

/// For each target its graph and its plan, of a model whose dims all have values or ranges. Problems are added to
/// `diagnostics`.
struct Planned {
  std::vector<Graph> graphs;
  Module module;
  std::vector<Remark> remarks;  // of the first target's passes
};
Planned plan_model(const Model& model, const CompileOptions& options, Console& console, Diagnostics& diagnostics);

/// The graph of the first target's passes, where --precision narrows products: it rounds as the artifact does. Else
/// nothing.
std::optional<Graph> narrowed(const Graph& g, const CompileOptions& options);
/// How far results may be from golden values where nothing knows the exact ones, as a share of the largest magnitude:
/// of narrow products 16 times the rounding of bf16.
double default_share(const CompileOptions& options);

/// Objects and link; throws CompileError. What became of the file of weights, where there is one.
std::optional<WeightsFate> write_module(const Module& module, const std::vector<GoldenCase>& goldens,
                                        const CompileOptions& options, Console& console);

/// What the artifact's symbols are called: NAME_api.
std::string name_of(const CompileOptions& options);

/// A library that is a program, without golden cases.
FileDescriptor build_in_memory(const Module& module, const CompileOptions& options, Console& console);

/// How far the results of --precision=bf16 are from those of f32.
struct PrecisionError {
  double share = -1;  // the largest error, of its output's largest magnitude; negative: not measured
  std::string how;    // it was measured, or why not
};

/// The whole road; not ok with diagnostics when something was wrong. `choose` sees the model before it is planned, and
/// may give its targets locks.
struct Compiled {
  bool ok = false;
  std::optional<WeightsFate> weights = std::nullopt;
  std::optional<PrecisionError> precision = std::nullopt;  // of --precision
};
using Chooser = std::function<void(const Model&, CompileOptions&)>;
Compiled compile(const CompileOptions& options, Console& console, Diagnostics& diagnostics, const Chooser& choose = {});

}  // namespace cameo
