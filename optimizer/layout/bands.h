// Bands of an output: regions in which taps of a sum meet nothing but padding, and so are left out.
#pragma once
#include "optimizer/layout/regions.h"
#include "optimizer/target.h"

namespace cameo {

/// A dilated convolution cut along each axis where a tap enters or leaves the map, if that saves a quarter of its
/// products and more time than the kernels take to start: the middle one of nine regions may have a single tap left.
/// Each has panels of its own, so that weights take up to three times the memory; one region where that is too much.
std::vector<OutputPart> split_bands(const Graph& g, const OutputExpr& out, const Target& target);

}  // namespace cameo
