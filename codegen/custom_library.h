// The file of `--custom`, compiled and loaded into this process: from here on its operators are known.
#pragma once
#include <filesystem>
#include <vector>

#include "frontend/custom/custom_operator.h"

namespace cameo {

/// Adds the operators of one more file to those of others. Its code runs in this process, now and while models are
/// compiled. Throws CompileError: E0101, E0701 with the compiler's words, E0702.
void load_custom_file(const std::filesystem::path& file, std::vector<const Operator*>& all);

}  // namespace cameo
