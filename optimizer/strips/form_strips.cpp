// form_strips: expand, depthwise, project: what stands between such kernels is larger than the caches, so each would
// write it to memory and the next one read it from there. In strips the kernels of a chain take a few rows in turn, and
// what they hand to each other stands in the thread's own memory, which its second cache holds ("Fused-layer CNN
// accelerators", 2016, on processors).
//
//   rows of the last kernel     0 .. 3      4 .. 7      8 .. 11      an equal share for each strip
//   rows of the one before     -1 .. 4      3 .. 8      7 .. 12      all that those read: the ends are computed twice
//
// A strip is a step for each kernel, for as many indices of its outermost axis as the strip needs at most; at the first
// and the last row it is moved inwards. Borders are filled in each strip that has them. Strips need nothing of each
// other, so threads share them.
#include "optimizer/strips/strips.h"

namespace cameo {

void form_strips(Plan& plan) {
  if (plan.target.is_gpu() || !plan.target.forms_strips) return;
  const std::vector<strips::Strips> all = strips::divide(plan, strips::find_chains(plan));
  if (!all.empty()) strips::write_strips(plan, all);
}

}  // namespace cameo
