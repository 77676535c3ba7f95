// What a build writes, and where. It is checked before minutes are spent: everything can be written, and none of it
// takes the place of what the build reads.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "cli/compile.h"

namespace cameo {

/// `x.so` of `x.so.1` and `x.so.1.2`; any other path as it is.
std::filesystem::path without_version(const std::filesystem::path& path);
/// OUTPUT.ENDING; of `x.so`, `x.a` and `x.o` x.ENDING. The dot is a part of the ending.
std::filesystem::path beside_output(const CompileOptions& options, std::string_view ending);
/// NAME.h, which programs and shared libraries have none of.
std::optional<std::filesystem::path> header_of_output(const CompileOptions& options);
/// The output is a pipe, a terminal or another device, or this program's stdout: nothing can stand beside it.
bool is_no_file(const CompileOptions& options);
/// Nothing else may be printed there then.
bool goes_to_stdout(const CompileOptions& options);

/// Throws Failure where an output would take the place of this file, which is `what`.
void require_kept(const CompileOptions& options, const std::filesystem::path& file, const std::string& what);
/// Throws Failure, or CompileError (E0602).
void require_writable(const CompileOptions& options);
/// Throws Failure where an output would take the place of a file that the model was read from.
void require_kept(const CompileOptions& options, const std::vector<MappedFile>& files);

}  // namespace cameo
