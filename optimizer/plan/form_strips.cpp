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
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "optimizer/choose/family.h"
#include "optimizer/choose/lock.h"
#include "optimizer/plan/kernel_table.h"

namespace cameo {
namespace {

constexpr int64_t kFewestStrips = 8, kMostStrips = 64;
constexpr size_t kLongest = 4;          // kernels of a chain
constexpr double kClearly = 0.95;       // of the price of the kernels one after another
constexpr double kShareOfCache = 0.75;  // that what a strip touches may take
constexpr int64_t kLine = 64;           // bytes

/// What a kernel reads or writes of one operand while its outermost index is i: bytes i * step .. i * step + span.
struct Reach {
  int64_t step = 0, span = 0;
};

/// A step that can take part: what its kernel touches by each index of its outermost axis.
struct Member {
  int step = 0;
  int64_t extent = 0;
  std::vector<Reach> reaches;  // by operand
  uint32_t output = 0;         // operand
};

/// A buffer that one step makes, beside what stands around it, and one step reads, as one operand.
struct Link {
  uint32_t buffer = 0;
  uint32_t operand = 0;      // of the reader
  std::vector<int> borders;  // steps
};

/// A kernel as each strip has it, for `count` indices of its outermost axis, and what it writes.
struct Part {
  Kernel kernel;
  int step = 0;        // of the plan as it was
  int64_t offset = 0;  // bytes of its buffer, at index 0
  Reach reach;
  int64_t count = 0;
  std::vector<std::optional<int64_t>> begin;  // by strip: the first index; of a border none where the strip has none

  int64_t bytes() const { return (count - 1) * reach.step + reach.span; }
};

/// The piece of a thread's memory in which a strip has its part of a buffer.
struct Window {
  int64_t bytes = 0, room = 0;  // room: in front of the first byte that is read
  int64_t at = 0;               // in scratch
  std::vector<int64_t> begin;   // by strip: that byte, in the buffer
};

/// A chain, a way to divide it, and its price.
struct Strips {
  std::vector<Member> members;
  std::vector<Link> links;  // links[i] is what members[i + 1] reads of members[i]
  int64_t count = 0;
  std::vector<Part> parts;                 // by member
  std::vector<Window> windows;             // by link
  std::vector<std::vector<Part>> borders;  // by link
  int64_t scratch_bytes = 0;
  double seconds = 0;
};

int64_t low_of(Expr offset) { return static_cast<int64_t>(range_of(offset).low); }
int64_t high_of(Expr offset) { return static_cast<int64_t>(range_of(offset).high); }

/// The lowest and the highest offset of each operand; nullopt where one is not known.
std::optional<std::vector<std::pair<int64_t, int64_t>>> ranges_of(const Kernel& k) {
  std::vector<std::pair<int64_t, int64_t>> ranges(k.operands.size(), {INT64_MAX, INT64_MIN});
  bool known = true;
  const auto take = [&](uint32_t operand, Expr offset) {
    known &= range_of(offset).known();
    auto& [low, high] = ranges[operand];
    low = std::min(low, low_of(offset)), high = std::max(high, high_of(offset));
  };
  std::vector<Expr> roots;
  for (const Store& s : k.stores) {
    take(s.operand, s.offset);
    roots.push_back(s.value);
  }
  if (k.accumulated) roots.push_back(k.accumulated);
  visit(roots, [&](Expr e) {
    if (e.op() == Op::Read && !e.guard().is_const(0)) take(e.operand(), e.offset());
  });
  return known ? std::optional(ranges) : std::nullopt;
}

/// By operand; nullopt where it is not the same at each index, or the operand begins before what is touched.
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

/// All that the one store of a kernel writes, from its operand on.
int64_t span_of(const Kernel& k) {
  return (high_of(k.stores[0].offset) + 1) * static_cast<int64_t>(byte_size(k.operands[k.stores[0].operand]));
}

bool is_border(const Kernel& k) {
  return k.operands.size() == 1 && !k.node && !k.accumulated &&
         std::ranges::all_of(k.stores, [](const Store& s) { return s.value.is_const() && s.guard.is_const(1); });
}

class Former {
 public:
  explicit Former(Plan& plan) : plan_(plan) {}

