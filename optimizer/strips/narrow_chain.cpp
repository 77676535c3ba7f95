// strips_of: the kernels of a chain, each narrowed to the rows that the strip of the next one reads, and where in a
// thread's memory they hand them on.
#include <algorithm>
#include <utility>

#include "optimizer/choose/family.h"
#include "optimizer/lower/lower_kernel.h"
#include "optimizer/strips/strips.h"

namespace cameo::strips {
namespace {

constexpr double kShareOfCache = 0.75;  // that what a strip touches may take

using Range = std::pair<int64_t, int64_t>;  // bytes from, to

/// All that the one store of a kernel writes, from its operand on.
int64_t span_of(const Kernel& k) {
  return static_cast<int64_t>(range_of(k.stores[0].offset).high + 1) *
         static_cast<int64_t>(byte_size(k.operands[k.stores[0].operand]));
}

class Narrower {
 public:
  explicit Narrower(const Plan& plan) : plan_(plan) {}

  std::optional<Strips> strips_of(const Chain& chain, int64_t count) const {
    Strips s;
    s.chain = chain;
    s.count = count;
    for (const Member& m : chain.members) s.parts.push_back({{}, m.step, offset_of(m, m.output), m.made(), 0, {}});
    Part& last = s.parts.back();
    last.count = s.chain.members.back().extent / count;
    for (int64_t i = 0; i < count; ++i) last.begin.emplace_back(i * last.count);
    s.borders.resize(s.chain.links.size());
    s.windows.resize(s.chain.links.size());
    for (size_t i = s.chain.links.size(); i-- > 0;) {
      const std::vector<Range> read = read_of(s, i);
      take_indices(s.parts[i], read, s.chain.members[i].extent, false);
      s.borders[i] = borders_of(s, i, read);
      s.windows[i] = window_of(s, i, read);
    }
    for (size_t i = 0; i < s.parts.size(); ++i) take_kernel(s, i);
    place_windows(s);
    return take_price(s) ? std::optional(std::move(s)) : std::nullopt;
  }

 private:
  int64_t offset_of(const Member& m, uint32_t operand) const { return plan_.steps[m.step].refs[operand].offset; }

  /// By strip: the bytes of link i's buffer that it reads.
  std::vector<Range> read_of(const Strips& s, size_t i) const {
    const Member& reader = s.chain.members[i + 1];
    const Part& part = s.parts[i + 1];
    const auto [step, span] = reader.reaches[s.chain.links[i].operand];
    std::vector<Range> read;
    for (const auto& first : part.begin) {
      const int64_t begin = offset_of(reader, s.chain.links[i].operand) + *first * step;
      read.emplace_back(begin, begin + (part.count - 1) * step + span);
    }
    return read;
  }

  /// Those by which each strip gets what it reads: as many for every one, moved inwards where they would be outside of
  /// `extent`. Where a strip reads none of them, of a border none.
  static void take_indices(Part& part, std::span<const Range> read, int64_t extent, bool is_border) {
    const auto [step, span] = part.reach;
    const auto floor_of = [](int64_t a, int64_t b) { return a / b - (a % b < 0); };
    std::vector<std::pair<int64_t, int64_t>> wanted;  // the first, the last
    for (const auto& [from, to] : read) {
      const int64_t first = std::max<int64_t>(floor_of(from - part.offset - span, step) + 1, 0);
      wanted.emplace_back(first, std::min(floor_of(to - 1 - part.offset, step), extent - 1));
      part.count = std::max(part.count, wanted.back().second + 1 - first);
    }
    if (!is_border) part.count = std::max<int64_t>(part.count, 1);
    for (const auto& [first, last] : wanted) {
      part.begin.emplace_back();
      if (first <= last || !is_border) part.begin.back() = std::min(first, extent - part.count);
    }
  }

  /// Each store of a border is a kernel of its own: that of columns for some rows, that of rows whole.
  std::vector<Part> borders_of(const Strips& s, size_t i, std::span<const Range> read) const {
    constexpr int64_t kNever = INT64_MAX / 4;
    std::vector<Part> parts;
    for (int step : s.chain.links[i].borders)
      for (const Store& store : kernel_of(plan_, step).stores) {
        Part part{kernel_of(plan_, step), step, plan_.steps[step].refs[0].offset, {}, 0, {}};
        part.kernel.stores = {store};
        part.offset += take_base_offsets(part.kernel)[0] * static_cast<int64_t>(byte_size(part.kernel.operands[0]));
        const auto reaches = reaches_of(part.kernel);
        const bool by_rows = reaches && (*reaches)[0].step >= s.parts[i].reach.step;
        if (by_rows)
          part.reach = (*reaches)[0];
        else
          part.reach = {kNever, span_of(part.kernel)};
        take_indices(part, read, by_rows ? part.kernel.axes[0].extent().int_value() : 1, true);
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
    w.bytes = whole_lines(w.room + end);
    return w;
  }

  /// Behind what the kernels themselves work in.
  static void place_windows(Strips& s) {
    for (const Part& part : s.parts)
      s.scratch_bytes = std::max(s.scratch_bytes, whole_lines(part.kernel.scratch_bytes.upper()));
    for (Window& w : s.windows) {
      w.at = s.scratch_bytes;
      s.scratch_bytes += w.bytes;
    }
  }

  void take_kernel(Strips& s, size_t i) const {
    const Kernel& whole = kernel_of(plan_, s.chain.members[i].step);
    Kernel& k = s.parts[i].kernel = take_strip(whole, s.parts[i].count);
    k.cost = cost_of(k);
    const std::vector<Choice> ways = k.family->candidates(k, plan_.target);
    const auto price = [&](const Choice& c) { return k.family->price(k, k.cost, c, plan_.target); };
    const Choice before = whole.choice.without(kChunks);  // a strip is one
    const bool as_before = std::ranges::find(ways, before) != ways.end();
    const Choice taken = as_before ? before : *std::ranges::min_element(ways, {}, price);
    if (!as_before) k.problems.clear();  // what a lock says of the whole kernel is no way to compute this one
    k.seconds = price(taken);
    std::erase_if(k.alternatives, [](const Alternative& a) { return a.choice.get(kChunks, 0) > 0; });
    for (Alternative& a : k.alternatives) a.seconds *= k.seconds / whole.seconds;  // roughly
    k.family->apply(k, taken, plan_.target);
    k.in_scratch.assign(k.operands.size(), false);
    if (i > 0) k.in_scratch[s.chain.links[i - 1].operand] = true;
    if (i < s.chain.links.size()) k.in_scratch[s.chain.members[i].output] = true;
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
      outside += kernel_of(plan_, part.step).cost.bytes;
    }
    for (size_t i = 0; i < s.chain.links.size(); ++i) {
      touched -= static_cast<double>(s.windows[i].bytes);
      outside -= 2 * static_cast<double>(plan_.buffers[s.chain.links[i].buffer].bytes);
    }
    outside = std::max(outside, 0.0);
    s.seconds += target.seconds_to_move(outside) - count * target.seconds_to_move(outside / count);
    return touched <= kShareOfCache * static_cast<double>(target.machine.l2_bytes);
  }

  const Plan& plan_;
};

}  // namespace

std::optional<Strips> strips_of(const Plan& plan, const Chain& chain, int64_t count) {
  return Narrower(plan).strips_of(chain, count);
}

}  // namespace cameo::strips
