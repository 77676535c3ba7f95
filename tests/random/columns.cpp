// See columns.h.
#include "tests/random/columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <ranges>
#include <regex>

#include "frontend/reference/compare.h"
#include "frontend/reference/interpret_run.h"
#include "optimizer/pipeline.h"
#include "optimizer/plan/run_plan.h"
#include "tests/support/artifact.h"
#include "tests/support/fused.h"
#include "tests/support/graph_text.h"
#include "tests/support/road.h"
#include "tests/support/sizes.h"

namespace cameo::random {
namespace {

namespace fs = std::filesystem;
using Tensors = std::vector<Tensor>;

constexpr int64_t kFew = 16;  // elements
constexpr uint64_t kOthers = 9;

/// How far an output may be off with other inputs: the median of the tolerances.
double usual_tolerance(const Lines& lines, size_t output) {
  std::vector<double> tolerances;
  for (uint64_t k = 1; k <= kOthers; ++k) {
    const Outcome other = outcome(reseeded(lines, 7919 * k));
    if (!other.values) continue;
    const Tensor& rounded = other.values->rounded[output];
    tolerances.push_back(compare(rounded, rounded, other.values->unrounded[output]).tolerance);
  }
  if (tolerances.empty()) return 0;
  std::ranges::sort(tolerances);
  return tolerances[tolerances.size() / 2];
}

/// Whether a node that an output needs, or a part of one, gives a narrower floating type.
bool makes_fewer_bits_than_f64(const Graph& g, std::span<const Port> outputs) {
  std::vector<bool> needed(g.values().size());
  for (const Port& p : outputs) needed[p.value.index] = true;
  for (const Node& n : g.nodes() | std::views::reverse) {
    if (std::ranges::none_of(n.outputs, [&](ValueId v) { return v && needed[v.index]; })) continue;
    for (ValueId v : n.outputs)
      if (v && is_float(g.type(v).dtype) && g.type(v).dtype != DType::f64) return true;
    const Meaning& meaning = meaning_of(g, n);
    if (const auto* composite = std::get_if<Composite>(&meaning))
      if (makes_fewer_bits_than_f64(*composite->definition, composite->definition->outputs())) return true;
    for (const auto& body : n.bodies)
      if (makes_fewer_bits_than_f64(*body, body->outputs())) return true;
    for (ValueId v : n.inputs)
      if (v) needed[v.index] = true;
  }
  return false;
}

/// Whether it is rounding to f32. An f64 that was f32 on its way, as a normalization's is in its first stage, has
/// no more bits than those: its tolerance counts ULPs of f32.
bool is_f32_on_its_way(const Outcome& want, size_t output) {
  const Graph g = test::parse_model(want.lines).graph;
  const DType t = g.type(g.outputs()[output].value).dtype;
  return t == DType::f32 || (t == DType::f64 && makes_fewer_bits_than_f64(g, g.outputs().subspan(output, 1)));
}
bool passes_as_f32(const Tensor& got, const Tensor& rounded, const Tensor& unrounded) {
  return compare(tape::converted(got, DType::f32), tape::converted(rounded, DType::f32), unrounded).pass;
}

/// Each element times one of the numbers next to 1.
ValueId with_other_last_bits(Graph& into, ValueId v) {
  std::vector<int64_t> dims;
  for (const Dim& d : into.type(v).shape) {
    if (!d.is_static()) return v;
    dims.push_back(d.value());
  }
  Tensor factors(into.type(v).dtype, dims);
  std::mt19937 random(1);
  for (int64_t i = 0; i < factors.size(); ++i) factors.set(i, random() % 2 ? 1 + 0x1p-23 : 1 - 0x1p-24);
  return into.add(get_operator("Mul"), {v, into.constant(std::move(factors))})[0];
}

/// Whether it is what normalizations make of the last bits of their operands. The mean of equal elements is one of them
/// for the interpreter, which sums in double; a kernel's is the next number to it, and their difference is divided by
/// the root of epsilon.
bool passes_by_last_bits(const Tensor& got, const Outcome& want, size_t output) {
  const test::ModelText m = test::parse_model(want.lines);
  const Rule shaken = [](Graph& into, const Node& n,
                         std::span<const ValueId> inputs) -> std::optional<std::vector<ValueId>> {
    if (!n.op->name.ends_with("Normalization")) return std::nullopt;
    std::vector<ValueId> in;
    for (ValueId v : inputs) in.push_back(v && is_float(into.type(v).dtype) ? with_other_last_bits(into, v) : v);
    return into.add(*n.op, in, n.attrs, n.provenance, n.version, static_cast<int>(n.outputs.size()));
  };
  const Interpretation other = interpret(replay(m.graph, shaken), m.inputs);
  return passes_as_f32(got, other.rounded[output], want.values->unrounded[output]);
}

/// As test::differences. What rounding alone does is measured by the elements of an output; where these are few, and
/// small because what was added cancelled, it is measured with other inputs, too.
std::string differences(std::span<const Tensor> got, const Outcome& want) {
  std::string what = test::differences(got, *want.values);
  if (what.empty() || got.size() != want.values->rounded.size()) return what;
  for (size_t i = 0; i < got.size(); ++i) {
    const Comparison c = compare(got[i], want.values->rounded[i], want.values->unrounded[i]);
    if (c.pass) continue;
    if (!is_float(got[i].dtype()) || !std::isfinite(c.max_error)) return what;
    const Interpretation& values = *want.values;
    if (is_f32_on_its_way(want, i) &&
        (passes_as_f32(got[i], values.rounded[i], values.unrounded[i]) || passes_by_last_bits(got[i], want, i)))
      continue;
    if (got[i].size() > kFew || c.max_error > usual_tolerance(want.lines, i)) return what;
  }
  return "";
}

std::string differs(const Outcome& want, const std::function<Tensors()>& run) {
  try {
    Tensors got = run();
    if (!want.values) return fmt::format("did not fail with {} ({})", code_name(*want.error), want.message);
    return differences(got, want);
  } catch (const CompileError& e) {
    if (want.error && e.diagnostic.code == *want.error) return "";
    return "failed: " + to_string(e.diagnostic);
  } catch (const std::exception& e) { return fmt::format("exception: {}", e.what()); }
}

Graph optimized(const Graph& g, std::vector<std::string> skip = {}, const Target& target = native_target()) {
  PassContext context(target);
  context.skip = std::move(skip);
  context.verify_each = true;
  return optimize(g, context);
}

std::string check_bits(const Outcome& want, const Tensors& got) {
  if (want.values)
    for (size_t i = 0; i < got.size(); ++i)
      if (!(got[i] == want.values->rounded[i]) && differences(got, want).empty())
        return fmt::format("output {} is not the same bits", i);
  return "";
}

/// Constants as inputs: what is folded when a graph is made is run instead.
Lines with_inputs(const Lines& lines) {
  Lines out;
  int depth = 0;
  for (const std::string& line : lines) {
    if (line.starts_with("body ")) ++depth;
    if (line == "end") --depth;
    out.push_back(!depth && line.starts_with("const ") ? "input " + line.substr(6) : line);
  }
  return out;
}
std::string check_constants(const Lines& lines, const Outcome& want) {
  std::optional<test::ModelText> model;
  try {
    model = test::parse_model(with_inputs(lines));
  } catch (const CompileError&) { return ""; }  // they must be constants
  return differs(want, [&] { return interpret(replay(model->graph, {}), model->inputs).rounded; });
}

std::vector<std::string> algebraic_passes() {
  std::vector<std::string> names;
  for (const Pass& p : passes())
    if (p.exactness == Exactness::Algebraic) names.emplace_back(p.name);
  return names;
}

std::string check_passes(const test::ModelText& m, const Outcome& want) {
  std::vector<std::vector<std::string>> skips{{}, algebraic_passes()};
  for (const Pass& p : passes()) skips.push_back({std::string(p.name)});
  for (const auto& skip : skips) {
    Tensors got;
    std::string what = differs(want, [&] { return got = interpret(optimized(m.graph, skip), m.inputs).rounded; });
    if (what.empty() && skip == algebraic_passes()) what = check_bits(want, got);
    if (!what.empty()) return fmt::format("optimised{}: {}", skip.empty() ? "" : " without " + skip[0], what);
  }
  return "";
}

std::string check_plan(const test::ModelText& m, const Outcome& want, const Target& target) {
  std::string what = differs(want, [&] {
    Module module = test::plan_optimized(optimized(m.graph, {}, target), "model", target);
    return run_plan(module, module.plans[0], m.inputs);
  });
  return what.empty() ? "" : fmt::format("plan for {}: {}", target.name, what);
}

}  // namespace

Outcome outcome(const Lines& lines) {
  auto live = [](const Graph& g) { return replay(g, {}); };  // what no output needs may fail or not
  try {
    test::ModelText m = test::parse_model(lines);
    return {interpret(live(m.graph), m.inputs), {}, {}, lines};
  } catch (const CompileError& e) { return {{}, e.diagnostic.code, e.diagnostic.message, lines}; }
}

std::string check_plans(const Lines& lines) {
  std::optional<test::ModelText> m;
  try {
    m = test::parse_model(lines);
  } catch (const CompileError& e) { return "making it: " + to_string(e.diagnostic); }
  Outcome want = outcome(lines);
  if (want.error && *want.error != Code::E0304) return "interpreter: " + want.message;
  if (auto what = check_constants(lines, want); !what.empty()) return "constants as inputs: " + what;
  if (auto what = check_passes(*m, want); !what.empty()) return what;
  std::string what = differs(want, [&] { return test::interpret_fused(optimized(m->graph), m->inputs).rounded; });
  if (!what.empty()) return "fused: " + what;
  for (const Target& target : {native_target(), *find_target("x86-64-v2"), gpu_target({"ptx"})})
    if (what = check_plan(*m, want, target); !what.empty()) return what;
  return "";
}

namespace {

bool can_be_made(const Lines& lines) {
  try {
    test::parse_model(lines);
    return true;
  } catch (const CompileError&) { return false; }
}

/// With inputs whose elements decide shapes in place of constants of a few whole numbers, where shapes can do with
/// such.
Lines with_deciding_inputs(Lines lines) {
  static const std::regex kWhole("^const ([^ ]+ (?:i64|i32)\\[[0-9]*\\] = [-0-9 ]+)$");
  std::smatch found;
  int bodies = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    bodies += lines[i].starts_with("body ") - (lines[i] == "end");
    if (bodies || !std::regex_match(lines[i], found, kWhole)) continue;
    Lines other = lines;
    other[i] = "decides " + found[1].str();
    if (can_be_made(other)) lines = std::move(other);
  }
  return lines;
}

std::string check_sizes_of(const Lines& lines) {
  try {
    const test::ModelText m = test::parse_model(lines);
    for (const std::set<int64_t>& extents : test::choices_of_extents(m.inputs))
      if (auto what = test::check_extents(m.graph, m.inputs, extents, native_target()); !what.empty())
        return fmt::format("sizes for {}: {}", fmt::join(extents, " "), what);
  } catch (const CompileError& e) {
    if (e.diagnostic.code != Code::E0404) return "sizes: refused: " + to_string(e.diagnostic);
  }
  return "";
}

}  // namespace

