// The name of an artifact in the cache: equal where the artifact's bytes would be, another where anything that reaches
// them is: the bytes of every file that the model was read from (wherever in it a tensor stands), every flag, and this
// very compiler. What the files are called is no part of it.
#pragma once
#include <string>

#include "cli/compile.h"

namespace cameo {

/// 32 hexadecimal digits. Throws CompileError when this program's own file cannot be read.
std::string artifact_key(const Model& model, const CompileOptions& options);

}  // namespace cameo
