// A built artifact as the verbs meet it: told from a model by its bytes, and started in this process's place.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "cli/compile.h"

namespace cameo {

/// An ELF file; a model is never one.
bool is_artifact(const std::filesystem::path& file);

/// Becomes `file VERB ARGUMENTS..`; throws Failure when it cannot be started.
[[noreturn]] void become_artifact(const std::filesystem::path& file, const std::string& verb,
                                  const std::vector<std::string>& arguments);

std::filesystem::path cache_folder();
/// The artifact of a loaded model, from the cache or built into it. Problems of the model are added to `diagnostics`,
/// and the path is then empty.
std::filesystem::path cached_artifact(const Model& model, CompileOptions options, Console& console,
                                      Diagnostics& diagnostics);

}  // namespace cameo
