// list_element: the item at `position` of a list: a list, or a tensor of the dims that are said.
#pragma once
#include "runtime/kernels/nest.h"
#include "runtime/list.h"

namespace rt {
namespace detail {

template <class T, class P, class... Dims>
RT_FN void list_element(const Call& call, T* to, const u64* from, const P* position, i64 is_list, Dims... dims) {
  const List& list = list_at(from);
  const i64 all[] = {dims..., 0}, at = place_in_list(call, i64{*position}, list.count);
  if (at < 0) return;
  const ListItem& item = items_of(list)[at];
  const i32 rank = is_list ? kListItem : static_cast<i32>(sizeof...(dims));
  if (item.rank != rank) return raise_fault(call.fault, kValueFault, item.rank, rank);
  if (is_list) return copy_bytes(to, &item.data, sizeof item.data);
  for (i32 d = 0; d < rank; ++d)
    if (item.dims[d] != all[d]) return raise_fault(call.fault, kValueFault, item.dims[d], all[d]);
  copy_bytes(to, item.data, item.bytes);
}

}  // namespace detail

// Of a tensor, behind the position, where its dims stand as elements, too.
template <class T, class P, class... Dims>
RT_FN void list_element(const Call& call, T* to, const u64* from, const P* position, const i64*, i64 is_list,
                        Dims... dims) {
  detail::list_element(call, to, from, position, is_list, dims...);
}
template <class P>
RT_FN void list_element(const Call& call, u64* to, const u64* from, const P* position, i64 is_list) {
  detail::list_element(call, to, from, position, is_list);
}

}  // namespace rt