std::string check_sizes(const Lines& lines) {
  if (auto what = check_sizes_of(lines); !what.empty()) return what;
  const Lines deciding = with_deciding_inputs(lines);
  const std::string what = deciding == lines ? "" : check_sizes_of(deciding);
  return what.empty() ? "" : fmt::format("with {}: {}", fmt::join(deciding, "; "), what);
}

// ---- artifacts ------------------------------------------------------------------------------------------------------
namespace {

constexpr int kSets = 3;  // of inputs

/// One model of several, with its sets of inputs and what the interpreter says of each.
struct Member {
  size_t outputs = 0;
  std::vector<Tensors> inputs;
  std::vector<Outcome> want;
  int safe = -1;  // a set that does not fail
};

Member member_of(const Lines& lines) {
  Member m;
  auto add = [&](const Lines& with) {
    test::ModelText model = test::parse_model(with);
    m.outputs = model.graph.outputs().size();
    m.inputs.push_back(model.inputs);
    m.want.push_back(outcome(with));
    if (m.want.back().values && m.safe < 0) m.safe = static_cast<int>(m.want.size()) - 1;
  };
  for (uint64_t k = 0; k < kSets; ++k) add(reseeded(lines, 1000 * k));
  return m;
}

struct SharedObject {
  fs::path path = fs::temp_directory_path() / fmt::format("cameo_random_{}.so", getpid());
  SharedObject(const std::vector<Lines>& models, const std::string& skip) {
    Lines all;
    for (const Lines& m : models) all.insert(all.end(), m.begin(), m.end());
    Graph g = optimized(test::parse_model(all).graph, skip.empty() ? std::vector<std::string>() : std::vector{skip});
    BuildOptions options;
    options.with_program = false;
    options.jobs = 0;
    compile_module(test::plan_optimized(g, "model", native_target()), {}, OutputKind::SharedLibrary, path, options);
  }
  ~SharedObject() {
    std::error_code ignored;
    fs::remove(path, ignored);
  }
};

class Checker {
 public:
  Checker(const std::vector<Member>& members, const test::LoadedArtifact& artifact)
      : members_(members), artifact_(artifact), wrong_(members.size()) {}

