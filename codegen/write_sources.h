// `-o dir/`: everything an artifact is made of as readable files, which g++ or clang builds without cameo. The folder
// appears whole or not at all; one that cameo wrote before is replaced, any other is left alone.
#pragma once
#include <filesystem>
#include <vector>

#include "codegen/print_module.h"

namespace cameo {

/// Throws CompileError (E0602) where a folder cannot be written there.
void require_folder(const std::filesystem::path& folder);

/// Throws CompileError (E0602). `weights`: the file that has them; one in the folder is written with it. `go_on` is
/// asked between files; false leaves nothing behind.
void write_sources(const Module& m, const EmittedModule& text, const std::vector<GoldenCase>& goldens,
                   const std::filesystem::path& folder, const WeightsFile* weights, const std::function<bool()>& go_on);

}  // namespace cameo
