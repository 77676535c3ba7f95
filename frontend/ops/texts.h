// What operators on strings share: their kernels take all elements, one thread does it all, on the processor.
#pragma once
#include <functional>

#include "frontend/ir/build.h"
#include "frontend/ir/string_codes.h"

namespace cameo::ops {

/// What is written as text and read from it; other numbers are cast to or from one of them.
inline constexpr DTypes kTextNumbers{DType::f32, DType::f64, DType::i64, DType::u64};

/// Its first number is how many elements input 0 has.
inline Opaque text_kernel(const MeaningView& n, std::string_view name, std::vector<Expr> numbers = {}) {
  Opaque kernel{name};
  kernel.numbers = {product(n.shape()).extent()};
  kernel.numbers.insert(kernel.numbers.end(), numbers.begin(), numbers.end());
  kernel.host_only = true;
  return kernel;
}

/// A constant.
inline ValueId texts(Build& b, const std::vector<std::string>& list) {
  return b.graph().constant(Tensor::of_strings({std::ssize(list)}, list));
}
inline ValueId one_text(Build& b, const std::string& text) { return b.squeeze(texts(b, {text}), {0}); }

inline Tensor map_texts(const Tensor& x, const std::function<std::string(std::string_view)>& f) {
  Tensor y(DType::str, x.dims());
  for (int64_t i = 0; i < x.size(); ++i) y.set_int(i, code_of(f(x.text(i))));
  return y;
}

}  // namespace cameo::ops
