// Cases from the unpacked archive (tests.tsv says which count), the comparison of numpy's assert_allclose, and
// run_case.
#include "tests/suite/suite.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "frontend/reference/compare.h"
#include "frontend/reference/interpret.h"

extern char** environ;

namespace cameo::suite {
namespace fs = std::filesystem;
namespace {

bool unpack(const fs::path& archive, const fs::path& into) {
  if (fs::exists(into / "complete")) return true;
  fs::create_directories(into);
  std::string from = archive.string(), to = into.string();
  const char* words[] = {"tar", "-xJf", from.c_str(), "-C", to.c_str(), nullptr};
  pid_t pid;
  int status = 1;
  if (posix_spawnp(&pid, "tar", nullptr, nullptr, const_cast<char**>(words), environ) != 0) return false;
  waitpid(pid, &status, 0);
  if (status == 0) std::ofstream(into / "complete") << archive.string() << "\n";
  return status == 0;
}

std::vector<fs::path> data_sets(const fs::path& folder) {
  std::vector<fs::path> sets;
  if (fs::is_directory(folder))
    for (auto& e : fs::directory_iterator(folder))
      if (e.is_directory() && e.path().filename().string().starts_with("test_data_set")) sets.push_back(e.path());
  std::sort(sets.begin(), sets.end());
  return sets;
}

std::vector<std::string> split(const std::string& line, char at) {
  std::vector<std::string> parts;
  std::istringstream in(line);
  for (std::string part; std::getline(in, part, at);) parts.push_back(part);
  return parts;
}

std::vector<Case> listed_cases(const fs::path& table, const fs::path& data) {
  std::vector<Case> cases;
  std::ifstream in(table);
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    auto f = split(line, '\t');
    if (f.size() < 3 || f[0] == "simple-generated") continue;  // those do not count
    Case c{f[1], f[2].substr(0, f[2].find('+')), data / f[0] / f[1] / "model.onnx", {}};
    if (f[0] == "real") c.model = data / "light" / ("light_" + f[1].substr(5) + ".onnx");
    c.data_sets = data_sets(c.model.parent_path());
    cases.push_back(std::move(c));
  }
  return cases;
}

std::vector<Case> found_cases(const fs::path& data) {
  std::vector<Case> cases;
  for (const char* kind : {"node", "simple", "pytorch-converted", "pytorch-operator"}) {
    if (!fs::is_directory(data / kind)) continue;
    for (auto& e : fs::directory_iterator(data / kind))
      if (fs::exists(e.path() / "model.onnx"))
        cases.push_back({e.path().filename().string(), "", e.path() / "model.onnx", data_sets(e.path())});
  }
  std::sort(cases.begin(), cases.end(), [](const Case& a, const Case& b) { return a.name < b.name; });
  return cases;
}

}  // namespace

std::map<std::string, ImportOptions> golden_models(const fs::path& shared) {
  std::map<std::string, ImportOptions> models;
  std::ifstream in(shared / "models/golden/dims.tsv");
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    std::string file, dims;
    std::getline(fields, file, '\t');
    std::getline(fields, dims, '\t');
    ImportOptions& o = models[fs::path(file).stem().string()];
    std::istringstream words(dims);
    for (std::string w; words >> w;) o.dims[w.substr(0, w.rfind('='))] = std::stoll(w.substr(w.rfind('=') + 1));
  }
  return models;
}

std::vector<Case> find_cases(const fs::path& shared, const fs::path& work, std::string& note) {
  fs::path archive = shared / "onnx_backend/onnx_backend_tests_1.23.2.tar.xz",
           debian = "/usr/lib/python3/dist-packages/onnx/backend/test/data";
  if (fs::exists(archive)) {
    if (unpack(archive, work))
      return note = "onnx 1.23.2", listed_cases(shared / "onnx_backend/tests.tsv", work / "data");
    note = "tar could not unpack " + archive.string();
    return {};
  }
  if (fs::is_directory(debian)) return note = "Debian's libonnx-testdata", found_cases(debian);
  note = "neither " + archive.string() + " nor the package libonnx-testdata is here";
  return {};
}

std::optional<std::vector<NamedTensor>> read_tensors(const fs::path& folder, const std::string& prefix,
                                                     std::span<const Type> declared) {
  std::vector<NamedTensor> tensors;
  for (size_t i = 0;; ++i) {
    fs::path file = folder / fmt::format("{}{}.pb", prefix, i);
    if (!fs::exists(file)) return tensors;
    MappedFile bytes = map_file(file);
    try {
      tensors.push_back(value_from_pb(bytes.bytes, i < declared.size() ? declared[i] : Type()));
    } catch (CompileError&) { return std::nullopt; }
  }
}

