// The pieces of a text between delimiters, at most `most` of them if that is not negative: the last one holds the rest.
// An empty delimiter stands for any number of blanks; pieces are not empty then, and blanks in front of one go.
#pragma once
#include "runtime/kernels/nest.h"

namespace rt {
namespace detail {

class TextPieces {
 public:
  RT_FN TextPieces(Text text, Text delimiter, i64 most) : text_(text), delimiter_(delimiter), left_(most) {}
  // False: there is none left.
  RT_FN bool next(Text* piece) {
    if (delimiter_.bytes == 0) skip_blanks();
    if (ended_ || (delimiter_.bytes == 0 && !text_.bytes)) return false;
    i64 end = left_-- == 1 ? text_.bytes : 0;
    while (end < text_.bytes && !cuts(end)) ++end;
    *piece = {text_.data, end};
    ended_ = end == text_.bytes;
    const i64 taken = ended_ ? end : end + delimiter_.bytes;
    text_ = {text_.data + taken, text_.bytes - taken};
    return true;
  }

  RT_FN const char* behind() const { return text_.data; }  // the piece and what ends it
  RT_FN bool ended() const { return ended_; }              // with the text

 private:
  RT_FN static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
  RT_FN void skip_blanks() {
    while (text_.bytes && is_blank(*text_.data)) ++text_.data, --text_.bytes;
  }
  RT_FN bool cuts(i64 at) const {
    if (delimiter_.bytes == 0) return is_blank(text_.data[at]);
    return at + delimiter_.bytes <= text_.bytes &&
           !__builtin_memcmp(text_.data + at, delimiter_.data, static_cast<size_t>(delimiter_.bytes));
  }

  Text text_, delimiter_;
  i64 left_;
  bool ended_ = false;
};

}  // namespace detail
}  // namespace rt
