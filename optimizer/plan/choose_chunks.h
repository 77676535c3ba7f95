// How many chunks a kernel's work is split into: what the threads of a processor share, or the blocks of a GPU's grid.
#pragma once
#include "optimizer/plan/plan.h"

namespace cameo {

int chunks_of(const Kernel& k, const Target& target);

}  // namespace cameo
