// See sizes.h.
#include "tests/support/sizes.h"

#include <fmt/format.h>

#include "frontend/ir/bind_dims.h"
#include "optimizer/plan/bind_plan.h"
#include "optimizer/plan/run_plan.h"
#include "tests/support/road.h"

namespace cameo::test {
namespace {

struct Outcome {
  std::optional<Interpretation> want;
  std::vector<Tensor> got;
  std::optional<Diagnostic> error;
};

Outcome outcome_of(const std::function<void(Outcome&)>& run) {
  Outcome o;
  try {
    run(o);
  } catch (const CompileError& e) { o.error = e.diagnostic; }
  return o;
}

std::string differs(const Outcome& got, const Outcome& want) {
  if (got.error) return want.error && want.error->code == got.error->code ? "" : "failed: " + to_string(*got.error);
  if (want.error) return "did not fail: " + to_string(*want.error);
  return differences(got.got, *want.want);
}

std::vector<Tensor> inputs_at(const Graph& g, std::span<const Tensor> inputs, const DimBinding& size) {
  std::vector<Tensor> fit;
  for (size_t i = 0; i < inputs.size(); ++i)
    fit.push_back(tiled(inputs[i], extents(bind_symbols(g.type(g.inputs()[i]), size).shape)));
  return fit;
}

/// The sizes, and the elements of the inputs that decide shapes.
DimBinding with_elements(const Graph& g, std::span<const Tensor> inputs, DimBinding sizes) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::vector<Expr>& content = g[g.inputs()[i]].content;
    for (size_t k = 0; k < content.size(); ++k)
      sizes[std::string(symbol_name(*symbol_of_element(content[k])))] = inputs[i].get_int(static_cast<int64_t>(k));
  }
  return sizes;
}

std::string check_size(const Module& m, const Graph& g, std::span<const Tensor> inputs, const DimBinding& size) {
  std::optional<Graph> bound;
  const bool runs = runs_at(m.plans[0], with_elements(g, inputs, size));
  const std::vector<Tensor> fit = inputs_at(g, inputs, size);
  try {
    bound = bind_dims(g, size);
  } catch (const CompileError& e) {  // a requirement of sizes that a run learns refuses it then
    const bool ends = !runs || outcome_of([&](Outcome& o) { o.got = run_at(m, size, fit); }).error;
    return ends ? "" : "the plan lacks a requirement: " + e.diagnostic.message;
  }
  const Outcome want = outcome_of([&](Outcome& o) { o.want = interpret(*bound, fit); });
  if (!runs) return want.error ? "" : "the plan requires more than the graph";
  const Outcome got = outcome_of([&](Outcome& o) { o.got = run_at(m, size, fit); });
  return differs(got, want);
}

/// The plan of a bucket that names one of several sizes, in place of the module's.
std::string check_bucket(const Module& m, const Graph& g, std::span<const Tensor> inputs, const DimBinding& size) {
  if (size.size() < 2 || !runs_at(m.plans[0], size)) return "";
  const Module bucket = plan_graph(bind_dims(g, DimBinding{*size.begin()}), "model", m.plans[0].target);
  if (!runs_at(bucket.plans[0], size)) return "its bucket requires more than the plan for all sizes";
  const std::string what = check_size(bucket, g, inputs, size);
  return what.empty() ? "" : "its bucket: " + what;
}

constexpr int64_t kBeyond = 3;  // the upper bound of a size, counted from the input's own extent
std::string name_of(int64_t extent) { return fmt::format("N{}", extent); }

/// The lower ends, the inputs' own extents, odd ones and the upper ends.
std::vector<DimBinding> tried(const std::set<int64_t>& extents) {
  std::vector<DimBinding> sizes(4);
  for (int64_t extent : extents) {
    const std::string name = name_of(extent);
    sizes[0][name] = 1;
    sizes[1][name] = extent;
    sizes[2][name] = extent + 1;
    sizes[3][name] = extent + kBeyond;
  }
  return sizes;
}

std::string text_of(const DimBinding& sizes) {
  std::string text;
  for (const auto& [name, extent] : sizes) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, extent);
  return text;
}

Graph retyped(const Graph& body, std::span<const Type> inputs);

/// What a body takes: what stands last among the node's inputs, in the types that these have now, those of Scan without
/// the axes in front that its rounds walk; those of FlexAttention scores before that.
std::vector<Type> inputs_of_body(const Graph& body, const Graph& outer, const Node& n,
                                 std::span<const ValueId> inputs) {
  const size_t count = body.inputs().size(), own = n.op->name == "FlexAttention" ? 1 : 0;
  std::vector<Type> types;
  for (ValueId v : body.inputs()) types.push_back(body.type(v));
  for (size_t i = own; i < count; ++i) {
    const ValueId now = inputs[inputs.size() - count + i];
    if (!now) continue;
    const Shape& given = outer.type(now).shape;
    const bool walked = n.op->name == "Scan" && !n.attrs.contains("scan_input_axes");
    const auto rank = static_cast<std::ptrdiff_t>(types[i].shape.size());
    if (std::ssize(given) == rank || (walked && std::ssize(given) > rank))
      types[i].shape.assign(given.end() - rank, given.end());
  }
  if (own) {
    const Shape &q = outer.type(inputs[0]).shape, &k = outer.type(inputs[1]).shape;
    types[0].shape = {q[0], q[1], q[2], k[2]};
  }
  return types;
}

