// list_dims: the dims of the tensor at `position` of a list, `rank` of them, none larger than `most`.
#pragma once
#include "runtime/kernels/nest.h"
#include "runtime/list.h"

namespace rt {

template <class P>
RT_FN void list_dims(const Call& call, i64* dims, const u64* from, const P* position, i64 rank, i64 most) {
  const List& list = list_at(from);
  const i64 at = place_in_list(call, i64{*position}, list.count);
  if (at < 0) return;
  const ListItem& item = items_of(list)[at];
  if (item.rank != rank) return raise_fault(call.fault, kValueFault, item.rank, rank);
  for (i64 d = 0; d < rank; ++d) {
    if (item.dims[d] > most) return raise_fault(call.fault, kValueFault, item.dims[d], most);
    dims[d] = item.dims[d];
  }
}

}  // namespace rt
