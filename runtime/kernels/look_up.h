// look_up: the values that a map has for `count` keys, and zero where it has none; of equal keys the first.
#pragma once
#include "runtime/kernels/nest.h"
#include "runtime/list.h"

namespace rt {

template <class T, class K>
RT_FN void look_up(const Call&, T* found, const u64* from, const K* wanted, i64 count) {
  const ListItem* pair = items_of(list_at(from));
  const K* keys = static_cast<const K*>(pair[0].data);
  const T* values = static_cast<const T*>(pair[1].data);
  for (i64 i = 0; i < count; ++i) {
    i64 k = 0;
    while (k < pair[0].dims[0] && keys[k] != wanted[i]) ++k;
    found[i] = k < pair[0].dims[0] ? values[k] : T{};
  }
}

}  // namespace rt
