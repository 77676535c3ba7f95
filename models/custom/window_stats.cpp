// WindowStats of the domain `example`: over windows of the last axis, the mean and, where it is asked for, the place of
// the largest element; `weights` may be left out. It shows a function over whole tensors: two outputs, attributes, an
// optional input, scratch, sizes that only a run knows, and an axis that threads share.
//   cameo build model.onnx --custom window_stats.cpp
#include <cameo/op.h>

using namespace cameo::op;

/// [rows, length] -> [rows, (length - window) / stride + 1]
static void window_shape(Shape& s) {
  if (s.rank(0) != 2) s.fail("takes a matrix");
  const int64_t window = s.integer("window"), stride = s.integer("stride");
  if (window < 1 || stride < 1) s.fail("has no `window` or no `stride`");
  s.require(s.dim(0, 1) >= window, "has windows that are longer than a row");
  if (s.has(1)) s.require(s.rank(1) == 1 && s.dim(1, 0) == window, "takes a weight for each element of a window");
  const Dims dims = Dims::of(s.dim(0, 0), (s.dim(0, 1) - window) / stride + 1);
  s.output(0, f32, dims);
  if (s.has_output(1)) s.output(1, i64, dims);
  s.scratch(window * 4);
}

static void window_stats(const Run& r) {
  const Tensor x = r.in(0), mean = r.out(0);
  const int64_t window = r.integer("window"), stride = r.integer("stride"), columns = mean.dims[1];
  float* const weights = static_cast<float*>(r.scratch);
  for (int64_t i = 0; i < window; ++i) weights[i] = r.has(1) ? r.in(1).as<float>()[i] : 1.0f;
  for (int64_t row = r.begin; row < r.end; ++row)  // this thread's rows
    for (int64_t column = 0; column < columns; ++column) {
      const float* const from = x.as<float>() + row * x.dims[1] + column * stride;
      float sum = 0;
      int64_t largest = 0;
      for (int64_t i = 0; i < window; ++i) {
        sum += from[i] * weights[i];
        if (from[i] > from[largest]) largest = i;
      }
      mean.as<float>()[row * columns + column] = sum / static_cast<float>(window);
      if (r.has_output(1)) r.out(1).as<int64_t>()[row * columns + column] = column * stride + largest;
    }
}

CAMEO_OPERATORS({.name = "WindowStats",
                 .domain = "example",
                 .inputs = {{"x", f32}, {"weights", f32, optional}},
                 .outputs = {{"mean"}, {"place", i64, optional}},
                 .attributes = {{"window", 3}, {"stride", 1}},
                 .shape = window_shape,
                 .run = window_stats,
                 .split = 0})
