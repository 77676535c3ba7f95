// count_pieces: how many pieces each string has (text_pieces.h).
#pragma once
#include "runtime/kernels/text_pieces.h"

namespace rt {

RT_FN void count_pieces(const RowCall& call, i64* counts, const i64* x, const i64* delimiter, i64 count, i64 most) {
  LockedStrings strings(call);
  for (i64 i = 0; i < count; ++i) {
    detail::TextPieces pieces(strings.text(x[i]), strings.text(*delimiter), most);
    Text piece;
    for (counts[i] = 0; pieces.next(&piece);) ++counts[i];
  }
}

}  // namespace rt
