// See blocks.h.
#include "optimizer/clusters/blocks.h"

#include <algorithm>

#include "frontend/ir/expr_algebra.h"

namespace cameo {

std::vector<int64_t> blocks_of(const OutputExpr& out) {
  constexpr size_t kMostPlaces = 16;  // of a block: each is a kernel of its own
  std::vector<int64_t> blocks(out.index.size(), 1);
  bool are_blocks = true;
  std::vector<Expr> roots{out.value};
  visit(roots, [&](Expr e) {
    if ((e.op() != Op::FloorDiv && e.op() != Op::Mod) || is_size(e)) return;
    const auto axis = std::ranges::find(out.index, e.arg(0)) - out.index.begin();
    if (axis == std::ssize(out.index) || !e.arg(1).is_const()) return void(are_blocks = false);
    int64_t& block = blocks[static_cast<size_t>(axis)];
    const int64_t length = e.arg(1).int_value();
    are_blocks &=
        length > 1 && (block == 1 || block == length) && simplify_index(mod(e.arg(0).extent(), e.arg(1))).is_const(0);
    block = length;
  });
  size_t count = 1;
  for (int64_t block : blocks) count *= static_cast<size_t>(std::min<int64_t>(block, kMostPlaces + 1));
  return are_blocks && count > 1 && count <= kMostPlaces ? blocks : std::vector<int64_t>{};
}

}  // namespace cameo
