// The weight pool as bytes: its tensors one after the other, gaps filled so that each starts where the plan says.
#pragma once
#include "codegen/build/weight_slot.h"
#include "optimizer/plan/plan.h"

namespace cameo {

/// All of the pool; of a module whose large weights are made up what those leave.
Pieces pool_pieces(const Module& m);

/// A tensor that the artifact makes up, with the mean and the deviation of the real one.
struct MadeUpTensor {
  int64_t offset, count;  // bytes; elements
  DType dtype;            // f32, f16 or bf16
  float mean, deviation;
};
std::vector<MadeUpTensor> made_up_tensors(const Module& m);  // by offset

}  // namespace cameo
