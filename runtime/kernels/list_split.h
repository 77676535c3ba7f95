// list_split: the parts of x[dims] along an axis, which may go away: of the `lengths` that are listed (-1: all parts
// are of the one that is there, the last may be shorter), or of 1.
#pragma once
#include "runtime/kernels/nest.h"
#include "runtime/list.h"

namespace rt {
namespace detail {

struct SplitTensor {
  const char* data;
  const i64* dims;
  i64 axis, inner, outer;  // bytes behind each index of the axis; indices in front of it
  bool keeps_axis;
  i32 rank;
};

RT_FN bool add_part(const Call& call, const SplitTensor& x, ListItem& item, i64 begin, i64 length) {
  i64 dims[64];
  i32 rank = 0;
  for (i32 d = 0; d < x.rank; ++d)
    if (d != x.axis)
      dims[rank++] = x.dims[d];
    else if (x.keeps_axis)
      dims[rank++] = length;
  const i64 piece = length * x.inner, row = x.dims[x.axis] * x.inner;
  i64 elements = 1;
  for (i32 d = 0; d < rank; ++d) elements *= dims[d];
  if (!new_tensor(call, item, dims, rank, elements ? x.outer * piece / elements : 0)) return false;
  char* to = static_cast<char*>(const_cast<void*>(item.data));
  for (i64 o = 0; o < x.outer; ++o) copy_bytes(to + o * piece, x.data + o * row + begin * x.inner, piece);
  return true;
}

template <class L>
RT_FN i64 part_length(const L* lengths, i64 count, i64 i, i64 left) {
  const i64 length = lengths ? i64{lengths[count < 0 ? 0 : i]} : 1;
  return count < 0 && length > left ? left : length;
}

/// How many parts there are; -1, and a fault, where they do not sum to the axis.
template <class L>
RT_FN i64 part_count(const Call& call, const L* lengths, i64 count, i64 whole) {
  const i64 each = part_length(lengths, -1, 0, whole ? whole : 1);
  if (count < 0 && each > 0) return (whole + each - 1) / each;
  i64 left = whole;
  for (i64 i = 0; i < count; ++i) {
    const i64 length = i64{lengths[i]};
    left = length < 0 || length > left ? -1 : left - length;
    if (left < 0) break;
  }
  if (count >= 0 && left == 0) return count;
  raise_fault(call.fault, kValueFault, left, whole);
  return -1;
}

}  // namespace detail

template <class T, class L, class... Dims>
RT_FN void list_split(const Call& call, u64* to, const T* x, const L* lengths, i64 axis, i64 keeps_axis, i64 count,
                      Dims... dims) {
  const i64 all[] = {dims...};
  detail::SplitTensor tensor = {reinterpret_cast<const char*>(x), all, axis, sizeof(T), 1, keeps_axis != 0,
                                static_cast<i32>(sizeof...(dims))};
  for (i64 d = 0; d < axis; ++d) tensor.outer *= all[d];
  for (i64 d = axis + 1; d < tensor.rank; ++d) tensor.inner *= all[d];
  const i64 parts = detail::part_count(call, lengths, count, all[axis]);
  List* list = parts < 0 ? nullptr : new_list(call, nullptr, 0);
  if (!list) return;
  for (i64 i = 0, begin = 0; i < parts; ++i) {
    const i64 length = detail::part_length(lengths, count, i, all[axis] - begin);
    ListItem item;
    if (!detail::add_part(call, tensor, item, begin, length)) return;
    if (list->count == list->block->room) {
      list = new_list(call, items_of(*list), list->count);
      if (!list) return;
    }
    items_of(list->block)[list->count] = item;
    list->block->used = ++list->count;
    begin += length;
  }
  *to = reinterpret_cast<u64>(list);
}
template <class T, class... Dims>
RT_FN void list_split(const Call& call, u64* to, const T* x, i64 axis, i64 keeps_axis, i64 count, Dims... dims) {
  list_split(call, to, x, static_cast<const i64*>(nullptr), axis, keeps_axis, count, dims...);
}

}  // namespace rt
