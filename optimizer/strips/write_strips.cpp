// write_strips: the steps of strips in place of those of the kernels as they were, and everything that names a step.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "optimizer/plan/kernel_table.h"
#include "optimizer/strips/strips.h"

namespace cameo::strips {
namespace {

class Rewriter {
 public:
  explicit Rewriter(Plan& plan) : plan_(plan), kernels_(plan.kernels) {}

  /// The steps of all strips in place of the last member's; those of the others and of borders are none any more.
  void write(const std::vector<Strips>& all) {
    const int steps = static_cast<int>(plan_.steps.size());
    std::vector<const Strips*> part_of(static_cast<size_t>(steps), nullptr);
    for (const Strips& s : all) {
      for (const Part& part : s.parts) part_of[part.step] = &s;
      for (const Link& link : s.chain.links)
        for (int border : link.borders) part_of[border] = &s;
    }
    std::vector<Step> written;
    std::vector<std::pair<int, int>> now(static_cast<size_t>(steps) + 1);  // by step: the first, and one past the last
    for (int i = 0; i < steps; ++i) {
      const int begin = static_cast<int>(written.size());
      const Strips* s = part_of[i];
      if (!s)
        written.push_back(plan_.steps[i]);
      else if (s->parts.back().step == i)
        for (size_t strip = 0; strip < static_cast<size_t>(s->count); ++strip) write_strip(*s, strip, written);
      now[i] = {begin, static_cast<int>(written.size())};
    }
    now[steps] = {static_cast<int>(written.size()), static_cast<int>(written.size()) + 1};
    for (int i = 0; i < steps; ++i)
      if (part_of[i]) now[i] = now[part_of[i]->parts.back().step];
    renumber(std::move(written), now, all);
    for (const Strips& s : all) plan_.scratch_bytes = larger(plan_.scratch_bytes, s.scratch_bytes);
    drop_unused_kernels(plan_);
  }

 private:
  void write_strip(const Strips& s, size_t strip, std::vector<Step>& to) {
    bool follows = false;
    const auto push = [&](const Part& part, std::vector<Ref> refs) {
      Step step = plan_.steps[part.step];
      step.kernel = number_of(part);
      step.refs = std::move(refs);
      step.chunks = 1;
      step.follows = std::exchange(follows, true);
      to.push_back(std::move(step));
    };
    for (size_t i = 0; i < s.parts.size(); ++i) {
      if (i < s.chain.links.size())
        for (const Part& border : s.borders[i])
          if (border.begin[strip]) push(border, {written_at(s, i, border, strip)});
      push(s.parts[i], refs_of(s, i, strip));
    }
  }

  /// Of its kernel, which all strips share.
  uint32_t number_of(const Part& part) {
    const auto [at, fresh] = numbers_.try_emplace(&part, 0);
    if (fresh) at->second = kernels_.intern(part.kernel);
    return at->second;
  }

  /// Where a part writes what stands in window i.
  static Ref written_at(const Strips& s, size_t i, const Part& part, size_t strip) {
    const Window& w = s.windows[i];
    const int64_t in_buffer = part.offset + *part.begin[strip] * part.reach.step;
    return {Base::Scratch, 0, w.at + w.room + in_buffer - w.begin[strip]};
  }

  std::vector<Ref> refs_of(const Strips& s, size_t i, size_t strip) const {
    const Member& m = s.chain.members[i];
    const Part& part = s.parts[i];
    std::vector<Ref> refs = plan_.steps[part.step].refs;
    for (size_t o = 0; o < refs.size(); ++o) refs[o].offset += *part.begin[strip] * m.reaches[o].step;
    if (i > 0) refs[s.chain.links[i - 1].operand] = {Base::Scratch, 0, s.windows[i - 1].at + s.windows[i - 1].room};
    if (i < s.chain.links.size()) refs[m.output] = written_at(s, i, part, strip);
    return refs;
  }

  /// Everything that names a step, or a buffer behind those that are gone.
  void renumber(std::vector<Step> written, const std::vector<std::pair<int, int>>& now,
                const std::vector<Strips>& all) {
    std::set<uint32_t> gone;
    for (const Strips& s : all)
      for (const Link& link : s.chain.links) gone.insert(link.buffer);
    std::erase_if(plan_.taps, [&](const Tap& t) { return t.at.base == Base::Arena && gone.contains(t.at.number); });
    for (Buffer& b : plan_.buffers) {
      b.first = now[b.first].first;
      b.last = now[b.last].second - 1;
    }
    for (size_t i = 0; i < plan_.steps.size(); ++i)  // a strip runs later than steps that were behind its first ones
      for (const Ref& r : plan_.steps[i].refs)
        if (r.base == Base::Arena) {
          Buffer& b = plan_.buffers[r.number];
          b.first = std::min(b.first, now[i].first), b.last = std::max(b.last, now[i].second - 1);
        }
    std::vector<Buffer> kept;
    std::vector<uint32_t> number;
    for (uint32_t b = 0; b < plan_.buffers.size(); ++b) {
      number.push_back(static_cast<uint32_t>(kept.size()));
      if (!gone.contains(b)) kept.push_back(std::move(plan_.buffers[b]));
    }
    const auto rename = [&](Ref& r) {
      if (r.base == Base::Arena) r.number = number[r.number];
    };
    for (Step& s : written) {
      std::ranges::for_each(s.refs, rename);
      if (s.jump >= 0) s.jump = now[s.jump].first;
    }
    for (Tap& t : plan_.taps) {
      rename(t.at);
      t.step = now[t.step].second - 1;
    }
    plan_.buffers = std::move(kept);
    plan_.steps = std::move(written);
  }

  Plan& plan_;
  KernelTable kernels_;
  std::map<const Part*, uint32_t> numbers_;
};

}  // namespace

void write_strips(Plan& plan, const std::vector<Strips>& all) { Rewriter(plan).write(all); }

}  // namespace cameo::strips