  std::vector<std::string> run() {
    for (int set = 0; set < kSets; ++set) check_values(set);
    for (size_t m = 0; m < members_.size(); ++m)
      for (int set = 0; set < kSets; ++set)
        if (members_[m].want[static_cast<size_t>(set)].error) check_error(m, set);
    std::vector<std::string> lines;
    for (size_t m = 0; m < wrong_.size(); ++m)
      if (!wrong_[m].empty()) lines.push_back(fmt::format("{} {}", m, wrong_[m]));
    return lines;
  }

 private:
  /// Each model with this set of inputs, or where that fails, with one that does not.
  int fit(const Member& m, int set) const { return m.want[static_cast<size_t>(set)].values ? set : m.safe; }
  Tensors inputs(const std::function<int(size_t)>& set) const {
    Tensors all;
    for (size_t m = 0; m < members_.size(); ++m)
      for (const Tensor& t : members_[m].inputs[static_cast<size_t>(set(m))]) all.push_back(t);
    return all;
  }
  void check_values(int set) {
    Tensors in = inputs([&](size_t m) { return fit(members_[m], set); });
    Tensors got = artifact_.run(in, 1), again = artifact_.run(in, 5);
    size_t first = 0;
    for (size_t m = 0; m < members_.size(); first += members_[m++].outputs) {
      const Outcome& want = members_[m].want[static_cast<size_t>(fit(members_[m], set))];
      std::span<const Tensor> mine = std::span(got).subspan(first, members_[m].outputs);
      std::string what = differences(mine, want);
      for (size_t i = 0; i < mine.size() && what.empty(); ++i)
        if (!(mine[i] == again[first + i])) what = fmt::format("output {} depends on the threads", i);
      if (!what.empty() && wrong_[m].empty()) wrong_[m] = fmt::format("artifact, inputs {}: {}", set, what);
    }
  }
  void check_error(size_t which, int set) {
    Tensors in = inputs([&](size_t m) { return m == which ? set : members_[m].safe; });
    std::string what = differs(members_[which].want[static_cast<size_t>(set)], [&] { return artifact_.run(in, 2); });
    if (!what.empty() && wrong_[which].empty()) wrong_[which] = fmt::format("artifact, inputs {}: {}", set, what);
  }

  const std::vector<Member>& members_;
  const test::LoadedArtifact& artifact_;
  std::vector<std::string> wrong_;
};

}  // namespace

std::vector<std::string> check_artifact(const std::vector<Lines>& models, const std::string& skip) {
  std::vector<Member> members;
  std::vector<Lines> taken;
  std::vector<size_t> number;
  for (size_t i = 0; i < models.size(); ++i) {
    Member m = member_of(models[i]);
    if (m.safe < 0) continue;  // fails whatever it is given: the plans have said so
    members.push_back(std::move(m));
    taken.push_back(models[i]);
    number.push_back(i);
  }
  if (members.empty()) return {};
  SharedObject file(taken, skip);
  test::LoadedArtifact artifact(file.path);
  std::vector<std::string> lines = Checker(members, artifact).run();
  for (std::string& line : lines) line = fmt::format("{}{}", number[std::stoul(line)], line.substr(line.find(' ')));
  return lines;
}

}  // namespace cameo::random
