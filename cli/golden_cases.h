// What `--golden` embeds: cases read from a folder or made of random inputs, with their tolerances.
#pragma once
#include <vector>

#include "cli/compile.h"

namespace cameo {

std::vector<GoldenCase> golden_cases(const Model& model, const CompileOptions& options, Console& console);

}  // namespace cameo
