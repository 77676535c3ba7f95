// match_texts: whether all of each string is what a pattern (match_texts_shape.h) takes: all ways at once, each
// instruction at most once a code point, so the time is that of the code points times the instructions. `room` has
// space for three lists of instructions. Bytes that are no UTF-8 match nothing.
#pragma once
#include "runtime/kernels/match_texts_shape.h"
#include "runtime/kernels/nest.h"
#include "runtime/kernels/utf8.h"

namespace rt {
namespace detail {

class Matcher {
 public:
  RT_FN Matcher(const i64* pattern, i64 steps, i64* room)
      : pattern_(pattern), steps_(steps), now_(room), next_(room + steps), marks_(room + 2 * steps) {}

  RT_FN bool matches(Text text) {
    now_count_ = 0;
    forget_marks();
    i32 before = -1;
    for (i64 at = 0;;) {
      const bool ends = at == text.bytes;
      const CodePoint c = ends ? CodePoint{-1, 0} : code_point_at(text, at);
      if (!ends && c.value < 0) return false;
      if (at == 0) enter(0);
      for (i64 i = 0; i < now_count_; ++i) follow(i, before, c.value);  // which makes the list longer
      if (ends) return has_matched();
      step(c.value);
      if (!now_count_) return false;
      before = c.value;
      at += c.bytes;
    }
  }

 private:
  RT_FN const i64* instruction(i64 number) const { return pattern_ + number * kPatternStep; }
  RT_FN void forget_marks() {
    for (i64 i = 0; i < steps_; ++i) marks_[i] = 0;
  }
  RT_FN void enter(i64 number) {
    if (marks_[number]) return;
    marks_[number] = 1;
    now_[now_count_++] = number;
  }
  RT_FN static bool is_word(i32 c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }
  RT_FN static bool holds(i64 assertion, i32 before, i32 behind) {
    switch (assertion) {
      case kTextBegins: return before < 0;
      case kTextEnds: return behind < 0;
      case kLineBegins: return before < 0 || before == '\n';
      case kLineEnds: return behind < 0 || behind == '\n';
      case kWordEdge: return is_word(before) != is_word(behind);
      default: return is_word(before) == is_word(behind);
    }
  }
  // What entry `i` of the list leads to without taking anything.
  RT_FN void follow(i64 i, i32 before, i32 behind) {
    const i64* at = instruction(now_[i]);
    if (at[0] == kForks) enter(at[1]), enter(at[2]);
    if (at[0] == kAsserts && holds(at[1], before, behind)) enter(now_[i] + 1);
  }
  RT_FN bool takes(const i64* at, i32 c) const {
    const i64* pair = pattern_ + at[1];
    for (i64 k = 0; k < at[2]; ++k, pair += 2)
      if (c >= pair[0] && c <= pair[1]) return true;
    return false;
  }
  RT_FN void step(i32 c) {
    i64 count = 0;
    forget_marks();
    for (i64 i = 0; i < now_count_; ++i) {
      const i64* at = instruction(now_[i]);
      const i64 to = now_[i] + 1;
      if (at[0] != kTakes || !takes(at, c) || marks_[to]) continue;
      marks_[to] = 1;
      next_[count++] = to;
    }
    i64* const old = now_;
    now_ = next_;
    next_ = old;
    now_count_ = count;
  }
  RT_FN bool has_matched() const {
    for (i64 i = 0; i < now_count_; ++i)
      if (instruction(now_[i])[0] == kMatches) return true;
    return false;
  }

  const i64* pattern_;
  i64 steps_;
  i64 *now_, *next_, *marks_;
  i64 now_count_ = 0;
};

}  // namespace detail

RT_FN void match_texts(const RowCall& call, bool* y, i64* room, const i64* x, const i64* pattern, i64 count,
                       i64 steps) {
  LockedStrings strings(call);
  detail::Matcher matcher(pattern, steps, room);
  for (i64 i = 0; i < count; ++i) y[i] = matcher.matches(strings.text(x[i]));
  for (i64 i = 0; i < 3 * steps; ++i) room[i] = 0;  // what it holds says nothing
}

}  // namespace rt
