// Paths as they are compared, and files whose failure is a problem with a code.
#pragma once
#include <filesystem>

#include "codegen/build/files.h"

namespace cameo {

/// Absolute, without links and without a slash at its end; its last parts need not exist. Throws filesystem_error.
std::filesystem::path plain_path(const std::filesystem::path& path);
/// Whether both lead to one file, which need not exist.
bool are_same_file(const std::filesystem::path& one, const std::filesystem::path& other);
/// Whether a path is the folder or leads into it.
bool is_within(const std::filesystem::path& path, const std::filesystem::path& folder);

/// Throws CompileError (E0602) unless it is ok.
void require_written(const Status& status);

}  // namespace cameo
