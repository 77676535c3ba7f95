// What a kernel is called with. Emitted code and the kernel families include this and no system header.
// A kernel family sees a Call and typed pointers. A CPU kernel takes the pointers from its step's row: operands are
// Refs, base pointers stand in one array of the context, offsets are constants of the plan. A GPU kernel gets the same
// pointers, in the same order, as its parameters.
#pragma once

#include "runtime/rt/grid.h"

namespace rt {

using int8_t = __INT8_TYPE__;
using int16_t = __INT16_TYPE__;
using int32_t = __INT32_TYPE__;
using int64_t = __INT64_TYPE__;
using uint8_t = __UINT8_TYPE__;
using uint16_t = __UINT16_TYPE__;
using uint32_t = __UINT32_TYPE__;
using uint64_t = __UINT64_TYPE__;
using size_t = __SIZE_TYPE__;

struct Ref {  // address = bases[base] + offset; a model has some for each step
  uint64_t base : 16, offset : 48;
};

// A number that a step is given stands in a ref's offset, its sign in the highest of 48 bits.
inline constexpr int64_t kLargestNumber = (int64_t{1} << 47) - 1;
inline int64_t number_in(const Ref& ref) { return static_cast<int64_t>(static_cast<uint64_t>(ref.offset) << 16) >> 16; }

// Then one base for each graph input, one for each graph output, then the slots that rows set.
enum : uint32_t { kWeights = 0, kArena = 1, kFirstIo = 2 };

// Bytes that a GPU's thread moves at once. Weights, arena, inputs and outputs begin at a multiple of it.
inline constexpr int64_t kAlignment = 16;

enum : int32_t {
  kNoFault = 0,
  kIndexFault = 1 /* an index outside a dim of `limit` */,
  kValueFault = 2,
  kSizeFault = 3, /* symbols from place `index` up to `limit` that the model does not run at */
  kMemoryFault = 4 /* `index` bytes, for what a list holds, are more than there are */,
  kSentenceFault = 5 /* `index` is the address of what is to be said; on the host */
};

struct Fault {
  int32_t code;
  uint32_t row;  // filled by the executor
  int64_t index;
  int64_t limit;
};

struct ListHeap;  // list.h

struct Call {  // the share of a kernel's work that one CPU thread or one block of GPU threads does
  Fault* fault;
  void* scratch;  // Schedule::scratch_bytes of this thread's own, 64-byte aligned; a block has none
  int32_t chunk, chunks;
  ListHeap* lists = nullptr;  // of a kernel that makes lists, of which there is one chunk
  bool turned = false;        // an odd round of a loop: what is read backwards begins with what the caches still hold
  bool again = false;         // `scratch` is as this thread's last chunk of the same kernel and operands has left it
};

struct Text {
  const char* data;
  int64_t bytes;
};

// The strings of a context. An element is a code: equal strings have equal ones, and the empty one has 0.
struct StringHeap {
  Text (*text_of)(const StringHeap& heap, int64_t code);  // until the next string is made
  int64_t (*code_of)(StringHeap& heap, Text text);        // copies what is new
  char* (*room_for)(StringHeap& heap, int64_t bytes);     // where a new one may be written; null: there is no memory
  uint32_t busy;                                          // see LockedStrings
};

struct RowCall : Call {
  void* const* bases;
  const Ref* refs;
  StringHeap* strings = nullptr;  // null where the program has none
};

// The heap, for one kernel at a time.
class LockedStrings {
 public:
  explicit LockedStrings(const RowCall& call) : heap_(*call.strings) {
    while (__atomic_exchange_n(&heap_.busy, 1u, __ATOMIC_ACQUIRE)) {}
  }
  LockedStrings(const LockedStrings&) = delete;
  ~LockedStrings() { __atomic_store_n(&heap_.busy, 0u, __ATOMIC_RELEASE); }
  Text text(int64_t code) const { return heap_.text_of(heap_, code); }
  int64_t code(Text text) { return heap_.code_of(heap_, text); }
  // What texts were asked for before is elsewhere afterwards.
  char* room(int64_t bytes) { return heap_.room_for(heap_, bytes); }

 private:
  StringHeap& heap_;
};

using Kernel = void (*)(const RowCall&);

template <class T>
inline T* address(const RowCall& call, int ref) {
  return reinterpret_cast<T*>(static_cast<char*>(call.bases[call.refs[ref].base]) + call.refs[ref].offset);
}

// The same of an operand that stands in the thread's own memory.
template <class T>
inline T* in_scratch(const RowCall& call, int ref) {
  return reinterpret_cast<T*>(static_cast<char*>(call.scratch) + call.refs[ref].offset);
}

// A size of the run that a kernel is given: its operand is a place in the table of sizes.
inline int64_t size_at(const RowCall& call, int ref) { return *address<const int64_t>(call, ref); }

// A constant that a kernel is given: an f32's or i32's bits, or an i64.
template <class T>
inline T number_at(const RowCall& call, int ref) {
  if constexpr (sizeof(T) == sizeof(int64_t)) {
    return number_in(call.refs[ref]);
  } else {
    return __builtin_bit_cast(T, static_cast<uint32_t>(call.refs[ref].offset));
  }
}

// Of the faults that a Fault sees the first is kept; the run stops at the next row. On the CPU each chunk has one of
// its own, and the first row's lowest chunk's is reported: the same for any number of threads.
RT_FN void raise_fault(Fault* fault, int32_t code, int64_t index, int64_t limit) {
  int32_t none = kNoFault;
  if (!__atomic_compare_exchange_n(&fault->code, &none, code, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) return;
  fault->index = index;
  fault->limit = limit;
}

RT_FN void raise_sentence(Fault* fault, const char* sentence) {
  raise_fault(fault, kSentenceFault, reinterpret_cast<int64_t>(sentence), 0);
}

#if defined(RT_KERNEL)
RT_FN Call block_call(Fault* fault) { return {fault, nullptr, block(), blocks()}; }
RT_FN void assume_aligned(const void* operand) {
  if (reinterpret_cast<uint64_t>(operand) % kAlignment) __builtin_unreachable();
}
#endif

}  // namespace rt
