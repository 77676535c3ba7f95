// compile: the road from an ONNX file to an artifact, as the verbs share it.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "codegen/compile_module.h"
#include "frontend/import_onnx.h"
#include "optimizer/pipeline.h"
#include "optimizer/target.h"

namespace cameo {

enum class Stop { Graph, Optimized, Plan, Sources, Artifact };  // where --emit cuts the road off

struct CompileOptions {
  std::filesystem::path model, output;
  ImportOptions import;
  std::vector<Target> targets{native_target()};
  std::string name;                     // of the artifact's symbols; empty: from the output's file name
  std::string golden;                   // --golden
  std::vector<std::string> skip;        // passes
  std::string print_after;              // a pass, or `all`
  Stop stop = Stop::Artifact;
  bool with_program = true;
  int jobs = 2;
};

/// A C identifier made of a file's name: `mobilenet-v2.so` -> `mobilenet_v2`.
std::string identifier_of(const std::filesystem::path& file);

/// Imports, and reports what is wrong with the model. Null when there were errors.
std::optional<Model> load_model(const CompileOptions& options, Diagnostics& diagnostics);

/// The plan of a model whose dims are all bound. Problems are added to `diagnostics`.
Module plan_module(const Model& model, const CompileOptions& options, Diagnostics& diagnostics);

/// The whole road; an empty result with diagnostics when something was wrong.
bool compile(const CompileOptions& options, Diagnostics& diagnostics, const BuildOptions& build);

}  // namespace cameo
