// change_case: strings in upper or lower case, code point by code point; bytes that are no UTF-8 stay.
#pragma once
#include "runtime/kernels/case_mapping.h"
#include "runtime/kernels/nest.h"
#include "runtime/kernels/utf8.h"

namespace rt {

RT_FN void change_case(const RowCall& call, i64* y, const i64* x, i64 count, i64 upper) {
  LockedStrings strings(call);
  for (i64 i = 0; i < count; ++i) {
    char* const room = strings.room(2 * strings.text(x[i]).bytes);  // no code point becomes twice as long
    if (!room) return;
    const Text text = strings.text(x[i]);
    char* to = room;
    for (i64 at = 0; at < text.bytes;) {
      const CodePoint c = code_point_at(text, at);
      if (c.value < 0)
        *to++ = text.data[at];
      else
        to = put_code_point(to, upper ? to_upper(static_cast<u32>(c.value)) : to_lower(static_cast<u32>(c.value)));
      at += c.bytes;
    }
    y[i] = strings.code({room, to - room});
  }
}

}  // namespace rt
