// HannWindow: (1 - cos(2 pi n / N)) / 2.
#include "frontend/ops/window_function.h"

namespace cameo::ops {

Operator declare_hann_window() {
  return declare_cosine_window("HannWindow", [](const MeaningView& n) { return cosine_window(n, 0.5, 0.5, 0); });
}

}  // namespace cameo::ops
