// note_alignment: a compiler proves from where operands begin, and from offsets that are multiples, that a vector may
// be moved by one instruction. A processor does not care; a GPU traps.
#include <algorithm>

#include "optimizer/plan/plan.h"
#include "runtime/call.h"

namespace cameo {

void note_alignment(Plan& plan) {
  const auto multiple = [](int64_t bytes) { return bytes % rt::kAlignment == 0; };
  const bool slots = std::ranges::all_of(plan.steps, [&](const Step& s) {  // they swap, so all of them or none
    if (s.kind == StepKind::SetBase) return multiple(s.refs[0].offset);
    return s.kind != StepKind::Advance || multiple(s.bytes);
  });
  for (Kernel& k : plan.kernels) k.aligned.assign(k.operands.size(), true);
  for (const Step& s : plan.steps) {
    if (s.kind != StepKind::Kernel) continue;
    std::vector<bool>& aligned = plan.kernels[s.kernel].aligned;
    for (size_t i = 0; i < s.refs.size(); ++i)
      aligned[i] = aligned[i] && multiple(s.refs[i].offset) && (slots || s.refs[i].base != Base::Slot);
  }
}

}  // namespace cameo
