// Graphs over sizes that only a run knows, as tests make them of graphs whose extents are numbers, and one plan for all
// sizes compared with the interpreter at some of them.
#pragma once
#include <functional>
#include <set>
#include <span>
#include <string>

#include "frontend/ir/bind_dims.h"
#include "optimizer/plan/plan.h"

namespace cameo::test {

/// What the axis of an input becomes, whose extent is a number.
using SizeOfAxis = std::function<Dim(size_t input, size_t axis, int64_t extent)>;
/// The graph with other extents of its inputs but those whose elements decide shapes; every node is typed anew.
Graph over_sizes(const Graph& g, const SizeOfAxis& size);

/// A tensor of these dims whose elements are those of another one, over and over along each axis.
Tensor tiled(const Tensor& t, std::span<const int64_t> dims);

/// What the plan of a graph over sizes gives at these sizes.
std::vector<Tensor> run_at(const Module& m, const DimBinding& sizes, std::span<const Tensor> inputs);

/// Plans the graph once, and runs the plan at each of these sizes. What is wrong at the first that differs from the
/// interpreter, as `SIZES: what`; empty when nothing is. At sizes of which the graph cannot be made, what the plan
/// requires must not hold. A graph that is refused throws CompileError.
std::string check_sizes(const Graph& g, std::span<const Tensor> inputs, std::span<const DimBinding> sizes,
                        const Target& target);

/// The extents above 1 of the inputs, all at once and then each alone.
std::vector<std::set<int64_t>> choices_of_extents(std::span<const Tensor> inputs);
/// check_sizes of the graph whose inputs have a size in place of each of these extents, of 1 to three more than it.
std::string check_extents(const Graph& g, std::span<const Tensor> inputs, const std::set<int64_t>& extents,
                          const Target& target);

}  // namespace cameo::test
