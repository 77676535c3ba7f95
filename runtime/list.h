// What sequences, optionals and maps are in a run. A value of such a kind is one number, the address of a List, so that
// it is copied, carried through loops and handed on like a scalar. Lists and what they hold are never changed: a list
// that is another with one more item shares the other's block where there is room behind. All of it is memory of the
// context's, which the next run forgets. No system header.
#pragma once

#include "runtime/call.h"

namespace rt {

struct ListItem {
  const void* data;     // compact, a byte for each element of 4 or 2 bits; of a list its List
  const int64_t* dims;  // `rank` of them
  int64_t bytes;
  int32_t rank;  // kListItem: it is a list
};
inline constexpr int32_t kListItem = -1;

struct ListBlock {  // the items stand behind it
  int64_t room, used;
};

struct List {  // an optional has one item or none, a map its keys and its values
  int64_t count;
  ListBlock* block;
};

struct ListHeap {
  void* (*take)(ListHeap* heap, uint64_t bytes);  // aligned to 16 bytes; null where there is no more memory
};

RT_FN ListItem* items_of(const ListBlock* block) {
  return reinterpret_cast<ListItem*>(const_cast<ListBlock*>(block + 1));
}
RT_FN const ListItem* items_of(const List& list) { return items_of(list.block); }
RT_FN const List& list_at(const uint64_t* value) { return *reinterpret_cast<const List*>(*value); }

// Null, and a fault of the run, where there is no memory.
RT_FN void* take_for_list(const Call& call, uint64_t bytes) {
  void* memory = call.lists->take(call.lists, bytes);
  if (!memory) raise_fault(call.fault, kMemoryFault, static_cast<int64_t>(bytes), 0);
  return memory;
}

RT_FN void copy_bytes(void* to, const void* from, int64_t bytes) {
  if (bytes) __builtin_memcpy(to, from, static_cast<uint64_t>(bytes));
}

// A list of these items, which has room for more behind them.
RT_FN List* new_list(const Call& call, const ListItem* items, int64_t count) {
  const int64_t room = count < 4 ? 4 : count + count / 2;
  const uint64_t of_block = sizeof(ListBlock) + static_cast<uint64_t>(room) * sizeof(ListItem);
  char* memory = static_cast<char*>(take_for_list(call, sizeof(List) + of_block));
  if (!memory) return nullptr;
  List* list = reinterpret_cast<List*>(memory);
  *list = {count, reinterpret_cast<ListBlock*>(list + 1)};
  *list->block = {room, count};
  copy_bytes(items_of(list->block), items, count * static_cast<int64_t>(sizeof(ListItem)));
  return list;
}

// Room for a tensor of these dims, which the list keeps.
RT_FN bool new_tensor(const Call& call, ListItem& item, const int64_t* dims, int32_t rank, int64_t element_bytes) {
  int64_t count = 1;
  for (int32_t d = 0; d < rank; ++d) count *= dims[d];
  const uint64_t of_data = (static_cast<uint64_t>(count * element_bytes) + 15) / 16 * 16;
  char* memory = static_cast<char*>(take_for_list(call, of_data + static_cast<uint64_t>(rank) * sizeof(int64_t)));
  if (!memory) return false;
  copy_bytes(memory + of_data, dims, rank * static_cast<int64_t>(sizeof(int64_t)));
  item = {memory, reinterpret_cast<int64_t*>(memory + of_data), count * element_bytes, rank};
  return true;
}

// A copy of a tensor, or the list itself, as an item.
template <class T>
RT_FN bool new_item(const Call& call, ListItem& item, const T* element, bool is_list, const int64_t* dims,
                    int32_t rank) {
  if (is_list) {
    uint64_t list;
    copy_bytes(&list, element, sizeof list);
    item = {reinterpret_cast<const void*>(list), nullptr, sizeof list, kListItem};
    return true;
  }
  if (!new_tensor(call, item, dims, rank, sizeof(T))) return false;
  copy_bytes(const_cast<void*>(item.data), element, item.bytes);
  return true;
}

// Where in a list of so many a position points, which counts from the end where it is negative; -1, and a fault, where
// it is outside.
RT_FN int64_t place_in_list(const Call& call, int64_t position, int64_t count) {
  if (position >= -count && position < count) return position < 0 ? position + count : position;
  raise_fault(call.fault, kIndexFault, position, count);
  return -1;
}

}  // namespace rt
