// list_erase: the list without the item at `position`, or without its last one.
#pragma once
#include "runtime/kernels/nest.h"
#include "runtime/list.h"

namespace rt {

template <class P>
RT_FN void list_erase(const Call& call, u64* to, const u64* from, const P* position) {
  const List& list = list_at(from);
  const i64 at = place_in_list(call, position ? i64{*position} : -1, list.count);
  List* shorter = at < 0 ? nullptr : new_list(call, items_of(list), list.count);
  if (!shorter) return;
  ListItem* items = items_of(shorter->block);
  for (i64 i = at + 1; i < list.count; ++i) items[i - 1] = items[i];
  shorter->count = shorter->block->used = list.count - 1;
  *to = reinterpret_cast<u64>(shorter);
}
RT_FN void list_erase(const Call& call, u64* to, const u64* from) {
  list_erase(call, to, from, static_cast<const i64*>(nullptr));
}

}  // namespace rt
