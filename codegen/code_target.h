// What the compiler is told of a processor.
#pragma once

#include "codegen/build/compile.h"
#include "optimizer/target.h"

namespace cameo {

CodeTarget code_target(const Target& t);

}  // namespace cameo
