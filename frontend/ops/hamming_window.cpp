// HammingWindow: 25/46 - 21/46 cos(2 pi n / N).
#include "frontend/ops/window_function.h"

namespace cameo::ops {

Operator declare_hamming_window() {
  return declare_cosine_window("HammingWindow",
                               [](const MeaningView& n) { return cosine_window(n, 25. / 46, 21. / 46, 0); });
}

}  // namespace cameo::ops
