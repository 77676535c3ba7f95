// Messages into the caller's cameo_error. Names come from the model file: they are printed with control bytes replaced.
#pragma once

#include "runtime/cameo.h"
#include "runtime/libc.h"

namespace rt {

// Fills `error` where there is one, and returns `status`.
cameo_status fail(cameo_error* error, cameo_status status, int32_t arg, int32_t node, const char* format, ...)
    __attribute__((format(printf, 5, 6)));

struct Quoted {  // `name`, safe to print, cut after 120 bytes
  char text[128];
  explicit Quoted(const char* name);
  Quoted& bare();  // without the back-ticks
};

struct TypeText {  // f32[1,3,224,224]
  char text[160];
  TypeText(uint32_t dtype, int32_t rank, const int64_t* dims);
};

}  // namespace rt
