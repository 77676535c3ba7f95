// See blocks.h.
#include "optimizer/clusters/blocks.h"

#include <algorithm>

#include "frontend/ir/expr_algebra.h"

namespace cameo {
namespace {

bool is_division(Expr e) { return (e.op() == Op::FloorDiv || e.op() == Op::Mod) && !is_size(e); }

}  // namespace

bool divides(Expr value) {
  bool found = false;
  std::vector<Expr> roots{value};
  visit(roots, [&](Expr e) { found |= is_division(e); });
  return found;
}

std::vector<int64_t> blocks_of(const OutputExpr& out) {
  constexpr size_t kMostPlaces = 16;  // of a block: each is a kernel of its own
  std::vector<int64_t> blocks(out.index.size(), 1);
  const auto axis_of = [&](Expr e) { return std::ranges::find(out.index, e) - out.index.begin(); };
  std::vector<Expr> roots{out.value};
  visit(roots, [&](Expr e) {  // remainders that count within another axis
    if (e.op() != Op::Load) return;
    for (Expr index : e.index()) {
      const Affine terms = affine(index);
      if (std::ranges::none_of(out.index, [&](Expr v) { return !terms.stride_of(v).is_static(0); })) continue;
      for (const Affine::Term& t : terms.terms)
        if (is_division(t.term) && t.term.op() == Op::Mod && t.term.arg(1).is_const())
          if (const auto axis = axis_of(t.term.arg(0)); axis < std::ssize(out.index))
            blocks[static_cast<size_t>(axis)] = t.term.arg(1).int_value();
    }
  });
  bool are_all = true;
  visit(roots, [&](Expr e) {
    if (!is_division(e)) return;
    const auto axis = axis_of(e.arg(0));
    are_all &= axis < std::ssize(out.index) && e.arg(1).is_const(blocks[static_cast<size_t>(axis)]) &&
               simplify_index(mod(e.arg(0).extent(), e.arg(1))).is_const(0);
  });
  size_t places = 1;
  for (int64_t block : blocks) places *= static_cast<size_t>(std::min<int64_t>(block, kMostPlaces + 1));
  return are_all && places > 1 && places <= kMostPlaces ? blocks : std::vector<int64_t>{};
}

}  // namespace cameo
