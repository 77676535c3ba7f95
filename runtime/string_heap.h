// The strings of a context. Inside of it an element of a string tensor is a code of 64 bits, equal for equal strings; 0
// is the empty one, then come the program's constants, then what the run in progress has been given and makes. A table
// without deletions finds the code of a text; the next run begins it anew behind the constants.
#pragma once

#include "runtime/model.h"

namespace rt {

/// What only programs with strings ask for: Program::strings of the others is null.
struct StringFunctions {
  /// Null: there is not as much memory.
  StringHeap* (*open)(const cameo_model& model);
  void (*close)(const cameo_model& model, StringHeap* heap);
  void (*begin_run)(StringHeap& heap);
  /// CAMEO_OUT_OF_MEMORY where a string found no room since the run began.
  cameo_status (*check)(const StringHeap& heap, cameo_error* error);
  /// The codes of an input's strings, `count` of them, on the host.
  cameo_status (*take)(StringHeap& heap, const cameo_value& value, int32_t index, int64_t count, int64_t* codes,
                       cameo_error* error);
  /// `strings` and `lengths` of output `index`, by the codes that the value's tensor holds on the host; it then has no
  /// data. They last until the next run.
  cameo_status (*give)(StringHeap& heap, int32_t index, int64_t count, cameo_value& value, cameo_error* error);
};

/// Addresses and lengths of `count` strings, of room for so many.
inline uint64_t bytes_of_strings(int64_t count) {
  return static_cast<uint64_t>(count) * (sizeof(char*) + sizeof(int64_t));
}
/// Those with these codes as a value, which refers to the heap and to `room`.
inline void set_strings(const StringHeap& heap, const int64_t* codes, int64_t count, void* room, cameo_value& value) {
  const char** texts = static_cast<const char**>(room);
  int64_t* lengths = reinterpret_cast<int64_t*>(texts + count);
  for (int64_t i = 0; i < count; ++i) {
    const Text text = heap.text_of(heap, codes[i]);
    texts[i] = text.data, lengths[i] = text.bytes;
  }
  value.kind = CAMEO_KIND_STRINGS;
  value.tensor.data = nullptr;
  value.strings = texts;
  value.lengths = lengths;
}

/// One of `count` strings as golden data have them: where each one ends, as i64, and then all of them.
inline Text spelled_text(const void* data, int64_t count, int64_t i) {
  const int64_t* ends = static_cast<const int64_t*>(data);
  const int64_t begin = i ? ends[i - 1] : 0;
  return {reinterpret_cast<const char*>(ends + count) + begin, ends[i] - begin};
}

}  // namespace rt
