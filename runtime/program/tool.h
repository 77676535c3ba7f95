// What every verb works with: the table, the program, memory, output, and the one failure that ends it.
#pragma once

#include "runtime/cameo.h"
#include "runtime/program.h"
#include "runtime/program/text.h"

namespace rt::program {

enum Exit : int {
  kOk = 0,
  kBug = 1,
  kUsage = 2,
  kUnsupported = 3,
  kAccuracy = 5,
  kBadData = 7,
  kDevice = 8,
  kMemory = 9,
  kInterrupted = 130,
};

struct Tool {
  const cameo_api* api = nullptr;
  const Program* program = nullptr;
  int64_t* sizes = nullptr;  // of this call: Program::size_count, -1 where nothing has said it yet (dims.h)
  const char* name = "";     // argv[0]
  Arena arena;
  Text out{arena};  // printed at the end, or by flush
  int code = kOk;
  const char* message = "";

  // Keeps the first failure; returns false so that a function can end with it. What `fail` and `note` print is
  // printable, whatever they quote.
  bool fail(int exit_code, const char* format, ...) __attribute__((format(printf, 3, 4)));
  bool fail(cameo_status status, const cameo_error& error);
  void note(const char* format, ...) __attribute__((format(printf, 2, 3)));  // on stderr
  bool flush();                                                              // `out` to stdout
};

cameo_error new_error();
int exit_code(cameo_status status);

}  // namespace rt::program
