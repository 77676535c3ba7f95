// In place: an output takes over the buffer of an operand that nothing reads afterwards, where each element of the
// output is computed from the one operand element that stands at its own address, if from any. Threads and lanes then
// never read what another one wrote.
#include <algorithm>

#include "optimizer/choose/family.h"

namespace cameo {
namespace {

bool reads(Expr root, uint32_t operand) {
  bool found = false;
  std::vector<Expr> roots{root};
  visit(roots, [&](Expr e) { found |= e.op() == Op::Read && e.operand() == operand; });
  return found;
}

/// The places of buffers while some become one.
class Merger {
 public:
  explicit Merger(Plan& plan) : plan_(plan), into_(plan.buffers.size()) {
    for (uint32_t b = 0; b < into_.size(); ++b) into_[b] = b;
  }
  void run() {
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      const Step& s = plan_.steps[i];
      if (s.kind != StepKind::Kernel) continue;
      for (uint32_t operand = 0; operand < s.refs.size(); ++operand)
        if (merge(static_cast<int>(i), s, plan_.kernels[s.kernel], operand)) break;
    }
    renumber();
  }

 private:
  bool merge(int step, const Step& s, const Kernel& k, uint32_t operand) {
    if (!may_overwrite(k, operand)) return false;
    const Ref &from = s.refs[operand], &to = s.refs[k.stores[0].operand];
    if (from.base != Base::Arena || to.base != Base::Arena || from.offset != to.offset) return false;
    uint32_t dying = into_[from.number], made = to.number;
    Buffer &in = plan_.buffers[dying], &out = plan_.buffers[made];
    if (in.first >= step || in.last != step || out.first != step || in.bytes > 2 * out.bytes || in.size != out.size)
      return false;
    for (uint32_t other = 0; other < s.refs.size(); ++other) {
      const Ref& r = s.refs[other];
      bool same = r.base == Base::Arena && into_[r.number] == dying;
      if (same && !(r.offset == from.offset && may_overwrite(k, other))) return false;
    }
    in.bytes = std::max(in.bytes, out.bytes);
    in.last = out.last;
    if (!out.held.empty() && out.held != in.held) in.held += (in.held.empty() ? "" : ", ") + out.held;
    into_[made] = dying;
    return true;
  }
  void renumber() {
    std::vector<uint32_t> number(into_.size());
    std::vector<Buffer> kept;
    for (uint32_t b = 0; b < into_.size(); ++b) {
      if (into_[b] == b) {
        number[b] = static_cast<uint32_t>(kept.size());
        kept.push_back(std::move(plan_.buffers[b]));
      } else {
        number[b] = number[into_[b]];  // a buffer becomes one that was made before it
      }
    }
    plan_.buffers = std::move(kept);
    auto rename = [&](Ref& r) {
      if (r.base == Base::Arena) r.number = number[r.number];
    };
    for (Step& s : plan_.steps) std::ranges::for_each(s.refs, rename);
    for (Tap& t : plan_.taps) rename(t.at);
  }

  Plan& plan_;
  std::vector<uint32_t> into_;  // by buffer: the one that it has become a part of, or itself
};

}  // namespace

bool may_overwrite(const Kernel& k, uint32_t operand) {
  if (k.stores.size() != 1 || !k.family->writes_once()) return false;
  const Store& s = k.stores[0];
  if (operand == s.operand || !s.guard.is_const(1)) return false;
  if (byte_size(k.operands[operand]) != byte_size(k.operands[s.operand])) return false;
  if (k.accumulated && reads(k.accumulated, operand)) return false;
  bool own = !reads(s.offset, operand);
  std::vector<Expr> roots{s.value};
  visit(roots, [&](Expr e) { own &= e.op() != Op::Read || e.operand() != operand || e.offset() == s.offset; });
  return own;
}

void overwrite_operands(Plan& plan) { Merger(plan).run(); }

}  // namespace cameo
