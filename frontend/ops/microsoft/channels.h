// Images whose channels are their last axis, for operators that take them as axis 1.
#pragma once
#include <algorithm>
#include <numeric>

#include "frontend/ir/build.h"

namespace cameo::ops {

/// [N, spatial.., C] to [N, C, spatial..]
inline ValueId channels_first(Build& b, ValueId x) {
  if (b.type(x).rank() < 3) throw CompileError(Code::E0302, to_string(b.type(x)) + " is no image with channels");
  std::vector<int64_t> perm(static_cast<size_t>(b.type(x).rank()));
  std::iota(perm.begin(), perm.end(), 0);
  std::rotate(perm.begin() + 1, perm.end() - 1, perm.end());
  return b.transpose(x, perm);
}
/// [N, C, spatial..] to [N, spatial.., C]
inline ValueId channels_last(Build& b, ValueId x) {
  std::vector<int64_t> perm(static_cast<size_t>(b.type(x).rank()));
  std::iota(perm.begin(), perm.end(), 0);
  std::rotate(perm.begin() + 1, perm.begin() + 2, perm.end());
  return b.transpose(x, perm);
}

/// Attributes of the node that the operator it stands for has too.
inline Attrs attributes_of(const NodeView& n, std::initializer_list<std::string_view> names) {
  Attrs attrs;
  for (std::string_view name : names)
    if (auto a = n.node().attrs.find(name); a != n.node().attrs.end()) attrs.insert(*a);
  return attrs;
}

}  // namespace cameo::ops