  void run() {
    find_members();
    find_links();
    std::vector<Strips> all;
    for (const std::vector<int>& chain : chains()) divide(chain, all);
    if (all.empty()) return;
    write(all);
  }

 private:
  using Chain = std::vector<int>;  // steps

  // ---- finding chains
  const Kernel& kernel_of(int step) const { return plan_.kernels[plan_.steps[step].kernel]; }

  void find_members() {
    for (int i = 0; i < std::ssize(plan_.steps); ++i) {
      const Step& s = plan_.steps[i];
      if (s.kind != StepKind::Kernel || s.size) continue;
      const Kernel& k = kernel_of(i);
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
        u.others |= s.kind != StepKind::Kernel;
        if (s.kind == StepKind::Kernel)
          (kernel_of(i).family->writes(kernel_of(i), o) ? u.writers : u.readers).emplace_back(i, o);
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
      if (others || readers.size() != 1 || buffer.size || buffer.bytes < plan_.target.machine.l2_bytes / 4) continue;
      const auto [reader, operand] = readers[0];
      Link link{b, operand, {}};
      int maker = -1, makers = 0;
      for (const auto& [step, of_step] : writers) {
        if (is_border(kernel_of(step)))
          link.borders.push_back(step);
        else
          maker = step, ++makers;
      }
      const auto from = members_.find(maker), to = members_.find(reader);
      if (makers != 1 || from == members_.end() || to == members_.end()) continue;
      const bool in_order =
          std::ranges::all_of(writers, [&](const auto& w) { return w.first <= maker; }) && maker < reader;
      const bool steps_on = from->second.reaches[from->second.output].step > 0 && to->second.reaches[operand].step > 0;
      const bool rows_apart =
          from->second.reaches[from->second.output].span <= from->second.reaches[from->second.output].step;
      if (!in_order || !steps_on || !rows_apart || segment[writers[0].first] != segment[reader]) continue;
      if (next_.contains(maker) || before_.contains(reader)) continue;
      next_[maker] = {reader, std::move(link)};
      before_[reader] = maker;
    }
  }

  std::vector<Chain> chains() const {
    std::vector<Chain> all;
    for (const auto& [maker, to] : next_) {
      if (before_.contains(maker)) continue;
      Chain c{maker};
      while (next_.contains(c.back())) c.push_back(next_.at(c.back()).first);
      all.push_back(std::move(c));
    }
    return all;
  }

  // ---- dividing them
  /// Into parts of which each is one kernel by itself, or in strips: those of the least price.
  void divide(const Chain& chain, std::vector<Strips>& out) {
    const size_t n = chain.size();
    std::vector<double> least(n + 1, 0);  // of the members from here on
    std::vector<std::optional<Decision>> taken(n);
    std::vector<Decision> refused;
    for (size_t i = n; i-- > 0;) {
      least[i] = seconds_apart(std::span(chain).subspan(i, 1), i + 1 < n) + least[i + 1];
      for (size_t length = 2; length <= std::min(kLongest, n - i); ++length) {
        auto decision = decide(std::span(chain).subspan(i, length));
        if (!decision) continue;
        const double behind =
            (i + length < n ? seconds_outside(next_.at(chain[i + length - 1]).second) : 0) + least[i + length];
        const double seconds = decision->claim.won.seconds + behind;
        if (!decision->strips || (!decision->is_told && seconds >= least[i])) {
          refused.push_back(std::move(*decision));
        } else {
          least[i] = decision->is_told ? behind : seconds;
          taken[i] = std::move(decision);
        }
      }
    }
    const bool takes_any = std::ranges::any_of(taken, [](const auto& t) { return t.has_value(); });
    const Decision* nearest = takes_any || refused.empty() ? nullptr : &nearest_of(refused);
    for (const Decision& d : refused)
      if (d.is_told || &d == nearest) note(d.claim);
    for (size_t i = 0; i < n; i += taken[i] ? taken[i]->strips->parts.size() : 1)
      if (taken[i]) {
        note(taken[i]->claim);
        out.push_back(*taken[i]->strips);
      }
  }

