// take_base_offsets: the least of a kernel's offsets goes into its step's Refs, so that kernels which differ only in
// where their operands begin (windows of a concatenation, slices) are one function.
#include <algorithm>

#include "optimizer/lower/lower_kernel.h"

namespace cameo {
namespace {

Expr less(Expr offset, int64_t base_offset) {
  if (base_offset == 0) return offset;
  Affine a = affine(offset);
  a.constant -= base_offset;
  return from_affine(a);
}

}  // namespace

std::vector<int64_t> base_offsets_of(const Kernel& k) {
  std::vector<int64_t> base_offsets(k.operands.size(), INT64_MAX);
  each_offset(k, [&](uint32_t operand, Expr offset, Expr guard) {
    // what a guard keeps out of a small operand may begin behind its end, too
    const bool is_inside = guard.is_const(1) || !is_symbolic(offset);
    base_offsets[operand] = std::min(base_offsets[operand], is_inside ? static_cast<int64_t>(range_of(offset).low) : 0);
  });
  for (int64_t& o : base_offsets)
    o = o == INT64_MAX ? 0 : std::max<int64_t>(o, 0);  // what is guarded may begin before its operand
  return base_offsets;
}

std::vector<int64_t> take_base_offsets(Kernel& k) {
  std::vector<int64_t> base_offsets = base_offsets_of(k);
  if (std::ranges::all_of(base_offsets, [](int64_t o) { return o == 0; })) return base_offsets;
  auto moved = [&](Expr root) {
    return rewrite(root, [&](Expr e) {
      if (e.op() != Op::Read || base_offsets[e.operand()] == 0) return e;
      const Expr offset = less(e.offset(), base_offsets[e.operand()]);
      return read_at(e.operand(), e.type(), offset, e.guard(), e.outside(), e.blamed());
    });
  };
  for (Store& s : k.stores) s.offset = less(s.offset, base_offsets[s.operand]);
  each_expression(k, [&](Expr& e) { e = moved(e); });
  return base_offsets;
}

}  // namespace cameo
