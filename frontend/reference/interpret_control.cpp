// If and Loop: bodies are graphs whose captured outer values are explicit trailing inputs. Conditions and trip counts
// are the rounded run's.
//   If:   condition, captured..                       -> body(captured..)
//   Loop: trips?, condition?, carried.., captured..   -> body(iteration, condition, carried.., captured..)
//         a body gives condition, carried.., scans..; the attribute `captures` counts the captured ones.
#include <cstring>

#include "frontend/ir/check.h"
#include "frontend/reference/interpret_run.h"

namespace cameo::tape {
namespace {

Tensor stack(const std::vector<Tensor>& rows, DType dtype, std::vector<int64_t> dims) {
  dims.insert(dims.begin(), static_cast<int64_t>(rows.size()));
  Tensor t(dtype, std::move(dims));
  size_t at = 0;
  for (const Tensor& r : rows) {
    CAMEO_CHECK(at + r.bytes().size() <= t.bytes().size(), "scan values of one size");
    if (!r.bytes().empty()) std::memcpy(t.mutable_bytes().data() + at, r.bytes().data(), r.bytes().size());
    at += r.bytes().size();
  }
  return t;
}

/// The iterations' values of one scan output, stacked on a new axis 0.
Dual stack(const std::vector<Dual>& rows, const Type& element, bool shadow) {
  std::vector<int64_t> dims;
  for (const Dim& d : element.shape) dims.push_back(d.is_static() ? d.value() : 0);
  if (!rows.empty()) dims = rows[0].rounded.dims();
  std::vector<Tensor> rounded, unrounded;
  for (const Dual& d : rows) rounded.push_back(d.rounded);
  Dual out{stack(rounded, element.dtype, dims), {}};
  if (!shadow) return out;
  if (!is_float(element.dtype)) return {out.rounded, out.rounded};
  for (const Dual& d : rows) unrounded.push_back(converted(d.unrounded, DType::f64));
  out.unrounded = stack(unrounded, DType::f64, dims);
  return out;
}

Dual scalar(DType t, int64_t v, bool shadow) {
  Tensor x(t, {});
  x.set_int(0, v);
  return {x, shadow ? x : Tensor()};
}

}  // namespace

GraphRun& NodeRun::body(size_t i) {
  if (bodies_.size() < node_.bodies.size()) bodies_.resize(node_.bodies.size());
  if (!bodies_[i]) bodies_[i] = std::make_unique<GraphRun>(*node_.bodies[i], symbols_, shadow_);
  return *bodies_[i];
}

std::vector<Dual> NodeRun::run_if(std::span<const Dual> inputs) {
  std::vector<Dual> out = body(inputs[0].rounded.get_int(0) ? 0 : 1).run({inputs.begin() + 1, inputs.end()});
  out.resize(node_.outputs.size());
  return out;
}

std::vector<Dual> NodeRun::run_loop(std::span<const Dual> inputs) {
  const Graph& graph = *node_.bodies[0];
  NodeView view(graph_, node_);
  bool has_trips = view.has(0), has_condition = view.has(1);
  size_t given = inputs.size() > 2 ? inputs.size() - 2 : 0;
  size_t carried = given - static_cast<size_t>(view.attr_int("captures"));
  CAMEO_CHECK(carried <= given && carried + 1 <= graph.outputs().size(), "as many captures as the attribute says");
  int64_t trips = has_trips ? inputs[0].rounded.get_int(0) : INT64_MAX;
  Dual condition = has_condition ? inputs[1] : scalar(DType::b1, 1, shadow_);
  std::vector<Dual> state, captured;
  if (given) state.assign(inputs.begin() + 2, inputs.begin() + 2 + static_cast<int64_t>(carried));
  if (given) captured.assign(inputs.begin() + 2 + static_cast<int64_t>(carried), inputs.end());
  std::vector<std::vector<Dual>> scans(graph.outputs().size() - 1 - carried);
  for (int64_t i = 0; i < trips && condition.rounded.get_int(0); ++i) {
    std::vector<Dual> in{scalar(DType::i64, i, shadow_), condition};
    in.insert(in.end(), state.begin(), state.end());
    in.insert(in.end(), captured.begin(), captured.end());
    std::vector<Dual> out = body(0).run(std::move(in));
    condition = out[0];
    for (size_t k = 0; k < carried; ++k) state[k] = out[1 + k];
    for (size_t k = 0; k < scans.size(); ++k) scans[k].push_back(out[1 + carried + k]);
  }
  for (size_t k = 0; k < scans.size(); ++k)
    state.push_back(stack(scans[k], graph.type(graph.outputs()[1 + carried + k].value), shadow_));
  state.resize(node_.outputs.size());
  return state;
}

}  // namespace cameo::tape