  /// What becomes of kernels of a chain that could run in strips.
  struct Decision {
    Claim claim;
    std::optional<Strips> strips;  // none: they run one after another
    bool is_told = false;          // by a lock
  };
  /// Of some that lost, the one that came nearest.
  static const Decision& nearest_of(std::span<const Decision> refused) {
    return *std::ranges::min_element(refused, {}, [](const Decision& d) {
      const Alternative& strips = d.strips ? d.claim.won : d.claim.lost[0];
      return strips.seconds / (d.strips ? d.claim.lost[0] : d.claim.won).seconds;
    });
  }

  std::optional<Decision> decide(std::span<const int> chain) const {
    std::vector<Strips> ways;
    const int64_t extent = members_.at(chain.back()).extent;
    for (int64_t count = kFewestStrips; count <= std::min(kMostStrips, extent); ++count)
      if (extent % count == 0)
        if (auto strips = strips_of(chain, count)) ways.push_back(std::move(*strips));
    if (ways.empty()) return std::nullopt;
    std::ranges::stable_sort(ways, {}, &Strips::seconds);
    Decision d{claim_of(chain), std::nullopt, false};
    const Alternative apart{nullptr, {}, seconds_apart(chain, false), {}, kApart};
    for (const Strips& way : ways) d.claim.lost.push_back({nullptr, {{"count", way.count}}, way.seconds, {}, kStrips});
    const ChoiceLock* lock = plan_.target.lock.get();
    const ChoiceLock::Row* row = lock ? lock->find(plan_.target.name, d.claim.problem) : nullptr;
    d.is_told = row;
    size_t won = 0;
    if (row && row->family == kStrips)
      won = static_cast<size_t>(
          std::ranges::find(d.claim.lost, row->choice, [](const Alternative& a) { return a.choice.text(); }) -
          d.claim.lost.begin());
    if (row && (row->family == kStrips ? won == ways.size() : row->family != kApart))
      throw CompileError(Code::E0503,
                         fmt::format("the lock wants problem {} computed by `{} {}`, which is no way to do it",
                                     d.claim.problem, printable(row->family), printable(row->choice)));
    const bool in_strips = row ? row->family == kStrips : ways[0].seconds < kClearly * apart.seconds;
    d.claim.won = in_strips ? d.claim.lost[won] : apart;
    if (in_strips) {
      d.claim.lost[won] = apart;
      d.strips = std::move(ways[won]);
    }
    std::ranges::stable_sort(d.claim.lost, {}, &Alternative::seconds);
    return d;
  }

  Claim claim_of(std::span<const int> chain) const {
    Claim c;
    std::vector<const Kernel*> kernels;
    for (int step : chain) {
      kernels.push_back(&kernel_of(step));
      c.op += (c.op.empty() ? "" : ", ") + kernels.back()->title;
      c.provenance = merge(c.provenance, plan_.steps[step].provenance);
    }
    c.problem = problem_of(kernels);
    return c;
  }
  /// Equal chains are one claim; without a lock no chain has a name.
  void note(Claim claim) {
    const auto known =
        claim.problem.empty() ? plan_.claims.end() : std::ranges::find(plan_.claims, claim.problem, &Claim::problem);
    if (known == plan_.claims.end())
      plan_.claims.push_back(std::move(claim));
    else
      known->provenance = merge(known->provenance, claim.provenance);
  }

  /// Of kernels one after another; `hands_on`: what the last one makes is read by another one of the chain.
  double seconds_apart(std::span<const int> chain, bool hands_on) const {
    double seconds = 0;
    for (size_t i = 0; i < chain.size(); ++i) {
      seconds += kernel_of(chain[i]).seconds;
      if (i + 1 < chain.size() || hands_on) seconds += seconds_outside(next_.at(chain[i]).second);
    }
    return seconds;
  }
  /// What prices leave out: of a buffer that takes more than half of the second cache, much is gone when it is read.
  double seconds_outside(const Link& link) const {
    const Target& target = plan_.target;
    const double bytes = static_cast<double>(plan_.buffers[link.buffer].bytes),
                 l2 = static_cast<double>(target.machine.l2_bytes);
    if (bytes <= l2 / 2 || bytes > l2) return 0;
    return 2 * (bytes / target.machine.l3_rate / (target.machine.clock * 1e9) - target.seconds_to_move(bytes));
  }