std::optional<std::vector<SizeRange>> shape_of_data(const Tensor& t) {
  if (!t.is_list()) return std::vector<SizeRange>{t.dims().begin(), t.dims().end()};
  std::optional<std::vector<SizeRange>> common;
  for (const Tensor& item : t.items()) {
    const auto shape = shape_of_data(item);
    if (!common) common = shape;
    if (!shape || shape->size() != common->size()) return std::nullopt;
    for (size_t d = 0; d < shape->size(); ++d)
      if ((*common)[d].low != (*shape)[d].low) (*common)[d] = SizeRange(Interval{0, kOpen});
  }
  return common;
}

// ---- comparison ---------------------------------------------------------------------------------------------------
namespace {

bool close(double got, double want, const Tolerance& t) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  if (std::isinf(want) || std::isinf(got)) return want == got;
  return std::fabs(got - want) <= t.absolute + t.relative * std::fabs(want);
}

std::string first_difference(const Tensor& got, const Tensor& want, Tolerance t) {
  if (want.dtype() == DType::str) return got.strings() == want.strings() ? "" : "other strings";
  if (want.dtype() == DType::bf16) t.relative = std::max(t.relative, 0x1p-6);
  bool floats = is_float(want.dtype()) && !is_minifloat(want.dtype());
  if (!floats) return std::ranges::equal(got.bytes(), want.bytes()) ? "" : "other elements";
  int64_t wrong = 0, first = -1;
  for (int64_t i = 0; i < want.size(); ++i)
    if (!close(got.get(i), want.get(i), t)) first = wrong++ ? first : i;
  if (!wrong) return "";
  return fmt::format("{} of {} elements; element {} is {:.9g}, not {:.9g}", wrong, want.size(), first, got.get(first),
                     want.get(first));
}

}  // namespace

std::string compare(const Tensor& got, const Tensor& want, const Tolerance& tolerance) {
  if (got.is_list() != want.is_list()) return want.is_list() ? "a tensor instead of a list" : "a list";
  if (want.is_list()) {
    if (got.items().size() != want.items().size())
      return fmt::format("{} elements instead of {}", got.items().size(), want.items().size());
    for (size_t i = 0; i < want.items().size(); ++i)
      if (std::string what = compare(got.items()[i], want.items()[i], tolerance); !what.empty())
        return fmt::format("element {}: {}", i, what);
    return "";
  }
  if (got.dtype() != want.dtype())
    return fmt::format("type {} instead of {}", cameo::name(got.dtype()), cameo::name(want.dtype()));
  if (got.dims() != want.dims())
    return fmt::format("dims [{}] instead of [{}]", fmt::join(got.dims(), ", "), fmt::join(want.dims(), ", "));
  return first_difference(got, want, tolerance);
}

std::string_view name(Verdict::Kind kind) {
  constexpr std::string_view names[] = {"pass", "wrong", "unsupported", "failed"};
  return names[kind];
}

