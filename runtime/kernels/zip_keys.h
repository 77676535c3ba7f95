// zip_keys: for each row of x[rows, columns] the map from `keys`, one a column, to its elements.
#pragma once
#include "runtime/kernels/nest.h"
#include "runtime/list.h"

namespace rt {

template <class T, class K>
RT_FN void zip_keys(const Call& call, u64* to, const T* x, const K* keys, i64 rows, i64 columns) {
  ListItem pair[2];
  if (!new_item(call, pair[0], keys, false, &columns, 1)) return;
  ListItem* maps = static_cast<ListItem*>(take_for_list(call, static_cast<u64>(rows) * sizeof(ListItem)));
  for (i64 i = 0; maps && i < rows; ++i) {
    if (!new_item(call, pair[1], x + i * columns, false, &columns, 1)) return;
    const List* map = new_list(call, pair, 2);
    if (!map) return;
    maps[i] = {map, nullptr, sizeof(u64), kListItem};
  }
  if (maps) *to = reinterpret_cast<u64>(new_list(call, maps, rows));
}

}  // namespace rt
