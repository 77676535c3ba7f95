// The ONNX backend suite as data: its cases, their tensors, the official comparison, and running a case with any
// engine. Each case runs in a process of its own, so that a crash or an endless loop is a verdict and not the end.
#pragma once
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frontend/import/import_onnx.h"

namespace cameo::suite {

struct Case {
  std::string name, main_op;
  std::filesystem::path model;
  std::vector<std::filesystem::path> data_sets;  // empty: inputs 0, 1/n, 2/n .. and the outputs beside the model
  bool blanked = false;                          // no shape is declared but the inputs'
  // Other data instead, and the interpreter says what is right: integers at the edges of their types; or other values
  // of the inputs that decide shapes.
  bool extreme = false, second_values = false;
};

/// The cases of the suite in `shared`, unpacked once under `work`; else of Debian's libonnx-testdata. `note` says
/// which.
std::vector<Case> find_cases(const std::filesystem::path& shared, const std::filesystem::path& work, std::string& note);
inline constexpr int kOfficialTotal = 2033;

/// The real models of `shared` that have golden data, by name, and the dims to bind.
std::map<std::string, ImportOptions> golden_models(const std::filesystem::path& shared);

/// Values of the files PREFIX0.pb, PREFIX1.pb .., tensors where `declared` does not say otherwise; nullopt when one
/// cannot be read.
std::optional<std::vector<NamedTensor>> read_tensors(const std::filesystem::path& folder, const std::string& prefix,
                                                     std::span<const Type> declared = {});
/// What `--shape` says of an input with such data: its dims, and of a list's elements those that they have in common;
/// nothing where there are none, or of several ranks.
std::optional<std::vector<SizeRange>> shape_of_data(const Tensor& t);

struct Tolerance {
  double relative = 1e-3, absolute = 1e-7;
};
/// What is wrong with `got`; empty when it is right.
std::string compare(const Tensor& got, const Tensor& want, const Tolerance& tolerance);

struct Verdict {
  enum Kind { Pass, Wrong, Unsupported, Failed } kind = Pass;  // Failed: a crash, an internal error, a time-out
  std::string reason;
};
std::string_view name(Verdict::Kind kind);

/// Runs what was made of a model. A CompileError means that it refuses the inputs.
using Runner = std::function<std::vector<Tensor>(std::span<const Tensor> inputs)>;
/// Makes it of a model, already imported with the data's dims, which outlives it. A CompileError means that the engine
/// refuses the model.
using Engine = std::function<Runner(const Model& model)>;
Verdict run_case(const Case& c, const Engine& engine);
/// As run_case, in a child with limits on time and memory; at most `jobs` at once. `done` hears each verdict.
std::vector<Verdict> run_cases(std::span<const Case> cases, const Engine& engine, int jobs, std::chrono::seconds limit,
                               const std::function<void(const Case&, const Verdict&)>& done);

/// One runner, on other values of the inputs whose elements decide shapes than those of the data, of which the
/// interpreter takes some and refuses others.
Verdict run_second_values(const Graph& g, const std::function<Runner()>& make, std::span<const Tensor> data);

/// The interpreter as an engine.
Runner interpret_case(const Model& model);

/// build/backend_suite.json: passed, total, tests.
void write_report(const std::filesystem::path& file, std::span<const Case> cases, std::span<const Verdict> verdicts,
                  std::string_view engine);
/// Another count in a report that is there.
void write_count(const std::filesystem::path& file, const std::string& name, int passed);

/// The model without the shapes that its graph declares of outputs and of values in between.
std::string without_shapes(std::span<const std::byte> model);

}  // namespace cameo::suite
