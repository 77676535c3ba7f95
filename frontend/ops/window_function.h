// The cosine windows: a sum of a0 - a1 cos(x) + a2 cos(2x) over one turn.
#pragma once
#include <numbers>

#include "frontend/ops/signal.h"

namespace cameo::ops {

inline void infer_cosine_window(Infer& n) {
  auto size = elements(n, 0);
  if (size.size() != 1)
    n.fail(Code::E0302, fmt::format("`size` is {}, it must hold one element", to_string(n.type(0))));
  if (size[0].is_const() && size[0].int_value() < 0)
    n.fail(Code::E0304, fmt::format("`size` is {}", size[0].int_value()));
  n.output(0, output_datatype(n), {dim_of(size[0])});
}

inline Meaning cosine_window(const MeaningView& n, double a0, double a1, double a2) {
  auto out = n.index();
  Expr size = n.out_shape()[0].extent(), over = n.attr_int("periodic") ? size : size - integer(1);
  Expr x = cast(out[0], DType::f64) * (2 * std::numbers::pi) / cast(over, DType::f64);
  Expr y = a0 - cos(x) * a1;
  if (a2 != 0) y = y + cos(x * 2.) * a2;
  return Compute{{{out, cast(y, n.out_dtype())}}};
}

inline Operator declare_cosine_window(std::string_view name, Meaning (*meaning)(const MeaningView&)) {
  return {.name = name,
          .since = {17},
          .inputs = {{"size", kIndices}},
          .outputs = {{"output"}},
          .attributes = {{"output_datatype", 1}, {"periodic", 1}},
          .infer = infer_cosine_window,
          .meaning = meaning};
}

}  // namespace cameo::ops
