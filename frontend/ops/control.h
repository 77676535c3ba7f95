// What the control operators share: the common type of two values that stand for one.
#pragma once
#include <fmt/format.h>

#include "frontend/ir/operator.h"

namespace cameo::ops {

inline Dim join(Infer& n, const Dim& a, const Dim& b) {
  if (a == b) return a;
  return n.fresh(a.upper() == kOpen || b.upper() == kOpen ? kOpen : std::max(a.upper(), b.upper()));
}

inline Type join(Infer& n, const Type& a, const Type& b) {
  if (a.kind == Kind::Error || b.kind == Kind::Error) return Type::error();
  if (a == b) return a;
  if (a.kind != b.kind || a.dtype != b.dtype || a.kind != Kind::Tensor)
    n.fail(Code::E0301, fmt::format("one output is {} on one way and {} on the other", to_string(a), to_string(b)));
  if (a.rank() != b.rank())
    n.fail(Code::E0402,
           fmt::format("one output is {} on one way and {} on the other: two ranks", to_string(a), to_string(b)));
  Shape s;
  for (int i = 0; i < a.rank(); ++i) s.push_back(join(n, a.shape[i], b.shape[i]));
  return Type(a.dtype, s);
}

}  // namespace cameo::ops
