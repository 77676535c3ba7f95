// Pieces of a string between delimiters, as Python's `split` has them: an empty delimiter stands for blanks.
#pragma once
#include "frontend/ops/texts.h"

namespace cameo::ops {

/// At most `most` of them if that is not negative; the last one then holds the rest.
inline std::vector<std::string_view> pieces_of(std::string_view text, std::string_view delimiter, int64_t most) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  std::vector<std::string_view> pieces;
  const bool by_blanks = delimiter.empty();
  for (;;) {
    if (by_blanks) text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    if (by_blanks && text.empty()) return pieces;
    const bool is_last = std::ssize(pieces) + 1 == most;
    const size_t end = is_last ? text.npos : by_blanks ? text.find_first_of(kBlanks) : text.find(delimiter);
    pieces.push_back(text.substr(0, end));
    if (end == text.npos) return pieces;
    text.remove_prefix(end + delimiter.size());
  }
}

}  // namespace cameo::ops
