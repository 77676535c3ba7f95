// MaxPool: a Max over the taps; Indices is the flat position in X (of X with its spatial axes reversed for
// storage_order 1) of the first tap that holds the maximum.
#include "frontend/ops/flat.h"
#include "frontend/ops/window.h"

namespace cameo::ops {
namespace {

void infer_max_pool(Infer& n) {
  Shape s = pooled_shape(n, pool_window(n));
  n.output(0, n.dtype(0), s);
  n.output(1, DType::i64, s);
}

OutputExpr maximum(const MeaningView& n, const Window& w) {
  auto out = n.index(0), taps = taps_of(w);
  Expr x = n.load(0, window_index(w, out, taps), lowest(n.dtype(0)));
  return {out, fold_all(FoldKind::Max, taps, x)};
}

OutputExpr indices(const MeaningView& n, const Window& w) {
  auto out = n.index(1);
  Shape kernel;
  for (const WindowAxis& a : w) kernel.push_back(a.kernel);
  Expr tap = var(product(kernel).extent());
  auto at = window_index(w, out, unflatten(tap, kernel));
  Expr x = n.load(0, at, lowest(n.dtype(0)));
  if (is_integer(n.dtype(0))) {  // the lowest integer is a value like any other: padding must lose against it
    Expr valid = boolean(true);
    for (size_t a = 0; a < w.size(); ++a) valid = logical_and(valid, inside(at[2 + a], w[a].in));
    x = select(valid, cast(x, DType::i32), lowest(DType::i32));
  }
  Expr best = fold(FoldKind::ArgMax, tap, x);
  auto found = window_index(w, out, unflatten(best, kernel));
  for (size_t a = 0; a < w.size(); ++a)  // of nothing but -inf the first tap may be one of the padding
    found[2 + a] = max(min(found[2 + a], w[a].in.extent() - integer(1)), integer(0));
  Shape order = n.shape(0);
  if (n.attr_int("storage_order")) {
    std::reverse(order.begin() + 2, order.end());
    std::reverse(found.begin() + 2, found.end());
  }
  return {out, flatten(found, order)};
}

Meaning max_pool(const MeaningView& n) {
  Window w = pool_window(n);
  Compute c{{maximum(n, w)}};
  if (n.output_count() > 1) c.outputs.push_back(indices(n, w));
  return c;
}

}  // namespace

Operator declare_max_pool() {
  return {.name = "MaxPool",
          .since = {1, 8, 10, 11, 12, 22},
          .inputs = {{"X", kFloats | DTypes(DType::i8, DType::u8)}},
          .outputs = {{"Y"}, {"Indices", OutputSpec::Optional}},
          .attributes = {{"auto_pad", "NOTSET"},
                         {"ceil_mode", 0, 10},
                         {"dilations", AttrKind::Ints, 10},
                         {"kernel_shape", AttrKind::Ints},
                         {"pads", AttrKind::Ints},
                         {"storage_order", 0, 8},
                         {"strides", AttrKind::Ints}},
          .infer = infer_max_pool,
          .meaning = max_pool};
}

}  // namespace cameo::ops
