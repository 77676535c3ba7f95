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

namespace {

constexpr size_t kDimRoom = 72;  // for what write_dim writes

size_t write_number(char* to, int64_t number) {
  return static_cast<size_t>(libc::snprintf(to, kDimRoom, number < 0 ? "?" : "%ld", number));
}

// batch=1..32, batch=1.., ?=0..7
size_t write_dim(char* to, const Io& io, int32_t d) {
  if (!io.dim_sizes || io.dim_sizes[d] < 0) return write_number(to, io.dims[d]);
  const char* name = io.dim_names && io.dim_names[d] ? io.dim_names[d] : "?";
  size_t n = printable(name, libc::strlen(name), to, 24);
  n += static_cast<size_t>(libc::snprintf(to + n, 24, "=%ld..", io.dim_min[d]));
  return io.dim_max[d] < 0 ? n : n + write_number(to + n, io.dim_max[d]);
}

template <class WriteDim>
void write_type(char* text, size_t room, uint32_t dtype, int32_t rank, WriteDim write) {
  size_t n = static_cast<size_t>(libc::snprintf(text, room, "%s[", type_info(dtype).name));
  int32_t d = 0;
  for (; d < rank && n + kDimRoom + 8 < room; ++d) {
    if (d) text[n++] = ',';
    n += write(text + n, d);
  }
  libc::snprintf(text + n, room - n, d == rank ? "]" : "...]");
}

}  // namespace

TypeText::TypeText(uint32_t dtype, int32_t rank, const int64_t* dims) {
  write_type(text, sizeof text, dtype, rank, [&](char* to, int32_t d) { return write_number(to, dims[d]); });
}

TypeText::TypeText(const Io& io) {
  constexpr const char* kKinds[] = {"", "", "", "seq", "map", "optional"};
  if (io.of) {  // seq(f32[?,2]), map(i64, f32[?])
    const char* key = io.key ? type_info(io.key).name : "";
    libc::snprintf(text, sizeof text, "%s(%s%s%s)", kKinds[io.kind], key, io.key ? ", " : "", TypeText(*io.of).text);
    return;
  }
  if (io.rank == kAnyRank) {
    libc::snprintf(text, sizeof text, "%s[..]", type_info(io.dtype).name);
    return;
  }
  write_type(text, sizeof text, io.dtype, io.rank, [&](char* to, int32_t d) { return write_dim(to, io, d); });
}

}  // namespace rt
