// Messages into the caller's cameo_error. What they quote of the model file or of the caller's is escaped
// (printable.h).
#pragma once

#include "runtime/cameo.h"
#include "runtime/libc.h"
#include "runtime/program.h"

namespace rt {

// Fills `error` where there is one, and returns `status`.
cameo_status fail(cameo_error* error, cameo_status status, int32_t arg, int32_t node, const char* format, ...)
    __attribute__((format(printf, 5, 6)));

// The version of a structure, as far as a size says it: at least what version 1.0 had, and nothing absurd, as memory
// that was not set holds.
inline bool is_struct_size(uint32_t size, size_t first_version) { return size >= first_version && size <= 4096; }

struct Quoted {  // `name`, printable, cut after 120 bytes
  char text[128];
  explicit Quoted(const char* name);
  Quoted& bare();  // without the back-ticks
};

struct TypeText {  // f32[1,3,224,224]
  char text[240];
  TypeText(uint32_t dtype, int32_t rank, const int64_t* dims);
  explicit TypeText(const Io& io);  // as the model declares it: f32[batch=1..32,3,224,224]
};

}  // namespace rt