  std::optional<Strips> strips_of(std::span<const int> chain, int64_t count) const {
    Strips s;
    s.count = count;
    for (int step : chain) {
      const Member& m = members_.at(step);
      s.members.push_back(m);
      s.parts.push_back({kernel_of(step), step, offset_of(m, m.output), m.reaches[m.output], 0, {}});
    }
    for (size_t i = 0; i + 1 < chain.size(); ++i) s.links.push_back(next_.at(chain[i]).second);
    Part& last = s.parts.back();
    last.count = s.members.back().extent / count;
    for (int64_t i = 0; i < count; ++i) last.begin.emplace_back(i * last.count);
    s.borders.resize(s.links.size());
    s.windows.resize(s.links.size());
    for (size_t i = s.links.size(); i-- > 0;) {
      const std::vector<Range> read = read_of(s, i);
      take_indices(s.parts[i], read, s.members[i].extent);
      s.borders[i] = borders_of(s, i, read);
      s.windows[i] = window_of(s, i, read);
    }
    for (size_t i = 0; i < s.parts.size(); ++i) take_kernel(s, i);
    place_windows(s);
    return take_price(s) ? std::optional(std::move(s)) : std::nullopt;
  }

  using Range = std::pair<int64_t, int64_t>;  // bytes from, to

  int64_t offset_of(const Member& m, uint32_t operand) const { return plan_.steps[m.step].refs[operand].offset; }

  /// By strip: the bytes of link i's buffer that it reads.
  std::vector<Range> read_of(const Strips& s, size_t i) const {
    const Member& reader = s.members[i + 1];
    const Part& part = s.parts[i + 1];
    const auto [step, span] = reader.reaches[s.links[i].operand];
    std::vector<Range> read;
    for (const auto& first : part.begin) {
      const int64_t begin = offset_of(reader, s.links[i].operand) + *first * step;
      read.emplace_back(begin, begin + (part.count - 1) * step + span);
    }
    return read;
  }

  /// Those by which each strip gets what it reads: as many for every one, moved inwards where they would be outside of
  /// `extent`.
  static void take_indices(Part& part, std::span<const Range> read, int64_t extent) {
    const auto [step, span] = part.reach;
    const auto floor_of = [](int64_t a, int64_t b) { return a / b - (a % b < 0); };
    std::vector<std::pair<int64_t, int64_t>> wanted;  // the first, the last
    for (const auto& [from, to] : read) {
      const int64_t first = std::max<int64_t>(floor_of(from - part.offset - span, step) + 1, 0);
      wanted.emplace_back(first, std::min(floor_of(to - 1 - part.offset, step), extent - 1));
      part.count = std::max(part.count, wanted.back().second + 1 - first);
    }
    for (const auto& [first, last] : wanted) {
      part.begin.emplace_back();
      if (first <= last) part.begin.back() = std::min(first, extent - part.count);
    }
  }

  /// Each store of a border is a kernel of its own: that of columns for some rows, that of rows whole.
  std::vector<Part> borders_of(const Strips& s, size_t i, std::span<const Range> read) const {
    constexpr int64_t kNever = INT64_MAX / 4;
    std::vector<Part> parts;
    for (int step : s.links[i].borders)
      for (const Store& store : kernel_of(step).stores) {
        Part part{kernel_of(step), step, plan_.steps[step].refs[0].offset, {}, 0, {}};
        part.kernel.stores = {store};
        part.offset += take_base_offsets(part.kernel)[0] * static_cast<int64_t>(byte_size(part.kernel.operands[0]));
        const auto reaches = reaches_of(part.kernel);
        const bool by_rows = reaches && (*reaches)[0].step >= s.parts[i].reach.step;
        if (by_rows)
          part.reach = (*reaches)[0];
        else
          part.reach = {kNever, span_of(part.kernel)};
        take_indices(part, read, by_rows ? part.kernel.axes[0].extent().int_value() : 1);
        if (by_rows && part.count) part.kernel = take_strip(std::move(part.kernel), part.count);
        part.kernel.in_scratch = {true};
        if (part.count) parts.push_back(std::move(part));
      }
    return parts;
  }

