// `--bucket`: the sizes that a model gets plans of their own for, beside the one for all sizes.
#pragma once
#include <string>
#include <vector>

#include "frontend/import/import_onnx.h"
#include "frontend/ir/bind_dims.h"

namespace cameo {

/// Of `seq=16,64` two; of `batch=1,8,seq=16,64` the four combinations; several flags add up. Those that name most sizes
/// come first, as a run takes the first one that fits. Throws Failure.
std::vector<DimBinding> read_buckets(const std::vector<std::string>& flags);

/// Throws CompileError where the model has no size of such a name, or not one so large or small.
void require_bucket(const Model& model, const DimBinding& bucket);

}  // namespace cameo
