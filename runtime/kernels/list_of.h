// list_of: the list without items, or with one, which is a list or a tensor of the dims that are said.
#pragma once
#include "runtime/kernels/nest.h"
#include "runtime/list.h"

namespace rt {

RT_FN void list_of(const Call& call, u64* to) { *to = reinterpret_cast<u64>(new_list(call, nullptr, 0)); }

template <class T, class... Dims>
RT_FN void list_of(const Call& call, u64* to, const T* element, i64 is_list, Dims... dims) {
  const i64 all[] = {dims..., 0};
  ListItem item;
  if (new_item(call, item, element, is_list, all, sizeof...(dims)))
    *to = reinterpret_cast<u64>(new_list(call, &item, 1));
}

}  // namespace rt
