// NAME.h: the C ABI and the one function that the artifact exports, in one file.
#pragma once
#include <filesystem>
#include <string>

#include "optimizer/plan/plan.h"

namespace cameo {

std::string model_header(const Module& m);

/// Where that of an object or an archive stands.
std::filesystem::path header_beside(const std::filesystem::path& library, const std::string& name);
/// Throws CompileError (E0602) where what has that name is no such header.
void require_header_place(const std::filesystem::path& header);

}  // namespace cameo
