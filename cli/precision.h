// How far the results of a build of `--precision=bf16` are from those of f32, for the line that `build` prints.
#pragma once
#include "cli/compile.h"

namespace cameo {

/// On random inputs. Small models are measured by the interpreter, whose exact run is what is right; larger ones by
/// their artifacts, for which that of f32 is built into the cache.
PrecisionError measure_precision(const Model& model, const CompileOptions& options, Console& console);

}  // namespace cameo
