// Golden cases: inputs, the outputs that are expected, and how far an artifact's may be from them, by the interpreter's
// measure of error (frontend/reference/compare.h).
#pragma once
#include <string>
#include <vector>

#include "codegen/print_module.h"
#include "frontend/reference/interpret.h"

namespace cameo {

/// Up to so many floating-point operations the reference runs unasked.
constexpr double kMostOperations = 10e9;

/// Floats in [0, 1), integers 0 or 1: what indices, lengths and masks bear too; strings `text` or none. One seed, one
/// tensor.
std::vector<Tensor> random_inputs(const Interface& io, uint64_t seed);

/// The case with its tensors as an artifact has them, too (`held`).
GoldenCase with_held(GoldenCase c);

/// A case that carries its tolerances: an artifact's output passes within the rule's tolerance of the unrounded run,
/// and so within that plus the expected values' own error of those. Without `expected` the rounded run is what is
/// expected. `narrow`: the graph as it was narrowed, if it was, whose rounding is that of the artifact. Throws
/// CompileError where the graph cannot run on the inputs, or the expected values are no result of it.
GoldenCase golden_case(const Graph& g, std::string name, std::vector<Tensor> inputs,
                       const std::vector<Tensor>* expected = nullptr, const Graph* narrow = nullptr);

}  // namespace cameo