std::optional<std::vector<ValueId>> retype_bodies(Graph& into, const Node& n, std::span<const ValueId> inputs) {
  if (n.bodies.empty()) return std::nullopt;
  std::vector<std::shared_ptr<const Graph>> bodies;
  for (const auto& body : n.bodies)
    bodies.push_back(std::make_shared<const Graph>(retyped(*body, inputs_of_body(*body, into, n, inputs))));
  return into.add(*n.op, {inputs.begin(), inputs.end()}, n.attrs, n.provenance, n.version,
                  static_cast<int>(n.outputs.size()), std::move(bodies));
}

Graph retyped(const Graph& body, std::span<const Type> inputs) {
  Graph into(body.shared_sources());
  std::vector<ValueId> own;
  for (size_t i = 0; i < inputs.size(); ++i) own.push_back(into.add_input(body[body.inputs()[i]].name, inputs[i]));
  const std::vector<ValueId> outputs = inline_graph(into, body, own, {}, retype_bodies);
  for (size_t i = 0; i < outputs.size(); ++i) into.add_output(body.outputs()[i].name, outputs[i]);
  return into;
}

}  // namespace

Graph over_sizes(const Graph& g, const SizeOfAxis& size) {
  Graph into(g.shared_sources());
  std::vector<ValueId> inputs;
  for (ValueId v : g.inputs()) {
    Value like = g[v];  // an input whose elements decide shapes keeps its extents, which say how many there are
    for (size_t axis = 0; axis < like.type.shape.size() && like.content.empty(); ++axis)
      if (Dim& d = like.type.shape[axis]; d.is_static()) d = size(inputs.size(), axis, d.value());
    inputs.push_back(into.add_input(like));
  }
  const std::vector<ValueId> outputs = inline_graph(into, g, inputs, {}, retype_bodies);
  for (size_t i = 0; i < outputs.size(); ++i) into.add_output(g.outputs()[i].name, outputs[i]);
  return into;
}

Tensor tiled(const Tensor& t, std::span<const int64_t> dims) {
  if (t.is_list()) return t;
  Tensor out(t.dtype(), {dims.begin(), dims.end()});
  const size_t width = static_cast<size_t>(byte_size(t.dtype()));
  std::vector<int64_t> at(dims.size());
  for (int64_t i = 0; i < out.size(); ++i) {
    int64_t from = 0;
    for (size_t axis = 0; axis < dims.size(); ++axis) from = from * t.dims()[axis] + at[axis] % t.dims()[axis];
    std::memcpy(&out.mutable_bytes()[i * width], &t.bytes()[from * width], width);
    for (size_t axis = dims.size(); axis-- > 0 && ++at[axis] == dims[axis];) at[axis] = 0;
  }
  return out;
}

std::vector<Tensor> run_at(const Module& m, const DimBinding& sizes, std::span<const Tensor> inputs) {
  const Module bound = bind_module(m, sizes);
  return run_plan(bound, bound.plans[0], inputs);
}

std::string check_sizes(const Graph& g, std::span<const Tensor> inputs, std::span<const DimBinding> sizes,
                        const Target& target) {
  const Module m = plan_graph(g, "model", target);
  for (const DimBinding& size : sizes)
    if (std::string what = check_size(m, g, inputs, size); !what.empty())
      return fmt::format("{}: {}", text_of(size), what);
  if (std::string what = check_bucket(m, g, inputs, sizes.back()); !what.empty())
    return fmt::format("{}: {}", text_of(sizes.back()), what);
  return "";
}

std::vector<std::set<int64_t>> choices_of_extents(std::span<const Tensor> inputs) {
  std::set<int64_t> all;
  for (const Tensor& t : inputs)
    for (int64_t extent : t.dims())
      if (extent > 1) all.insert(extent);
  std::vector<std::set<int64_t>> choices;
  if (!all.empty()) choices.push_back(all);
  if (all.size() > 1)
    for (int64_t extent : all) choices.push_back({extent});
  return choices;
}

std::string check_extents(const Graph& g, std::span<const Tensor> inputs, const std::set<int64_t>& extents,
                          const Target& target) {
  const Graph over = over_sizes(g, [&](size_t, size_t, int64_t extent) {
    return extents.contains(extent) ? Dim(symbol(name_of(extent), {1, extent + kBeyond})) : Dim(extent);
  });
  return check_sizes(over, inputs, tried(extents), target);
}

}  // namespace cameo::test
