// Scatter: the name that ScatterElements had up to opset 10.
#include "frontend/ops/scatter.h"

namespace cameo::ops {

Operator declare_scatter() { return scatter::declare_elements("Scatter", {9, 11}); }

}  // namespace cameo::ops
