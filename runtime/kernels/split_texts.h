// split_texts: the pieces of each string (text_pieces.h), `width` of them, the last ones empty.
#pragma once
#include "runtime/kernels/text_pieces.h"

namespace rt {
// The texts of a heap move when it takes in a piece, so each begins at the place that the one before it left.
RT_FN void split_texts(const RowCall& call, i64* y, const i64* x, const i64* delimiter, const i64*, i64 count, i64 most,
                       i64 width) {
  LockedStrings strings(call);
  for (i64 i = 0; i < count; ++i) {
    i64 done = 0, left = most;
    bool ended = false;
    for (i64 k = 0; k < width; ++k) {
      const Text whole = strings.text(x[i]);
      detail::TextPieces pieces({whole.data + done, whole.bytes - done}, strings.text(*delimiter), left--);
      Text piece = {};
      ended = ended || !pieces.next(&piece);
      y[i * width + k] = 0;
      if (ended) continue;
      done = pieces.behind() - whole.data;
      ended = pieces.ended();
      y[i * width + k] = strings.code(piece);
    }
  }
}

}  // namespace rt
