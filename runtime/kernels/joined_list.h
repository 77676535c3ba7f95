// joined_list: y[dims], a list's tensors one after the other along an axis, which is a new one if `is_new`.
#pragma once
#include "runtime/kernels/nest.h"
#include "runtime/list.h"

namespace rt {

template <class T, class... Dims>
RT_FN void joined_list(const Call& call, T* y, const u64* from, const i64*, i64 axis, i64 is_new, Dims... dims) {
  const List& list = list_at(from);
  const i64 all[] = {dims..., 0};
  i64 outer = 1, inner = 1, begin = 0;
  for (i64 d = 0; d < axis; ++d) outer *= all[d];
  for (i64 d = axis + 1; d < static_cast<i64>(sizeof...(dims)); ++d) inner *= all[d];
  for (i64 i = 0; i < list.count; ++i) {
    const ListItem& item = items_of(list)[i];
    const i64 piece = inner * (is_new ? 1 : item.dims[axis]);
    if (item.bytes != outer * piece * static_cast<i64>(sizeof(T)) || begin + piece > all[axis] * inner)
      return raise_fault(call.fault, kValueFault, item.bytes, outer * piece * static_cast<i64>(sizeof(T)));
    for (i64 o = 0; o < outer; ++o)
      copy_bytes(y + o * all[axis] * inner + begin, static_cast<const T*>(item.data) + o * piece,
                 piece * static_cast<i64>(sizeof(T)));
    begin += piece;
  }
}

}  // namespace rt
