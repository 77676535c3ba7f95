// find_chains: kernels that can be narrowed to a few rows, of which each is the only reader of what another one makes.
#include <algorithm>
#include <map>

#include "optimizer/choose/family.h"
#include "optimizer/lower/lower_kernel.h"
#include "optimizer/strips/strips.h"

namespace cameo::strips {
namespace {

constexpr int64_t kPartOfCache = 2;  // links that take less than this part of the second cache stay in it anyhow

/// The lowest and the highest offset of each operand; nullopt where one is not known.
std::optional<std::vector<std::pair<int64_t, int64_t>>> ranges_of(const Kernel& k) {
  std::vector<std::pair<int64_t, int64_t>> ranges(k.operands.size(), {INT64_MAX, INT64_MIN});
  bool known = true;
  each_offset(k, [&](uint32_t operand, Expr offset, Expr) {
    const Interval range = range_of(offset);
    known &= range.known();
    auto& [low, high] = ranges[operand];
    low = std::min(low, static_cast<int64_t>(range.low)), high = std::max(high, static_cast<int64_t>(range.high));
  });
  return known ? std::optional(ranges) : std::nullopt;
}

bool is_border(const Kernel& k) {
  return k.operands.size() == 1 && !k.node && !k.accumulated &&
         std::ranges::all_of(k.stores, [](const Store& s) { return s.value.is_const() && s.guard.is_const(1); });
}

class Finder {
 public:
  explicit Finder(const Plan& plan) : plan_(plan) {
    find_members();
    find_links();
  }

  std::vector<Chain> chains() const {
    std::vector<Chain> all;
    for (const auto& [maker, to] : next_) {
      if (before_.contains(maker)) continue;
      Chain c;
      for (int step = maker;; step = next_.at(step).first) {
        c.members.push_back(members_.at(step));
        if (!next_.contains(step)) break;
        c.links.push_back(next_.at(step).second);
      }
      all.push_back(std::move(c));
    }
    return all;
  }

 private:
  void find_members() {
    for (int i = 0; i < std::ssize(plan_.steps); ++i) {
      const Step& s = plan_.steps[i];
      if (s.kind != StepKind::Kernel || s.size) continue;
      const Kernel& k = kernel_of(plan_, i);
      if (!k.family->computes_strips() || k.on_host || k.stores.size() != 1 || !k.stores[0].guard.is_const(1)) continue;
      if (auto reaches = reaches_of(k))
        members_[i] = {i, k.axes[0].extent().int_value(), std::move(*reaches), k.stores[0].operand};
    }
  }

  /// Steps between which no other row is than kernels, and to none of which a row jumps, have one number.
  std::vector<int> segments() const {
    const std::vector<Step>& steps = plan_.steps;
    std::vector<bool> begins(steps.size() + 1);
    for (size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].jump >= 0) begins[static_cast<size_t>(steps[i].jump)] = true;
      if (steps[i].kind != StepKind::Kernel) begins[i] = begins[i + 1] = true;
    }
    std::vector<int> numbers;
    for (size_t i = 0; i < steps.size(); ++i) numbers.push_back((i ? numbers.back() : 0) + begins[i]);
    return numbers;
  }

  struct Users {
    std::vector<std::pair<int, uint32_t>> writers, readers;  // steps and their operands
    bool others = false;                                     // what is no kernel
  };
  std::vector<Users> users_of_buffers() const {
    std::vector<Users> users(plan_.buffers.size());
    for (int i = 0; i < std::ssize(plan_.steps); ++i) {
      const Step& s = plan_.steps[i];
      for (uint32_t o = 0; o < s.refs.size(); ++o) {
        if (s.refs[o].base != Base::Arena) continue;
        Users& u = users[s.refs[o].number];
        if (s.kind != StepKind::Kernel) {
          u.others = true;
        } else {
          const Kernel& k = kernel_of(plan_, i);
          (k.family->writes(k, o) ? u.writers : u.readers).emplace_back(i, o);
        }
      }
    }
    return users;
  }

  void find_links() {
    const std::vector<Users> users = users_of_buffers();
    const std::vector<int> segment = segments();
    for (uint32_t b = 0; b < users.size(); ++b) {
      const auto& [writers, readers, others] = users[b];
      const Buffer& buffer = plan_.buffers[b];
      if (others || readers.size() != 1 || buffer.size || buffer.bytes < plan_.target.machine.l2_bytes / kPartOfCache)
        continue;
      const auto [reader, operand] = readers[0];
      Link link{b, operand, {}};
      int maker = -1, makers = 0;
      for (const auto& [step, of_step] : writers) {
        if (is_border(kernel_of(plan_, step)))
          link.borders.push_back(step);
        else
          maker = step, ++makers;
      }
      const auto from = members_.find(maker), to = members_.find(reader);
      if (makers != 1 || from == members_.end() || to == members_.end()) continue;
      const bool in_order =
          std::ranges::all_of(writers, [&](const auto& w) { return w.first <= maker; }) && maker < reader;
      const Reach made = from->second.made();
      const bool steps_on = made.step > 0 && to->second.reaches[operand].step > 0, rows_apart = made.span <= made.step;
      if (!in_order || !steps_on || !rows_apart || segment[writers[0].first] != segment[reader]) continue;
      if (next_.contains(maker) || before_.contains(reader)) continue;
      next_[maker] = {reader, std::move(link)};
      before_[reader] = maker;
    }
  }

  const Plan& plan_;
  std::map<int, Member> members_;             // by step
  std::map<int, std::pair<int, Link>> next_;  // by step: the one that reads what it makes, and how
  std::map<int, int> before_;                 // by step: the one that makes what it reads
};

}  // namespace

std::optional<std::vector<Reach>> reaches_of(const Kernel& k) {
  const auto steps = steps_of_outermost(k);
  const auto ranges = steps ? ranges_of(k) : std::nullopt;
  if (!ranges) return std::nullopt;
  std::vector<Reach> reaches(k.operands.size());
  const int64_t last = k.axes[0].extent().int_value() - 1;
  for (size_t i = 0; i < reaches.size(); ++i) {
    const auto& [low, high] = (*ranges)[i];
    const auto size = static_cast<int64_t>(byte_size(k.operands[i]));
    if (low > high) continue;  // never touched
    if (low < 0 || (*steps)[i] < 0) return std::nullopt;
    reaches[i] = {(*steps)[i] * size, (high + 1 - (*steps)[i] * last) * size};
  }
  return reaches;
}

Chain Chain::part(size_t from, size_t length) const {
  const auto member = members.begin() + static_cast<long>(from);
  const auto link = links.begin() + static_cast<long>(from);
  return {{member, member + static_cast<long>(length)}, {link, link + static_cast<long>(length) - 1}};
}

std::vector<Chain> find_chains(const Plan& plan) { return Finder(plan).chains(); }

}  // namespace cameo::strips
