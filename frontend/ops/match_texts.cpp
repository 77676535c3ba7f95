// MatchTexts, of cameo's own: which strings are all that a pattern of `steps` instructions takes
// (runtime/kernels/match_texts_shape.h). The second output is room that the kernel works in.
#include <utility>

#include "frontend/ops/texts.h"
#include "runtime/kernels/match_texts_shape.h"
#include "runtime/kernels/utf8.h"

namespace cameo::ops {
namespace {

void infer_match_texts(Infer& n) {
  n.output(0, DType::b1, n.shape());
  n.output(1, DType::i64, {3 * n.attr_int("steps")});
}

Meaning match_texts(const MeaningView& n) { return text_kernel(n, "match_texts", {integer(n.attr_int("steps"))}); }

/// Tries one way after the other, where the kernel goes all of them at once; a place and an instruction that led
/// nowhere are not tried again.
class Backtracking {
 public:
  Backtracking(std::string_view text, std::span<const int64_t> pattern, int64_t steps)
      : text_{text.data(), std::ssize(text)}, pattern_(pattern), steps_(steps), tried_((text.size() + 1) * steps) {}

  bool matches() {
    std::vector<std::pair<int64_t, int64_t>> ways{{0, 0}};  // places in the text, and instructions
    while (!ways.empty()) {
      const auto [at, number] = ways.back();
      ways.pop_back();
      if (tried_[static_cast<size_t>(at * steps_ + number)]) continue;
      tried_[static_cast<size_t>(at * steps_ + number)] = true;
      const int64_t* step = &pattern_[static_cast<size_t>(number * rt::kPatternStep)];
      if (step[0] == rt::kMatches && at == text_.bytes) return true;
      if (step[0] == rt::kForks) ways.insert(ways.end(), {{at, step[2]}, {at, step[1]}});
      if (step[0] == rt::kAsserts && holds(step[1], at)) ways.emplace_back(at, number + 1);
      if (step[0] != rt::kTakes || at == text_.bytes) continue;
      const rt::CodePoint c = rt::code_point_at(text_, at);
      if (c.value >= 0 && takes(step, c.value)) ways.emplace_back(at + c.bytes, number + 1);
    }
    return false;
  }

 private:
  bool takes(const int64_t* step, int64_t c) const {
    for (int64_t k = 0; k < step[2]; ++k)
      if (c >= pattern_[static_cast<size_t>(step[1] + 2 * k)] &&
          c <= pattern_[static_cast<size_t>(step[1] + 2 * k + 1)])
        return true;
    return false;
  }
  bool is_word(int64_t at) const {
    return at >= 0 && at < text_.bytes &&
           (std::isalnum(static_cast<unsigned char>(text_.data[at])) || text_.data[at] == '_');
  }
  bool holds(int64_t assertion, int64_t at) const {
    switch (assertion) {
      case rt::kTextBegins: return at == 0;
      case rt::kTextEnds: return at == text_.bytes;
      case rt::kLineBegins: return at == 0 || text_.data[at - 1] == '\n';
      case rt::kLineEnds: return at == text_.bytes || text_.data[at] == '\n';
      case rt::kWordEdge: return is_word(at - 1) != is_word(at);
      default: return is_word(at - 1) == is_word(at);
    }
  }

  rt::Text text_;
  std::span<const int64_t> pattern_;
  int64_t steps_;
  std::vector<bool> tried_;
};

std::vector<Tensor> match_texts_reference(const MeaningView& n, std::span<const Tensor> in) {
  const int64_t steps = n.attr_int("steps");
  Tensor y(DType::b1, in[0].dims());
  for (int64_t i = 0; i < y.size(); ++i)
    y.set_int(i, Backtracking(in[0].text(i), in[1].as<int64_t>(), steps).matches());
  return {y, Tensor(DType::i64, {3 * steps})};
}

}  // namespace

Operator declare_match_texts() {
  return {.name = "MatchTexts",
          .domain = "cameo",
          .since = {1},
          .inputs = {{"X", kStrings}, {"pattern", kInt64}},
          .outputs = {{"Y"}, {"room"}},
          .attributes = {{"steps", AttrKind::Int}},
          .infer = infer_match_texts,
          .meaning = match_texts,
          .reference = match_texts_reference};
}

}  // namespace cameo::ops
