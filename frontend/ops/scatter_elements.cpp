// ScatterElements: each update goes to its own place but for one axis, where the index says.
#include "frontend/ops/scatter.h"

namespace cameo::ops {

Operator declare_scatter_elements() { return scatter::declare_elements("ScatterElements", {11, 13, 16, 18}); }

}  // namespace cameo::ops
