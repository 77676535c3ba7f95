// Pooling over all of the spatial axes, which stay with extent 1.
#pragma once
#include "frontend/ops/window.h"

namespace cameo::ops {

inline void infer_global_pool(Infer& n) {
  if (n.rank() < 2)
    n.fail(Code::E0302, fmt::format("X is {}, it needs at least the axes N and C", to_string(n.type(0))));
  Shape s = n.shape();
  std::fill(s.begin() + 2, s.end(), Dim(1));
  n.output(0, n.dtype(), s);
}

struct GlobalWindow {
  std::vector<Expr> out, taps, at;
  Dim count = 1;
};
inline GlobalWindow global_window(const MeaningView& n) {
  GlobalWindow w{n.index(), {}, {}};
  w.at.assign(w.out.begin(), w.out.begin() + 2);
  for (int a = 2; a < n.rank(); ++a) {
    w.taps.push_back(var(n.shape()[a].extent()));
    w.at.push_back(w.taps.back());
  }
  w.count = product(n.shape(), 2);
  return w;
}

}  // namespace cameo::ops
