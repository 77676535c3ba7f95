// Formats error messages without allocating.
#include "runtime/errors.h"

#include "runtime/dtype.h"
#include "runtime/printable.h"

namespace rt {

cameo_status fail(cameo_error* error, cameo_status status, int32_t arg, int32_t node, const char* format, ...) {
  constexpr uint32_t kMessage = offsetof(cameo_error, message);
  if (!error || error->struct_size <= kMessage) return status;
  error->code = status;
  error->arg = arg;
  error->node = node;
  const size_t room = error->struct_size < sizeof *error ? error->struct_size - kMessage : sizeof error->message;
  char text[sizeof error->message];
  __builtin_va_list args;
  __builtin_va_start(args, format);
  libc::vsnprintf(text, sizeof text, format, args);
  __builtin_va_end(args);
  error->message[printable(text, libc::strlen(text), error->message, room - 1)] = 0;
  return status;
}

Quoted::Quoted(const char* name) {
  constexpr size_t kMost = 120;
  const size_t size = name ? libc::strlen(name) : 0;
  size_t n = 0;
  text[n++] = '`';
  n += printable(name, size, text + n, kMost);
  if (size > kMost) n += static_cast<size_t>(libc::snprintf(text + n, 4, "..."));
  text[n++] = '`';
  text[n] = 0;
}

Quoted& Quoted::bare() {
  const size_t length = libc::strlen(text);
  libc::memmove(text, text + 1, length);
  text[length - 2] = 0;
  return *this;
}

TypeText::TypeText(uint32_t dtype, int32_t rank, const int64_t* dims) {
  size_t n = static_cast<size_t>(libc::snprintf(text, sizeof text, "%s[", type_info(dtype).name));
  for (int32_t i = 0; i < rank && n + 32 < sizeof text; ++i)
    n += static_cast<size_t>(dims[i] < 0 ? libc::snprintf(text + n, sizeof text - n, i ? ",?" : "?")
                                         : libc::snprintf(text + n, sizeof text - n, i ? ",%ld" : "%ld", dims[i]));
  libc::snprintf(text + n, sizeof text - n, n + 32 < sizeof text ? "]" : "...]");
}

}  // namespace rt
