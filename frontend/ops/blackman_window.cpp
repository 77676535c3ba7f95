// BlackmanWindow: 0.42 - 0.5 cos(2 pi n / N) + 0.08 cos(4 pi n / N).
#include "frontend/ops/window_function.h"

namespace cameo::ops {

Operator declare_blackman_window() {
  return declare_cosine_window("BlackmanWindow",
                               [](const MeaningView& n) { return cosine_window(n, 0.42, 0.5, 0.08); });
}

}  // namespace cameo::ops
