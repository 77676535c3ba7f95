// See string_heap.h.
#include "runtime/string_heap.h"

#include "runtime/errors.h"
#include "runtime/libc.h"

namespace rt {
namespace {

struct Entry {
  uint64_t begin, bytes;  // in `text`
  uint64_t hash;
  uint64_t slot;
};

struct Heap : StringHeap {
  cameo_options options;
  Grown text, entries, slots;  // bytes; Entry by code; codes by hash, 0 where there is none, a power of two of them
  uint64_t text_bytes, count, constants;
  bool failed;
  uint32_t output_count;
  Grown* outputs;  // one an output: addresses, then lengths

  Entry* entry() const { return static_cast<Entry*>(entries.memory); }
  int64_t* slot() const { return static_cast<int64_t*>(slots.memory); }
  uint64_t slot_count() const { return slots.bytes / sizeof(int64_t); }
};

Heap& heap_of(StringHeap& heap) { return static_cast<Heap&>(heap); }
const Heap& heap_of(const StringHeap& heap) { return static_cast<const Heap&>(heap); }

uint64_t hash_of(Text text) {  // FNV-1a
  uint64_t hash = 0xcbf29ce484222325u;
  for (int64_t i = 0; i < text.bytes; ++i) hash = (hash ^ static_cast<unsigned char>(text.data[i])) * 0x100000001b3u;
  return hash ^ hash >> 32;
}

// Room that keeps what it holds.
bool extend(const cameo_options& options, Grown* memory, uint64_t held, uint64_t bytes) {
  if (bytes <= memory->bytes) return true;
  Grown larger = {};
  if (!grow(options, &larger, bytes < 2 * memory->bytes ? 2 * memory->bytes : bytes)) return false;
  if (memory->memory) libc::memcpy(larger.memory, memory->memory, held);
  if (memory->memory) deallocate(options, memory->memory, memory->bytes);
  *memory = larger;
  return true;
}

void enter_slot(Heap& heap, uint64_t code) {
  const uint64_t mask = heap.slot_count() - 1;
  uint64_t at = heap.entry()[code].hash & mask;
  while (heap.slot()[at]) at = (at + 1) & mask;
  heap.slot()[at] = static_cast<int64_t>(code);
  heap.entry()[code].slot = at;
}

// Twice the slots; codes enter in their order, so that taking the last ones out leaves what was before them.
bool rehash(Heap& heap) {
  Grown larger = {};
  const uint64_t bytes = heap.slots.bytes ? 2 * heap.slots.bytes : 64 * sizeof(int64_t);
  if (!grow(heap.options, &larger, bytes)) return false;
  if (heap.slots.memory) deallocate(heap.options, heap.slots.memory, heap.slots.bytes);
  heap.slots = larger;
  libc::memset(heap.slots.memory, 0, bytes);
  for (uint64_t code = 1; code < heap.count; ++code) enter_slot(heap, code);
  return true;
}

int64_t find(const Heap& heap, Text text, uint64_t hash) {
  const uint64_t mask = heap.slot_count() - 1;
  for (uint64_t at = hash & mask; heap.slot()[at]; at = (at + 1) & mask) {
    const Entry& e = heap.entry()[heap.slot()[at]];
    if (e.hash == hash && e.bytes == static_cast<uint64_t>(text.bytes) &&
        !libc::memcmp(static_cast<char*>(heap.text.memory) + e.begin, text.data, e.bytes))
      return heap.slot()[at];
  }
  return 0;
}

// In the memory of its texts, which moves when it grows.
bool is_inside(const Heap& heap, const char* text) {
  const char* held = static_cast<const char*>(heap.text.memory);
  return held && text >= held && text < held + heap.text.bytes;
}

int64_t add(Heap& heap, Text text, uint64_t hash) {
  const uint64_t bytes = static_cast<uint64_t>(text.bytes), end = heap.text_bytes + bytes;
  const uint64_t code = heap.count;
  const bool inside = is_inside(heap, text.data);  // a part of one that it holds
  const uint64_t from = inside ? static_cast<uint64_t>(text.data - static_cast<char*>(heap.text.memory)) : 0;
  if (!extend(heap.options, &heap.text, heap.text_bytes, end) ||
      !extend(heap.options, &heap.entries, code * sizeof(Entry), (code + 1) * sizeof(Entry)) ||
      (2 * code >= heap.slot_count() && !rehash(heap)))
    return heap.failed = true, 0;
  char* to = static_cast<char*>(heap.text.memory);
  libc::memmove(to + heap.text_bytes, inside ? to + from : text.data, bytes);
  heap.entry()[code] = {heap.text_bytes, bytes, hash, 0};
  heap.text_bytes = end;
  ++heap.count;
  enter_slot(heap, code);
  return static_cast<int64_t>(code);
}

int64_t code_of(StringHeap& strings, Text text) {
  if (!text.bytes) return 0;
  Heap& heap = heap_of(strings);
  const uint64_t hash = hash_of(text);
  const int64_t code = find(heap, text, hash);
  return code ? code : add(heap, text, hash);
}

char* room_for(StringHeap& strings, int64_t bytes) {
  Heap& heap = heap_of(strings);
  const uint64_t end = heap.text_bytes + static_cast<uint64_t>(bytes);
  if (extend(heap.options, &heap.text, heap.text_bytes, end ? end : 1))
    return static_cast<char*>(heap.text.memory) + heap.text_bytes;
  return heap.failed = true, nullptr;
}

Text text_of(const StringHeap& strings, int64_t code) {
  const Heap& heap = heap_of(strings);
  if (code <= 0 || static_cast<uint64_t>(code) >= heap.count) return {"", 0};
  const Entry& e = heap.entry()[code];
  return {static_cast<const char*>(heap.text.memory) + e.begin, static_cast<int64_t>(e.bytes)};
}

void close(const cameo_model& model, StringHeap* strings) {
  if (!strings) return;
  Heap& heap = heap_of(*strings);
  const cameo_options& options = model.options;
  const auto release = [&](const Grown& memory) {
    if (memory.memory) deallocate(options, memory.memory, memory.bytes);
  };
  release(heap.text), release(heap.entries), release(heap.slots);
  for (uint32_t i = 0; i < heap.output_count; ++i) release(heap.outputs[i]);
  deallocate(options, &heap, sizeof(Heap) + heap.output_count * sizeof(Grown));
}

StringHeap* open(const cameo_model& model) {
  const StringTable& table = *model.program->strings;
  const uint32_t outputs = model.program->output_count;
  const uint64_t bytes = sizeof(Heap) + outputs * sizeof(Grown);
  void* memory = allocate(model.options, bytes);
  if (!memory) return nullptr;
  libc::memset(memory, 0, bytes);
  Heap& heap = *static_cast<Heap*>(memory);
  heap.text_of = text_of;
  heap.code_of = code_of;
  heap.room_for = room_for;
  heap.options = model.options;
  heap.count = 1;
  heap.output_count = outputs;
  heap.outputs = reinterpret_cast<Grown*>(&heap + 1);
  heap.failed = !rehash(heap);
  for (uint64_t i = 0; i < table.count && !heap.failed; ++i) {
    const uint64_t begin = i ? table.ends[i - 1] : 0;
    code_of(heap, {table.text + begin, static_cast<int64_t>(table.ends[i] - begin)});
  }
  heap.constants = heap.count;
  if (!heap.failed) return &heap;
  return close(model, &heap), nullptr;
}

void begin_run(StringHeap& strings) {
  Heap& heap = heap_of(strings);
  if (heap.count > heap.constants) heap.text_bytes = heap.entry()[heap.constants].begin;
  for (; heap.count > heap.constants; --heap.count) heap.slot()[heap.entry()[heap.count - 1].slot] = 0;
  heap.failed = false;
}

cameo_status check(const StringHeap& strings, cameo_error* error) {
  const Heap& heap = heap_of(strings);
  if (!heap.failed) return CAMEO_OK;
  return fail(error, CAMEO_OUT_OF_MEMORY, -1, -1, "cannot allocate memory for strings behind %lu bytes of them",
              heap.text_bytes);
}

cameo_status take(StringHeap& strings, const cameo_value& value, int32_t index, int64_t count, int64_t* codes,
                  cameo_error* error) {
  if (count && (!value.strings || !value.lengths))
    return fail(error, CAMEO_INVALID_ARGUMENT, index, -1, "input %d: `strings` or `lengths` is null", index);
  for (int64_t i = 0; i < count; ++i) {
    if (value.lengths[i] < 0 || (value.lengths[i] && !value.strings[i]))
      return fail(error, CAMEO_INVALID_ARGUMENT, index, -1, "input %d: string %ld has %ld bytes%s", index, i,
                  value.lengths[i], value.strings[i] ? "" : " at a null pointer");
    if (value.lengths[i] && is_inside(heap_of(strings), value.strings[i]))
      return fail(error, CAMEO_INVALID_ARGUMENT, index, -1,
                  "input %d: string %ld is one that the run before handed out; copy it", index, i);
    codes[i] = code_of(strings, {value.strings[i], value.lengths[i]});
  }
  return check(strings, error);
}

cameo_status give(StringHeap& strings, int32_t index, int64_t count, cameo_value& value, cameo_error* error) {
  Heap& heap = heap_of(strings);
  Grown& room = heap.outputs[index];
  const uint64_t bytes = bytes_of_strings(count);
  if (!grow(heap.options, &room, bytes ? bytes : 1))
    return fail(error, CAMEO_OUT_OF_MEMORY, index, -1, "cannot allocate %lu bytes for output %d", bytes, index);
  set_strings(strings, static_cast<const int64_t*>(value.tensor.data), count, room.memory, value);
  return CAMEO_OK;
}

}  // namespace

constexpr StringFunctions string_functions = {open, close, begin_run, check, take, give};

}  // namespace rt
