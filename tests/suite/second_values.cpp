// Other values of the inputs whose elements decide shapes, in place of a case's own: one of them permuted, halved or
// changed, or several at once. What was made of the model once must take them all, and do what the interpreter does.
#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "frontend/reference/compare.h"
#include "frontend/reference/interpret.h"
#include "tests/suite/suite.h"

namespace cameo::suite {
namespace {

constexpr int kTried = 80, kWanted = 4, kRefused = 2;  // values a case: tried, taken, refused
constexpr int64_t kMost = 1 << 20;                     // elements of an output

std::vector<size_t> deciding(const Graph& g) {
  std::vector<size_t> which;
  for (size_t i = 0; i < g.inputs().size(); ++i)
    if (std::ranges::any_of(g[g.inputs()[i]].content, is_symbolic)) which.push_back(i);
  return which;
}

Tensor changed(const Tensor& t, std::mt19937_64& rng) {
  Tensor other(t.dtype(), t.dims());
  for (int64_t i = 0; i < t.size(); ++i) other.set_int(i, t.get_int(i));
  const int64_t count = t.size(), at = static_cast<int64_t>(rng() % static_cast<uint64_t>(count)), v = t.get_int(at);
  const auto next = (at + 1) % count;
  switch (rng() % 7) {
    case 0:  // turned
      for (int64_t i = 0; i < count; ++i) other.set_int(i, t.get_int((i + 1) % count));
      break;
    case 1:  // backwards
      for (int64_t i = 0; i < count; ++i) other.set_int(i, t.get_int(count - 1 - i));
      break;
    case 2: other.set_int(at, v / 2); break;
    case 3: other.set_int(at, v + 1); break;
    case 4: other.set_int(at, v - 1); break;
    case 5: other.set_int(at, static_cast<int64_t>(rng() % 7) - 3); break;
    default:  // what a shape has as many elements with
      if (next == at) break;
      other.set_int(at, t.get_int(at) * t.get_int(next));
      other.set_int(next, 1);
  }
  return other;
}

/// The data with other values; as they are where nothing was changed.
std::vector<Tensor> varied(std::span<const Tensor> data, const std::vector<size_t>& which, std::mt19937_64& rng) {
  std::vector<Tensor> inputs(data.begin(), data.end());
  const size_t one = which[rng() % which.size()];
  const bool all = rng() % 3 == 0;
  for (size_t i : which)
    if (all || i == one) inputs[i] = changed(data[i], rng);
  return inputs;
}

struct Expected {
  std::vector<Tensor> inputs;
  std::optional<Interpretation> outputs;  // without: they are refused
};

/// Nothing where they say nothing: what fails otherwise, or is very large.
std::optional<Expected> expected_of(const Graph& g, std::vector<Tensor> inputs) {
  try {
    Interpretation outputs = interpret(g, inputs);
    if (std::ranges::any_of(outputs.rounded, [](const Tensor& t) { return t.size() > kMost; })) return std::nullopt;
    return Expected{std::move(inputs), std::move(outputs)};
  } catch (const CompileError& e) {
    if (e.diagnostic.code != Code::E0304) return std::nullopt;
    return Expected{std::move(inputs), std::nullopt};
  }
}

std::string difference(const Runner& run, const Expected& e) {
  std::vector<Tensor> got;
  try {
    got = run(e.inputs);
  } catch (const CompileError& error) {
    const bool refused = error.diagnostic.code == Code::E0304;
    return refused && !e.outputs ? "" : fmt::format("refused: {}", error.diagnostic.message);
  }
  if (!e.outputs) return "not refused, as the interpreter does";
  for (size_t i = 0; i < got.size(); ++i)
    if (Comparison c = cameo::compare(got[i], e.outputs->rounded[i], e.outputs->unrounded[i]); !c.pass)
      return fmt::format("output {}: {}", i, c.why);
  return "";
}

std::string text_of(const std::vector<size_t>& which, std::span<const Tensor> inputs) {
  std::string text;
  for (size_t i : which) {
    text += fmt::format("{}input {} =", text.empty() ? "" : ", ", i);
    for (int64_t k = 0; k < inputs[i].size(); ++k) text += fmt::format(" {}", inputs[i].get_int(k));
  }
  return text;
}

}  // namespace

Verdict run_second_values(const Graph& g, const std::function<Runner()>& make, std::span<const Tensor> data) {
  const std::vector<size_t> which = deciding(g);
  if (which.empty()) return {Verdict::Unsupported, "no input's elements decide shapes"};
  std::mt19937_64 rng(which.size());
  std::vector<std::vector<Tensor>> seen{{data.begin(), data.end()}};
  std::vector<Expected> taken, refused;
  for (int i = 0; i < kTried && taken.size() < kWanted; ++i) {
    std::vector<Tensor> inputs = varied(data, which, rng);
    if (std::ranges::find(seen, inputs) != seen.end()) continue;
    seen.push_back(inputs);
    std::optional<Expected> e = expected_of(g, std::move(inputs));
    if (e && (e->outputs || refused.size() < kRefused)) (e->outputs ? taken : refused).push_back(std::move(*e));
  }
  if (taken.empty()) return {Verdict::Unsupported, "no other values fit"};
  const Runner run = make();
  taken.insert(taken.end(), refused.begin(), refused.end());
  for (const Expected& e : taken)
    if (std::string what = difference(run, e); !what.empty())
      return {Verdict::Wrong, fmt::format("{}: {}", text_of(which, e.inputs), what)};
  return {};
}

}  // namespace cameo::suite