// ---- a case -------------------------------------------------------------------------------------------------------
namespace {

std::string problems(const Diagnostics& d) {
  std::string s;
  for (const Diagnostic& x : d.all())
    if (!is_warning(x.code)) s += fmt::format("{}{} {}", s.empty() ? "" : "; ", code_name(x.code), x.message);
  return s;
}

Tensor ramp(const Type& type) {
  Tensor t(type.dtype, extents(type.shape));
  for (int64_t i = 0; i < t.size(); ++i) t.set(i, static_cast<double>(i) / static_cast<double>(t.size()));
  return t;
}

Tolerance tolerance_of(const Case& c) {
  Tolerance t;
  std::ifstream in(c.model.parent_path() / "data.json");
  nlohmann::json j = in ? nlohmann::json::parse(in, nullptr, false) : nlohmann::json();
  if (j.is_object()) t = {j.value("rtol", t.relative), j.value("atol", t.absolute)};
  return t;
}

Model import_case(const Case& c, const ImportOptions& options, Diagnostics& diagnostics) {
  if (!c.blanked) return import_onnx(c.model, options, diagnostics);
  const MappedFile file = map_file(c.model);
  const std::string bytes = without_shapes(file.bytes);
  return import_onnx_bytes(std::as_bytes(std::span(bytes)), c.model.parent_path(), options, diagnostics);
}

struct DataSet {
  std::vector<NamedTensor> inputs, outputs;
};

/// Whether the elements outside of the tolerance are all nearer to the exact values than the expected ones, and those
/// off by roundings alone: some were made by half-precision arithmetic, or by sums that cancel.
bool nearer(const Tensor& got, const Tensor& want, const Tensor& exact, const Tolerance& t) {
  constexpr double kRoundings = 64;  // of the largest magnitude
  if (got.dtype() != want.dtype() || got.dims() != want.dims() || !is_float(got.dtype())) return false;
  const double most = kRoundings * ulp_of(want.dtype(), magnitude_of(exact));
  for (int64_t i = 0; i < got.size(); ++i) {
    if (close(got.get(i), want.get(i), t)) continue;
    const double error = std::fabs(got.get(i) - exact.get(i));  // NaN where only one of them is one
    const double expected = std::fabs(want.get(i) - exact.get(i));
    if (!(error < expected && expected <= most)) return false;
  }
  return true;
}

/// Expected values that were drawn by a generator without a seed: no answer can be told from another.
bool is_drawn(const Case& c) { return c.name.starts_with("test_bernoulli"); }

/// Imports with the data's shapes, runs, compares; the inputs of a test are the model's in order.
Verdict run_data(const Case& c, const Engine& engine, DataSet data) {
  if (is_drawn(c)) return {Verdict::Unsupported, "the expected values were drawn by a generator without a seed"};
  ImportOptions options;
  for (size_t i = 0; i < data.inputs.size(); ++i) {
    if (auto shape = shape_of_data(data.inputs[i].tensor)) options.shapes[std::to_string(i)] = std::move(*shape);
  }
  Diagnostics diagnostics;
  Model model = import_case(c, options, diagnostics);
  if (diagnostics.has_errors()) return {Verdict::Unsupported, problems(diagnostics)};
  std::vector<Tensor> inputs;
  for (auto& t : data.inputs) inputs.push_back(t.tensor);
  if (c.data_sets.empty())
    for (ValueId v : model.graph.inputs()) inputs.push_back(ramp(model.graph.type(v)));
  if (inputs.size() != model.graph.inputs().size())
    return {Verdict::Unsupported,
            fmt::format("{} inputs of data for {} of the model", inputs.size(), model.graph.inputs().size())};
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].dtype() != model.graph.type(model.graph.inputs()[i]).dtype)
      return {Verdict::Unsupported, fmt::format("input {} is {} in the data", i, cameo::name(inputs[i].dtype()))};
  std::vector<Tensor> outputs;
  try {
    outputs = engine(model)(inputs);
  } catch (CompileError& e) {
    bool ours = e.diagnostic.code == Code::E0601 || e.diagnostic.code == Code::E0602;  // nobody's wish was refused
    return {ours ? Verdict::Failed : Verdict::Unsupported,
            fmt::format("{} {}", code_name(e.diagnostic.code), e.diagnostic.message)};
  }
  if (outputs.size() != data.outputs.size())
    return {Verdict::Wrong, fmt::format("{} outputs instead of {}", outputs.size(), data.outputs.size())};
  Verdict verdict;
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& want = data.outputs[i].tensor;
    std::string what = compare(outputs[i], want, tolerance_of(c));
    if (what.empty()) continue;
    if (!nearer(outputs[i], want, interpret(model.graph, inputs).unrounded[i], tolerance_of(c)))
      return {Verdict::Wrong, fmt::format("output {}: {}", i, what)};
    verdict.reason = fmt::format("nearer to the exact values than the suite is: output {}: {}", i, what);
  }
  return verdict;
}

// ---- extreme integers ---------------------------------------------------------------------------------------------

/// Numbers at and next to the edges of every type, as many small ones, and some that index something.
Tensor extreme(const Tensor& like, std::mt19937_64& rng) {
  constexpr int64_t kEdges[] = {0,         1,         -1,           2, -2, 3, 255, INT32_MAX, int64_t{1} << 32,
                                INT64_MAX, INT64_MIN, INT64_MIN + 1};
  Tensor t(like.dtype(), like.dims());
  for (int64_t i = 0; i < t.size(); ++i) {
    const int64_t near = static_cast<int64_t>(rng() % 3) - 1, edge = kEdges[rng() % std::size(kEdges)];
    t.set_int(i, rng() % 2 ? like.get_int(i)
                           : static_cast<int64_t>(static_cast<uint64_t>(edge) + static_cast<uint64_t>(near)));
  }
  return t;
}

struct Outcome {
  std::vector<Tensor> outputs;
  std::string refusal;  // of the data: an index out of range
};
Outcome outcome_of(const std::function<std::vector<Tensor>()>& run) {
  try {
    return {run(), ""};
  } catch (CompileError& e) {
    if (e.diagnostic.code != Code::E0304) throw;
    return {{}, e.diagnostic.message};
  }
}

