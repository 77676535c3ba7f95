// join_texts: each string of `a` with that of `b` behind it.
#pragma once
#include "runtime/kernels/nest.h"

namespace rt {

RT_FN void join_texts(const RowCall& call, i64* y, const i64* a, const i64* b, i64 count) {
  LockedStrings strings(call);
  for (i64 i = 0; i < count; ++i) {
    const i64 bytes = strings.text(a[i]).bytes + strings.text(b[i]).bytes;
    char* room = strings.room(bytes);
    if (!room) return;
    const Text first = strings.text(a[i]), second = strings.text(b[i]);
    __builtin_memcpy(room, first.data, static_cast<size_t>(first.bytes));
    __builtin_memcpy(room + first.bytes, second.data, static_cast<size_t>(second.bytes));
    y[i] = strings.code({room, bytes});
  }
}

}  // namespace rt
