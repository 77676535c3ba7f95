// A built artifact as the verbs meet it: told from a model by its bytes, and started in this process's place.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "cli/compile.h"

namespace cameo {

/// An ELF file; a model is never one. Throws Failure where cameo has not built it: only artifacts are started.
bool is_artifact(const std::filesystem::path& file);

/// Becomes `file VERB ARGUMENTS..`; throws Failure when it cannot be started.
[[noreturn]] void become_artifact(const std::filesystem::path& file, const std::string& verb,
                                  const std::vector<std::string>& arguments);

/// The same of one that has no name of its own and may have no path: it is called `title`.
[[noreturn]] void become_artifact(const FileDescriptor& file, const std::string& title, const std::string& verb,
                                  const std::vector<std::string>& arguments);

/// The artifact of a loaded model, from the cache or built into it; where there can be no cache, a note says so.
/// Problems of the model are added to `diagnostics`, and there is none then.
FileDescriptor cached_artifact(const Model& model, const CompileOptions& options, Console& console,
                               Diagnostics& diagnostics);

}  // namespace cameo
