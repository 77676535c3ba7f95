// See tool.h.
#include "runtime/program/tool.h"

#include "runtime/cpu.h"
#include "runtime/model.h"
#include "runtime/program/file.h"

namespace rt::program {

bool Tool::fail(int exit_code, const char* format, ...) {
  if (code) return false;
  code = exit_code;
  Text text(arena), shown(arena);
  __builtin_va_list args;
  __builtin_va_start(args, format);
  text.vformat(format, args);
  __builtin_va_end(args);
  shown.plain(text.slice());
  message = shown.c_str();
  return false;
}

bool Tool::fail(cameo_status status, const cameo_error& error) {
  const bool without = status == CAMEO_INTERNAL && choose_image(*program, host_cpu_features());
  if (error.code) return fail(exit_code(status), "%s%s", error.message, without ? "; `--device cpu` does without" : "");
  return fail(exit_code(status), "%s", api->status_string(status));
}

void Tool::note(const char* format, ...) {
  Text text(arena), shown(arena);
  __builtin_va_list args;
  __builtin_va_start(args, format);
  text.vformat(format, args);
  __builtin_va_end(args);
  shown.plain(text.slice());
  shown.add('\n');
  write_all(2, shown.slice());
}

bool Tool::flush() {
  const bool written = write_all(1, out.slice());
  out.clear();
  return written || fail(kUsage, "cannot write to stdout: %s", last_error());
}

cameo_error new_error() {
  cameo_error error;
  libc::memset(&error, 0, sizeof error);
  error.struct_size = sizeof error;
  return error;
}

int exit_code(cameo_status status) {
  switch (status) {
    case CAMEO_OK: return kOk;
    case CAMEO_CANCELLED: return kInterrupted;
    case CAMEO_MISMATCH: return kAccuracy;
    case CAMEO_INVALID_ARGUMENT:
    case CAMEO_OUT_OF_RANGE:
    case CAMEO_DATA_LOSS: return kBadData;
    case CAMEO_INTERNAL:  // all that the runtime calls so is an error of a GPU's driver
    case CAMEO_UNAVAILABLE: return kDevice;
    case CAMEO_OUT_OF_MEMORY: return kMemory;
    case CAMEO_UNIMPLEMENTED: return kUnsupported;
    case CAMEO_NOT_FOUND: return kUsage;
    default: return kBug;
  }
}

}  // namespace rt::program
