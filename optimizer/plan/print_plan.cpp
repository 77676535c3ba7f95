// The text of a plan: kernels, with their bodies where they are asked for, steps with their operands, buffers with
// their life and place.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "optimizer/choose/family.h"

namespace cameo {

std::string to_string(const Ref& r) {
  constexpr std::string_view names[] = {"weights", "arena", "input", "output", "slot", "host", "block", "scratch"};
  std::string s(names[static_cast<int>(r.base)]);
  const bool is_one = r.base <= Base::Arena || r.base == Base::Host || r.base == Base::Scratch;
  if (!is_one) s += fmt::format("{}", r.number);
  return r.offset || is_one ? fmt::format("{}+{}", s, r.offset) : s;
}
namespace {
std::string_view name(StepKind k) {
  constexpr std::string_view names[] = {"kernel", "jump",     "jump-if-false", "loop-begin", "loop-end",
                                        "swap",   "set-base", "advance",       "copy",       "sizes"};
  return names[static_cast<int>(k)];
}
std::string join(const auto& list, auto text) {
  std::string s;
  for (const auto& x : list) s += (s.empty() ? "" : ", ") + std::string(text(x));
  return s;
}
/// The best two that lost.
std::string lost_to(const std::vector<Alternative>& alternatives) {
  constexpr size_t kShown = 2;
  std::string s, before = ", not ";
  for (size_t i = 0; i < std::min(kShown, alternatives.size()); ++i) {
    if (!alternatives[i].why_not.empty()) break;
    s += before + to_string(alternatives[i]);
    before = " or ";
  }
  return s;
}
/// The choice's price, and what lost.
std::string price_of(const Kernel& k) {
  if (!k.seconds) return "";
  return fmt::format("  {}{}", price_text(k.seconds), lost_to(k.alternatives));
}
}  // namespace

std::string price_text(double seconds) {
  const double us = seconds * 1e6;
  return us < 100 ? fmt::format("{:.2g} us", us) : fmt::format("{:.0f} us", us);
}

std::string to_string(const Alternative& a) {
  if (!a.why_not.empty()) return fmt::format("{}: {}", name_of_family(a), a.why_not);
  const std::string choice = a.choice.text();
  return fmt::format("{}{}{}, {}", name_of_family(a), choice.empty() ? "" : " ", choice, price_text(a.seconds));
}
std::string_view name_of_family(const Alternative& a) { return a.family ? a.family->name() : a.without_family; }

std::string to_string(const Claim& c) { return fmt::format("{} {}{}", c.op, to_string(c.won), lost_to(c.lost)); }

int64_t steps_on_host(const Plan& plan) {
  return std::ranges::count_if(
      plan.steps, [&](const Step& s) { return s.kind == StepKind::Kernel && plan.kernels[s.kernel].on_host; });
}

namespace {
std::string step_text(const Plan& plan, const Schedule& schedule, int i, const Sources& sources) {
  const Step& t = schedule.steps[i];
  std::string s =
      fmt::format("{:4} {}", i, t.kind == StepKind::Kernel ? plan.kernels[t.kernel].symbol : std::string(name(t.kind)));
  if (!t.refs.empty()) s += fmt::format(" ({})", join(t.refs, [](const Ref& r) { return to_string(r); }));
  if (t.chunks > 1) s += fmt::format(" chunks {}", t.chunks);
  if (t.follows)
    s += fmt::format(" follows {}", i - 1);
  else if (group_of(schedule, i).begin != i)
    s += fmt::format(" beside {}", i - 1);
  if (t.jump >= 0) s += fmt::format(" -> {}", t.jump);
  if (t.kind == StepKind::Swap) s += fmt::format(" slot{} slot{}", t.a, t.b);
  if (t.kind == StepKind::SetBase || t.kind == StepKind::Advance) s += fmt::format(" slot{}", t.a);
  if (t.bytes) s += fmt::format(" {} bytes", t.bytes);
  if (std::string at = where(sources, t.provenance); !at.empty()) s += fmt::format("   <- {}", at);
  return s + "\n";
}

/// One past the last of the strips that stand beside the one that ends before step `i`.
int end_of_strips(const Schedule& schedule, int i) {
  const int end = group_of(schedule, i - 1).end;
  while (i < end && end_of_strip(schedule, i) > i + 1) i = end_of_strip(schedule, i);
  return i;
}

std::string schedule_text(const Plan& plan, const Schedule& schedule, const Sources& sources) {
  std::string s;
  for (int i = 0; i < std::ssize(schedule.steps);) {
    const int begin = i, end = end_of_strip(schedule, i);
    for (; i < end; ++i) s += step_text(plan, schedule, i, sources);
    if (end == begin + 1) continue;
    i = end_of_strips(schedule, end);
    const auto strips = std::ranges::count(steps_of(schedule, {end, i}), false, &Step::follows);
    if (strips) s += fmt::format("{:4} .. {} and {} strips more, beside it\n", end, i - 1, strips);
  }
  for (const Buffer& b : schedule.buffers)
    s += fmt::format("buffer {}..{} {} of {} bytes `{}`\n", b.first, b.last,
                     b.size ? fmt::format("in block{}", b.block) : fmt::format("at {}", b.offset),
                     b.size ? to_string(b.size) : fmt::format("{}", b.bytes), printable(b.held));
  for (size_t i = 0; i < schedule.blocks.size(); ++i)
    s += fmt::format("block{} of {} bytes{}\n", i, to_string(schedule.blocks[i].bytes),
                     schedule.blocks[i].on_host ? " on the host" : "");
  return s;
}
}  // namespace

std::string to_string(const DimBinding& sizes) {
  std::string s;
  for (const auto& [name, size] : sizes) s += fmt::format("{}{}={}", s.empty() ? "" : ", ", printable(name), size);
  return s;
}

std::string sizes_text(const Plan& plan) {
  std::vector<Expr> roots;
  for (const Block& b : plan.blocks) roots.push_back(b.bytes);
  for (const Kernel& k : plan.kernels)
    for (Expr axis : k.axes) roots.push_back(axis.extent());
  std::map<std::string, std::string> ranges;
  visit(roots, [&](Expr e) {
    if (e.op() == Op::Symbol && range_of(e).low >= 0)
      ranges[printable(symbol_name(e))] = range_text({range_of(e).low, Dim(e).upper()});
  });
  std::string s;
  for (const auto& [name, range] : ranges) s += fmt::format("{}{}={}", s.empty() ? "" : ", ", name, range);
  return s;
}

std::string to_string(const Plan& plan, const Sources& sources, bool with_bodies) {
  const std::string architectures =
      !plan.target.architectures.empty() ? fmt::format(" for {}", fmt::join(plan.target.architectures, ", ")) : "";
  std::string s = fmt::format("target {}{}\narena {} bytes\n", plan.target.name, architectures, plan.arena_bytes);
  if (const std::string sizes = sizes_text(plan); !sizes.empty())
    s += fmt::format("sizes {}; prices and chunks are those of the largest\n", sizes);
  if (steps_on_host(plan)) s += fmt::format("host {} bytes, steps on host: {}\n", plan.host_bytes, steps_on_host(plan));
  for (const Kernel& k : plan.kernels) {
    s += fmt::format("kernel {} {} [{}] lanes {}{} operands [{}]{}{}\n", k.symbol, k.family->name(),
                     join(k.axes, [](Expr a) { return to_string(a.extent()); }), k.choice.get("lanes", 1),
                     k.on_host             ? " on host"
                     : k.optimize_for_size ? " optimize_for_size"
                                           : "",
                     join(k.operands, [](DType t) { return cameo::name(t); }), k.family->details(k), price_of(k));
    if (with_bodies) s += body_text(k);
  }
  for (const Claim& c : plan.claims) s += fmt::format("claim {}   <- {}\n", to_string(c), where(sources, c.provenance));
  s += schedule_text(plan, plan, sources);
  for (const Bucket& b : plan.buckets)
    s +=
        fmt::format("bucket {}\narena {} bytes\n", to_string(b.sizes), b.arena_bytes) + schedule_text(plan, b, sources);
  return s;
}

}  // namespace cameo
