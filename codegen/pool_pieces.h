// The weight pool as bytes: its tensors one after the other, gaps filled so that each starts where the plan says.
#pragma once
#include "codegen/build/weight_slot.h"
#include "optimizer/plan/plan.h"

namespace cameo {

Pieces pool_pieces(const WeightPool& weights);

}  // namespace cameo
