// joined_dims: the dims, `rank` of them and none larger than `most`, of a list's tensors one after the other along an
// axis, which is a new one if `is_new`. `of_empty`: those of a list without tensors, if that is no fault.
#pragma once
#include "runtime/kernels/nest.h"
#include "runtime/list.h"

namespace rt {

template <class... Extent>
RT_FN void joined_dims(const Call& call, i64* dims, const u64* from, i64 rank, i64 axis, i64 is_new, i64 most,
                       Extent... of_empty) {
  const List& list = list_at(from);
  if (!list.count && !sizeof...(of_empty)) return raise_fault(call.fault, kIndexFault, 0, 0);
  if (!list.count) {
    i64 d = 0;
    (..., (dims[d++] = of_empty));
    return;
  }
  const auto extent = [&](const ListItem& item, i64 d) {
    return is_new ? d == axis ? 1 : item.dims[d > axis ? d - 1 : d] : item.dims[d];
  };
  i64 along = 0;
  for (i64 i = 0; i < list.count; ++i) {
    const ListItem& item = items_of(list)[i];
    if (item.rank + (is_new ? 1 : 0) != rank) return raise_fault(call.fault, kValueFault, item.rank, rank);
    for (i64 d = 0; d < rank; ++d) {
      if (d != axis && i && extent(item, d) != dims[d])
        return raise_fault(call.fault, kValueFault, extent(item, d), dims[d]);
      if (d != axis) dims[d] = extent(item, d);
    }
    along += extent(item, axis);
  }
  dims[axis] = along;
  for (i64 d = 0; d < rank; ++d)
    if (dims[d] > most) return raise_fault(call.fault, kValueFault, dims[d], most);
}

}  // namespace rt
