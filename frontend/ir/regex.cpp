// See regex.h. Text to tree, tree to instructions (Thompson). What RE2 captures and which way it prefers makes no
// difference to whether all of a text matches, so groups are plain and lazy repetitions are greedy.
#include "frontend/ir/regex.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "runtime/kernels/case_mapping.h"
#include "runtime/kernels/match_texts_shape.h"
#include "runtime/kernels/utf8.h"

namespace cameo {
namespace {

constexpr int32_t kLastCodePoint = 0x10ffff;
constexpr int kMostRepeats = 1000, kDeepest = 200;
constexpr size_t kMostSteps = 100000;

using Range = std::pair<int32_t, int32_t>;
using Ranges = std::vector<Range>;

struct Fault {
  std::string text;
  bool is_unknown;
};
[[noreturn]] void wrong(std::string text) { throw Fault{std::move(text), false}; }
[[noreturn]] void unknown(std::string text) { throw Fault{std::move(text), true}; }

struct Regex {
  enum Kind { Sequence, Either, Repeat, Class, Assert } kind = Sequence;
  std::vector<Regex> parts{};
  Ranges ranges{};
  int64_t assertion = 0;
  int least = 0, most = 0;  // -1: any number
};

Ranges sorted(Ranges ranges) {
  std::ranges::sort(ranges);
  Ranges merged;
  for (const Range& r : ranges)
    if (!merged.empty() && r.first <= merged.back().second + 1)
      merged.back().second = std::max(merged.back().second, r.second);
    else
      merged.push_back(r);
  return merged;
}
Ranges others(const Ranges& ranges) {
  Ranges rest;
  int32_t next = 0;
  for (const Range& r : sorted(ranges)) {
    if (r.first > next) rest.emplace_back(next, r.first - 1);
    next = r.second + 1;
  }
  if (next <= kLastCodePoint) rest.emplace_back(next, kLastCodePoint);
  return rest;
}
/// With both cases of each letter.
Ranges in_both_cases(const Ranges& ranges) {
  Ranges all = ranges;
  for (const Range& r : ranges)
    for (int32_t c = r.first; c <= std::min(r.second, 0x1ffff); ++c)
      for (const uint32_t other : {rt::to_upper(static_cast<uint32_t>(c)), rt::to_lower(static_cast<uint32_t>(c))})
        if (other != static_cast<uint32_t>(c))
          all.emplace_back(static_cast<int32_t>(other), static_cast<int32_t>(other));
  return sorted(all);
}

const Ranges kDigits{{'0', '9'}}, kWords{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}},
    kSpaces{{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}};

/// Of a Perl class like \d.
std::optional<Ranges> perl_class(char letter) {
  switch (letter) {
    case 'd': return kDigits;
    case 'D': return others(kDigits);
    case 'w': return kWords;
    case 'W': return others(kWords);
    case 's': return kSpaces;
    case 'S': return others(kSpaces);
    default: return std::nullopt;
  }
}

struct NamedClass {
  std::string_view name;
  Ranges ranges;
};
const std::vector<NamedClass>& named_classes() {
  static const std::vector<NamedClass> classes{{"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
                                               {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
                                               {"ascii", {{0, 0x7f}}},
                                               {"blank", {{'\t', '\t'}, {' ', ' '}}},
                                               {"cntrl", {{0, 0x1f}, {0x7f, 0x7f}}},
                                               {"digit", kDigits},
                                               {"graph", {{'!', '~'}}},
                                               {"lower", {{'a', 'z'}}},
                                               {"print", {{' ', '~'}}},
                                               {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
                                               {"space", {{'\t', '\r'}, {' ', ' '}}},
                                               {"upper", {{'A', 'Z'}}},
                                               {"word", kWords},
                                               {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}}};
  return classes;
}

class RegexParser {
 public:
  explicit RegexParser(std::string_view text) : text_(text) {}
  Regex parse() {
    Regex all = either(0);
    if (!at_end()) wrong("a `)` without its `(`");
    return all;
  }
  size_t at() const { return at_; }

 private:
  struct Flags {
    bool any_case = false, lines = false, dot_takes_lines = false;
  };

  bool at_end() const { return at_ == text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[at_]; }
  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    return at_ += word.size(), true;
  }
  int32_t code_point() {
    if (at_end()) wrong("the pattern ends too early");
    const rt::CodePoint c = rt::code_point_at({text_.data(), std::ssize(text_)}, static_cast<int64_t>(at_));
    if (c.value < 0) wrong("bytes that are no UTF-8");
    at_ += static_cast<size_t>(c.bytes);
    return c.value;
  }
  Regex class_of(Ranges ranges) const {
    return {Regex::Class, {}, flags_.any_case ? in_both_cases(sorted(ranges)) : sorted(ranges)};
  }
  static Regex assertion(int64_t what) { return {Regex::Assert, {}, {}, what}; }

  Regex either(int depth) {
    if (depth > kDeepest) wrong("groups are nested too deeply");
    Regex all{Regex::Either, {sequence(depth)}};
    while (take("|")) all.parts.push_back(sequence(depth));
    return all.parts.size() == 1 ? std::move(all.parts[0]) : all;
  }

  Regex sequence(int depth) {
    Regex all;
    while (!at_end() && peek() != '|' && peek() != ')') {
      if (take("\\Q")) {
        while (!at_end() && !take("\\E")) all.parts.push_back(class_of({one(code_point())}));
        if (!all.parts.empty()) all.parts.back() = repeated(std::move(all.parts.back()));
        continue;
      }
      all.parts.push_back(repeated(atom(depth)));
    }
    return all;
  }
  static Range one(int32_t c) { return {c, c}; }

  Regex repeated(Regex what) {
    for (bool again = false;; again = true) {
      int least = 0, most = -1;
      const size_t begin = at_;
      if (take("+"))
        least = 1;
      else if (take("?"))
        most = 1;
      else if (!take("*") && !counts(&least, &most))
        return what;
      if (again) at_ = begin, wrong("a repetition of a repetition");
      take("?");
      Regex all{Regex::Repeat, {}, {}, 0, least, most};
      all.parts.push_back(std::move(what));
      what = std::move(all);
    }
  }
  std::optional<int> number() {
    int value = 0;
    const size_t begin = at_;
    for (; peek() >= '0' && peek() <= '9'; ++at_) value = std::min(kMostRepeats + 1, value * 10 + (peek() - '0'));
    return at_ == begin ? std::nullopt : std::optional(value);
  }
  /// {2}, {2,} or {2,5}; other braces are letters.
  bool counts(int* least, int* most) {
    const size_t begin = at_;
    if (!take("{")) return false;
    const std::optional<int> low = number();
    *least = low.value_or(0), *most = *least;
    if (low && take(",")) *most = number().value_or(-1);
    if (!low || !take("}")) return at_ = begin, false;
    if (*least > kMostRepeats || *most > kMostRepeats || (*most >= 0 && *most < *least))
      at_ = begin, wrong(fmt::format("a repetition that is none of 0 to {} times", kMostRepeats));
    return true;
  }

  Regex atom(int depth) {
    switch (peek()) {
      case '(': return group(depth);
      case '[': return bracket();
      case '\\': return escape();
      case '.': return ++at_, Regex{Regex::Class, {}, flags_.dot_takes_lines ? others({}) : others({one('\n')})};
      case '^': return ++at_, assertion(flags_.lines ? rt::kLineBegins : rt::kTextBegins);
      case '$': return ++at_, assertion(flags_.lines ? rt::kLineEnds : rt::kTextEnds);
      case '*':
      case '+':
      case '?': wrong("a repetition of nothing");
      default: return class_of({one(code_point())});
    }
  }

  Regex group(int depth) {
    const Flags outer = flags_;
    ++at_;
    if (take("?P<") || take("?<")) {
      if (peek() == '=' || peek() == '!') wrong("a look behind, which RE2 has not");
      while (!at_end() && peek() != '>') ++at_;
      if (!take(">")) wrong("a group's name without its `>`");
    } else if (take("?") && !group_flags()) {
      return {};  // the flags hold from here to the end of the group around
    }
    Regex inside = either(depth + 1);
    if (!take(")")) wrong("a `(` without its `)`");
    flags_ = outer;
    return inside;
  }
  /// True where a group follows.
  bool group_flags() {
    for (bool on = true;; ++at_) {
      switch (peek()) {
        case '-': on = false; break;
        case 'i': flags_.any_case = on; break;
        case 'm': flags_.lines = on; break;
        case 's': flags_.dot_takes_lines = on; break;
        case 'U': break;
        case ':': return ++at_, true;
        case ')': return ++at_, false;
        default: wrong("a group of a kind that RE2 has not");
      }
    }
  }

  Regex escape() {
    ++at_;
    const char letter = peek();
    if (const auto ranges = perl_class(letter)) return ++at_, Regex{Regex::Class, {}, *ranges};
    switch (letter) {
      case 'A': return ++at_, assertion(rt::kTextBegins);
      case 'z': return ++at_, assertion(rt::kTextEnds);
      case 'b': return ++at_, assertion(rt::kWordEdge);
      case 'B': return ++at_, assertion(rt::kNoWordEdge);
      default: return class_of({one(escaped())});
    }
  }
  int32_t hex(size_t least, size_t most) {
    int64_t value = 0;
    size_t count = 0;
    for (; count < most; ++count, ++at_) {
      const char c = peek();
      const int digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
      if (digit < 0) break;
      value = value * 16 + digit;
    }
    if (count < least || value > kLastCodePoint) wrong("no code point after `\\x`");
    return static_cast<int32_t>(value);
  }
  /// The code point that stands behind a backslash.
  int32_t escaped() {
    constexpr std::string_view kLetters = "afnrtv";
    constexpr char kMeant[] = {'\a', '\f', '\n', '\r', '\t', '\v'};
    const char letter = peek();
    if (const size_t i = kLetters.find(letter); i != kLetters.npos && !at_end()) return ++at_, kMeant[i];
    if (letter == 'p' || letter == 'P') unknown("classes of Unicode like `\\pL`");
    if (letter == 'C') unknown("single bytes, `\\C`");
    if (take("x{")) {
      const int32_t value = hex(1, 8);
      if (!take("}")) wrong("a `\\x{` without its `}`");
      return value;
    }
    if (take("x")) return hex(2, 2);
    if (letter >= '0' && letter <= '7' &&
        (letter == '0' || (text_.size() > at_ + 1 && text_[at_ + 1] >= '0' && text_[at_ + 1] <= '7'))) {
      int32_t value = 0;
      for (int i = 0; i < 3 && peek() >= '0' && peek() <= '7'; ++i, ++at_) value = value * 8 + (peek() - '0');
      return value;
    }
    const bool is_alphanumeric = (letter >= '0' && letter <= '9') || ((letter | 32) >= 'a' && (letter | 32) <= 'z');
    if (is_alphanumeric) wrong(fmt::format("`\\{}`, which RE2 has not", letter));
    return code_point();
  }

  Regex bracket() {
    Ranges ranges;
    ++at_;
    const bool negates = take("^");
    for (bool first = true; first || peek() != ']'; first = false) {
      if (at_end()) wrong("a `[` without its `]`");
      if (take("[:")) {
        add_named(ranges);
        continue;
      }
      if (peek() == '\\' && at_ + 1 < text_.size())
        if (const auto all = perl_class(text_[at_ + 1])) {
          ranges.insert(ranges.end(), all->begin(), all->end());
          at_ += 2;
          continue;
        }
      ranges.push_back(range());
    }
    ++at_;
    if (flags_.any_case) ranges = in_both_cases(sorted(ranges));
    return {Regex::Class, {}, negates ? others(ranges) : sorted(ranges)};
  }
  void add_named(Ranges& ranges) {
    const bool negates = take("^");
    for (const NamedClass& c : named_classes())
      if (take(std::string(c.name) + ":]")) {
        const Ranges all = negates ? others(c.ranges) : c.ranges;
        return void(ranges.insert(ranges.end(), all.begin(), all.end()));
      }
    wrong("a class that RE2 has not");
  }
  int32_t in_bracket() { return take("\\") ? escaped() : code_point(); }
  Range range() {
    const int32_t low = in_bracket();
    if (peek() != '-' || at_ + 1 >= text_.size() || text_[at_ + 1] == ']') return one(low);
    ++at_;
    const int32_t high = in_bracket();
    if (high < low) wrong("a range that ends before it begins");
    return {low, high};
  }

  std::string_view text_;
  size_t at_ = 0;
  Flags flags_;
};

class RegexEmitter {
 public:
  RegexProgram emit(const Regex& all) {
    add(all);
    step(rt::kMatches);
    RegexProgram program;
    program.steps = std::ssize(steps_);
    const int64_t base = program.steps * rt::kPatternStep;
    for (Step& s : steps_) {
      if (s.op == rt::kTakes) s.a = base + 2 * s.a;
      program.pattern.insert(program.pattern.end(), {s.op, s.a, s.b});
    }
    for (const Range& r : ranges_) program.pattern.insert(program.pattern.end(), {r.first, r.second});
    return program;
  }

 private:
  struct Step {
    int64_t op, a, b;
  };
  size_t step(int64_t op, int64_t a = 0, int64_t b = 0) {
    if (steps_.size() == kMostSteps) wrong("too many repetitions");
    steps_.push_back({op, a, b});
    return steps_.size() - 1;
  }
  int64_t here() const { return std::ssize(steps_); }

  void add(const Regex& r) {
    switch (r.kind) {
      case Regex::Sequence:
        for (const Regex& part : r.parts) add(part);
        break;
      case Regex::Either: add_either(r.parts); break;
      case Regex::Repeat: add_repeat(r); break;
      case Regex::Class:
        step(rt::kTakes, std::ssize(ranges_), std::ssize(r.ranges));
        ranges_.insert(ranges_.end(), r.ranges.begin(), r.ranges.end());
        break;
      case Regex::Assert: step(rt::kAsserts, r.assertion); break;
    }
  }
  void jump_to_here(size_t from) { steps_[from].a = steps_[from].b = here(); }
  void add_either(std::span<const Regex> parts) {
    std::vector<size_t> ends;
    for (size_t i = 0; i < parts.size(); ++i) {
      const bool is_last = i + 1 == parts.size();
      const size_t fork = is_last ? 0 : step(rt::kForks, here() + 1);
      add(parts[i]);
      if (is_last) break;
      ends.push_back(step(rt::kForks));
      steps_[fork].b = here();
    }
    for (const size_t end : ends) jump_to_here(end);
  }
  void add_repeat(const Regex& r) {
    for (int i = 0; i < r.least; ++i) add(r.parts[0]);
    std::vector<size_t> forks;
    for (int i = r.least; i < r.most; ++i) {
      forks.push_back(step(rt::kForks, here() + 1));
      add(r.parts[0]);
    }
    if (r.most < 0) {
      const size_t fork = step(rt::kForks, here() + 1);
      add(r.parts[0]);
      step(rt::kForks, static_cast<int64_t>(fork), static_cast<int64_t>(fork));
      forks.push_back(fork);
    }
    for (const size_t fork : forks) steps_[fork].b = here();
  }

  std::vector<Step> steps_;
  Ranges ranges_;
};

}  // namespace

RegexProgram compile_regex(std::string_view text) {
  RegexParser parser(text);
  try {
    return RegexEmitter().emit(parser.parse());
  } catch (const Fault& fault) {
    return {{}, 0, fmt::format("{}, at byte {}", fault.text, parser.at()), fault.is_unknown};
  }
}

}  // namespace cameo
