// Sizes that only a run knows, where the command line has to name some: for random data, for data of a folder, for a
// line to paste.
#pragma once
#include <span>
#include <string>

#include "optimizer/plan/bind_plan.h"

namespace cameo {

/// Whether all that its nodes, and those of their bodies, require of these sizes holds.
bool runs_at(const Graph& g, const DimBinding& sizes);
/// The lower bounds of its inputs' dims.
DimBinding lowest_sizes(const Graph& g);
/// The least sizes of its inputs' dims at which its nodes fit each other, as far as some tries find them; else the
/// least.
DimBinding least_sizes(const Graph& g);
/// The highest sizes of its inputs' dims, and of open ones what prices take them for; the least if the nodes do not fit
/// each other at those. Nothing where an input's elements decide shapes.
DimBinding likely_sizes(const Graph& g);
/// What random cases take in turn: the least sizes; the highest, or lower ones where those would take the interpreter
/// long; and ones between. Throws Failure where elements of an input decide shapes, which random ones cannot.
DimBinding sizes_of_case(const Graph& g, uint64_t number);
/// What inputs say, each within its bounds. Throws Failure; `what` they are begins its sentence.
DimBinding sizes_of_data(const Interface& io, std::span<const Tensor> inputs, const std::string& what);
/// The graph at these sizes, which are those of `what`. Throws Failure where they break what it requires.
Graph at_sizes(const Graph& g, const DimBinding& sizes, const std::string& what);

}  // namespace cameo
