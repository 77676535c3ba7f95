// list_insert: the list with one more item in front of the one at `position`, or behind all. Behind all it shares the
// block of the other list, if that has room there which no other list has taken.
#pragma once
#include "runtime/kernels/nest.h"
#include "runtime/list.h"

namespace rt {
namespace detail {

RT_FN List* with_item(const Call& call, const List& list, const ListItem& item, i64 position) {
  const i64 count = list.count;
  if (position == count && list.block->used == count && count < list.block->room) {
    List* longer = static_cast<List*>(take_for_list(call, sizeof(List)));
    if (!longer) return nullptr;
    items_of(list.block)[list.block->used++] = item;
    *longer = {count + 1, list.block};
    return longer;
  }
  List* longer = new_list(call, items_of(list), count);
  if (!longer) return nullptr;
  ListItem* items = items_of(longer->block);
  for (i64 i = count; i > position; --i) items[i] = items[i - 1];
  items[position] = item;
  longer->count = longer->block->used = count + 1;
  return longer;
}

}  // namespace detail

template <class T, class P, class... Dims>
RT_FN void list_insert(const Call& call, u64* to, const u64* from, const T* element, const P* position, i64 is_list,
                       Dims... dims) {
  const List& list = list_at(from);
  const i64 all[] = {dims..., 0}, count = list.count;
  const i64 at = position && i64{*position} != count ? place_in_list(call, i64{*position}, count) : count;
  ListItem item;
  if (at < 0 || !new_item(call, item, element, is_list, all, sizeof...(dims))) return;
  *to = reinterpret_cast<u64>(detail::with_item(call, list, item, at));
}
template <class T, class... Dims>
RT_FN void list_insert(const Call& call, u64* to, const u64* from, const T* element, i64 is_list, Dims... dims) {
  list_insert(call, to, from, element, static_cast<const i64*>(nullptr), is_list, dims...);
}

}  // namespace rt
