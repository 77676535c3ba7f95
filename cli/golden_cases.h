// What `--golden` embeds: cases read from a folder or made of random inputs, with their tolerances.
#pragma once
#include <string_view>
#include <vector>

#include "cli/compile.h"

namespace cameo {

/// `random:N` and the like; all else is a folder.
bool is_random(std::string_view golden);

std::vector<GoldenCase> golden_cases(const Model& model, const CompileOptions& options, Console& console);

}  // namespace cameo
