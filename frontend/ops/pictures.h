// What the operators on pictures in files share: the decoders are those that artifacts have.
#pragma once
#include "frontend/ir/diagnostic.h"
#include "frontend/ir/operator.h"
#include "runtime/kernels/image/decoder.h"

namespace cameo::ops {

inline rt::Bytes file_of(const Tensor& x) { return {x.as<uint8_t>().data(), x.size()}; }
inline void require_picture(rt::Wrong wrong) {
  if (wrong) throw CompileError(Code::E0304, wrong);
}
inline rt::PictureSize size_of_picture(const Tensor& x) {
  rt::PictureSize size;
  require_picture(rt::declare_picture(file_of(x), &size));
  return size;
}

}  // namespace cameo::ops