using Judge = std::function<Verdict(const Model& model, const std::vector<Tensor>& data)>;
/// Imports with the data's shapes; what the model does with which inputs is the judge's.
Verdict run_otherwise(const Case& c, std::span<const NamedTensor> data, const Judge& judge) {
  ImportOptions options;
  for (size_t i = 0; i < data.size(); ++i) {
    if (auto shape = shape_of_data(data[i].tensor)) options.shapes[std::to_string(i)] = std::move(*shape);
  }
  Diagnostics diagnostics;
  Model model = import_case(c, options, diagnostics);
  if (diagnostics.has_errors()) return {Verdict::Unsupported, problems(diagnostics)};
  if (data.size() != model.graph.inputs().size()) return {Verdict::Unsupported, "another number of inputs in the data"};
  std::vector<Tensor> inputs;
  for (const NamedTensor& t : data) inputs.push_back(t.tensor);
  return judge(model, inputs);
}

Verdict run_extreme(const Engine& engine, const Model& model, const std::vector<Tensor>& data) {
  std::mt19937_64 rng(data.size());
  Runner run;
  for (int round = 0; round < 3; ++round) {
    std::vector<Tensor> inputs;
    for (const Tensor& t : data) inputs.push_back(is_integer(t.dtype()) && !t.is_list() ? extreme(t, rng) : t);
    Interpretation exact;
    const Outcome want = outcome_of([&] { return (exact = interpret(model.graph, inputs)).rounded; });
    Outcome got;
    try {
      if (!run) run = engine(model);
      got = outcome_of([&] { return run(inputs); });
    } catch (CompileError& e) { return {Verdict::Unsupported, e.diagnostic.message}; }
    if (want.refusal.empty() != got.refusal.empty())
      return {Verdict::Wrong, fmt::format("`{}` where the interpreter says `{}`", got.refusal, want.refusal)};
    for (size_t i = 0; i < got.outputs.size(); ++i)
      if (Comparison like = cameo::compare(got.outputs[i], want.outputs[i], exact.unrounded[i]); !like.pass)
        return {Verdict::Wrong, fmt::format("output {}: {}", i, like.why)};
  }
  return {};
}

Verdict run_second(const Engine& engine, const Model& model, const std::vector<Tensor>& data) {
  try {
    return run_second_values(model.graph, [&] { return engine(model); }, data);
  } catch (const CompileError& e) {
    const bool ours = e.diagnostic.code == Code::E0601 || e.diagnostic.code == Code::E0602;
    return {ours ? Verdict::Failed : Verdict::Unsupported, e.diagnostic.message};
  }
}

}  // namespace

Verdict run_case(const Case& c, const Engine& engine) {
  if (c.extreme || c.second_values) {
    auto inputs =
        c.data_sets.empty() ? std::nullopt : read_tensors(c.data_sets[0], "input_", declared_types(c.model).inputs);
    if (!inputs) return {Verdict::Unsupported, "no tensors in the data"};
    return run_otherwise(c, *inputs, [&](const Model& model, const std::vector<Tensor>& data) {
      if (c.extreme) return run_extreme(engine, model, data);
      return run_second(engine, model, data);
    });
  }
  if (c.data_sets.empty()) {
    std::string prefix = c.model.stem().string() + "_output_";
    auto outputs = read_tensors(c.model.parent_path(), prefix);
    return run_data(c, engine, {{}, std::move(*outputs)});
  }
  const DeclaredTypes declared = declared_types(c.model);
  for (auto& folder : c.data_sets) {
    auto inputs = read_tensors(folder, "input_", declared.inputs),
         outputs = read_tensors(folder, "output_", declared.outputs);
    if (!inputs || !outputs) return {Verdict::Unsupported, "data that cannot be read"};
    Verdict v = run_data(c, engine, {std::move(*inputs), std::move(*outputs)});
    if (v.kind != Verdict::Pass) return v;
  }
  return {};
}

Runner interpret_case(const Model& model) {
  return [&model](std::span<const Tensor> inputs) { return interpret(model.graph, inputs).rounded; };
}

void write_report(const fs::path& file, std::span<const Case> cases, std::span<const Verdict> verdicts,
                  std::string_view engine) {
  nlohmann::ordered_json j;
  int passed = 0;
  for (auto& v : verdicts) passed += v.kind == Verdict::Pass;
  j["schema"] = "cameo.backend_suite.1";
  j["engine"] = engine;
  j["passed"] = passed;
  j["total"] = kOfficialTotal;
  j["tests"] = nlohmann::ordered_json::array();
  for (size_t i = 0; i < cases.size(); ++i)
    j["tests"].push_back(
        {{"name", cases[i].name}, {"verdict", name(verdicts[i].kind)}, {"reason", verdicts[i].reason}});
  std::ofstream(file) << j.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
}

void write_count(const fs::path& file, const std::string& name, int passed) {
  nlohmann::ordered_json j;
  std::ifstream in(file);
  if (in) j = nlohmann::ordered_json::parse(in, nullptr, false);
  if (!j.is_object()) j = nlohmann::ordered_json::object();
  j[name] = passed;
  std::ofstream(file) << j.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
}

}  // namespace cameo::suite
