// What builds a folder of sources: a Makefile and a CMakeLists.txt with the flags that the code needs.
#pragma once
#include <string>

#include "codegen/print_module.h"

namespace cameo {

std::string source_makefile(const Module& m, const EmittedModule& text);
std::string source_cmake(const Module& m, const EmittedModule& text, const WeightsFile* weights);

}  // namespace cameo