  static Window window_of(const Strips& s, size_t i, std::span<const Range> read) {
    Window w;
    int64_t end = 0;
    const auto hold = [&](const Part& part) {
      for (size_t strip = 0; strip < read.size(); ++strip) {
        if (!part.begin[strip]) continue;
        const int64_t made = part.offset + *part.begin[strip] * part.reach.step - read[strip].first;
        w.room = std::max(w.room, -made);
        end = std::max(end, made + part.bytes());
      }
    };
    for (const auto& [from, to] : read) {
      w.begin.push_back(from);
      end = std::max(end, to - from);
    }
    hold(s.parts[i]);
    for (const Part& border : s.borders[i]) hold(border);
    w.room += ((w.begin[0] - w.room) % kLine + kLine) % kLine;  // it begins in its line as it does in the buffer
    w.bytes = round_up(w.room + end);
    return w;
  }

  /// Behind what the kernels themselves work in.
  static void place_windows(Strips& s) {
    for (const Part& part : s.parts)
      s.scratch_bytes = std::max(s.scratch_bytes, round_up(part.kernel.scratch_bytes.upper()));
    for (Window& w : s.windows) {
      w.at = s.scratch_bytes;
      s.scratch_bytes += w.bytes;
    }
  }
  static int64_t round_up(int64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

  void take_kernel(Strips& s, size_t i) const {
    const Kernel& whole = kernel_of(s.members[i].step);
    Kernel& k = s.parts[i].kernel = take_strip(whole, s.parts[i].count);
    k.cost = cost_of(k);
    const std::vector<Choice> ways = k.family->candidates(k, plan_.target);
    const auto price = [&](const Choice& c) { return k.family->price(k, k.cost, c, plan_.target); };
    const bool as_before = std::ranges::find(ways, whole.choice) != ways.end();
    const Choice taken = as_before ? whole.choice : *std::ranges::min_element(ways, {}, price);
    if (!as_before) k.problems.clear();  // what a lock says of the whole kernel is no way to compute this one
    k.seconds = price(taken);
    k.family->apply(k, taken, plan_.target);
    k.in_scratch.assign(k.operands.size(), false);
    if (i > 0) k.in_scratch[s.links[i - 1].operand] = true;
    if (i < s.links.size()) k.in_scratch[s.members[i].output] = true;
  }

  /// What is read and written outside of the windows comes from where it did before. False where a strip does not fit
  /// into the second cache.
  bool take_price(Strips& s) const {
    const Target& target = plan_.target;
    const double count = static_cast<double>(s.count);
    double touched = 0, outside = 0;
    for (const Part& part : s.parts) {
      s.seconds += count * part.kernel.seconds;
      touched += part.kernel.cost.bytes;
      outside += kernel_of(part.step).cost.bytes;
    }
    for (size_t i = 0; i < s.links.size(); ++i) {
      touched -= static_cast<double>(s.windows[i].bytes);
      outside -= 2 * static_cast<double>(plan_.buffers[s.links[i].buffer].bytes);
    }
    outside = std::max(outside, 0.0);
    s.seconds += target.seconds_to_move(outside) - count * target.seconds_to_move(outside / count);
    return touched <= kShareOfCache * static_cast<double>(target.machine.l2_bytes);
  }

  // ---- writing them
  /// The steps of all strips in place of the last member's; those of the others and of borders are none any more.
  void write(std::vector<Strips>& all) {
    const int steps = static_cast<int>(plan_.steps.size());
    std::vector<const Strips*> part_of(static_cast<size_t>(steps), nullptr);
    for (const Strips& s : all) {
      for (const Part& part : s.parts) part_of[part.step] = &s;
      for (const Link& link : s.links)
        for (int border : link.borders) part_of[border] = &s;
    }
    KernelTable kernels(plan_.kernels);
    std::vector<Step> written;
    std::vector<std::pair<int, int>> now(static_cast<size_t>(steps) + 1);  // by step: the first, and one past the last
    for (int i = 0; i < steps; ++i) {
      const int begin = static_cast<int>(written.size());
      const Strips* s = part_of[i];
      if (!s)
        written.push_back(plan_.steps[i]);
      else if (s->parts.back().step == i)
        for (size_t strip = 0; strip < static_cast<size_t>(s->count); ++strip) write_strip(*s, strip, kernels, written);
      now[i] = {begin, static_cast<int>(written.size())};
    }
    now[steps] = {static_cast<int>(written.size()), static_cast<int>(written.size()) + 1};
    for (int i = 0; i < steps; ++i)
      if (part_of[i]) now[i] = now[part_of[i]->parts.back().step];
    renumber(std::move(written), now, all);
    for (const Strips& s : all) plan_.scratch_bytes = larger(plan_.scratch_bytes, s.scratch_bytes);
    drop_unused_kernels(plan_);
  }

  void write_strip(const Strips& s, size_t strip, KernelTable& kernels, std::vector<Step>& to) const {
    bool follows = false;
    const auto push = [&](const Part& part, std::vector<Ref> refs) {
      Step step = plan_.steps[part.step];
      step.kernel = kernels.intern(part.kernel);
      step.refs = std::move(refs);
      step.chunks = 1;
      step.follows = std::exchange(follows, true);
      to.push_back(std::move(step));
    };
    for (size_t i = 0; i < s.parts.size(); ++i) {
      if (i < s.links.size())
        for (const Part& border : s.borders[i])
          if (border.begin[strip]) push(border, {written_at(s, i, border, strip)});
      push(s.parts[i], refs_of(s, i, strip));
    }
  }

  /// Where a part writes what stands in window i.
  static Ref written_at(const Strips& s, size_t i, const Part& part, size_t strip) {
    const Window& w = s.windows[i];
    const int64_t in_buffer = part.offset + *part.begin[strip] * part.reach.step;
    return {Base::Scratch, 0, w.at + w.room + in_buffer - w.begin[strip]};
  }

  std::vector<Ref> refs_of(const Strips& s, size_t i, size_t strip) const {
    const Member& m = s.members[i];
    const Part& part = s.parts[i];
    std::vector<Ref> refs = plan_.steps[part.step].refs;
    for (size_t o = 0; o < refs.size(); ++o) refs[o].offset += *part.begin[strip] * m.reaches[o].step;
    if (i > 0) refs[s.links[i - 1].operand] = {Base::Scratch, 0, s.windows[i - 1].at + s.windows[i - 1].room};
    if (i < s.links.size()) refs[m.output] = written_at(s, i, part, strip);
    return refs;
  }

  /// Everything that names a step, or a buffer behind those that are gone.
  void renumber(std::vector<Step> written, const std::vector<std::pair<int, int>>& now,
                const std::vector<Strips>& all) {
    std::set<uint32_t> gone;
    for (const Strips& s : all)
      for (const Link& link : s.links) gone.insert(link.buffer);
    std::erase_if(plan_.taps, [&](const Tap& t) { return t.at.base == Base::Arena && gone.contains(t.at.number); });
    std::vector<Buffer> kept;
    std::vector<uint32_t> number;
    for (uint32_t b = 0; b < plan_.buffers.size(); ++b) {
      number.push_back(static_cast<uint32_t>(kept.size()));
      if (gone.contains(b)) continue;
      kept.push_back(std::move(plan_.buffers[b]));
      kept.back().first = now[kept.back().first].first;
      kept.back().last = now[kept.back().last].second - 1;
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
  std::map<int, Member> members_;             // by step
  std::map<int, std::pair<int, Link>> next_;  // by step: the one that reads what it makes, and how
  std::map<int, int> before_;                 // by step: the one that makes what it reads
};

}  // namespace

void form_strips(Plan& plan) {
  if (!plan.target.is_gpu() && plan.target.forms_strips) Former(plan).run();
}

}  // namespace cameo
