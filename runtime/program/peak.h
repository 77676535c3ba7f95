// What this machine reaches at most, measured in some 30 ms with the threads that a model uses.
#pragma once

#include "runtime/program/session.h"

namespace rt::program {

struct Peak {
  double flops = __builtin_nan("");  // a nanosecond: GFLOP/s, of f32 multiply-adds
  double bytes =
      __builtin_nan("");  // a nanosecond: GB/s, read from so much memory as the model's weights and arena take
};

// NaN where a GPU runs the model, or code without multiply-adds.
Peak measure_peak(Tool& tool, const cameo_context& context);

}  // namespace rt::program
