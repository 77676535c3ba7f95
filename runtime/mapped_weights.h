// A file of weights, mapped: its pages are read when they are first used, and shared by all processes that map it. What
// does so is linked only into artifacts whose table names it (`WeightsFile::reader`).
#pragma once

#include "runtime/cameo.h"
#include "runtime/program.h"
#include "runtime/weights_file.h"

namespace rt {

struct MappedWeights {
  void* memory = nullptr;  // the header and the pool behind it, for whoever opened it to unmap; null: nothing
  uint64_t bytes = 0;
  char path[4096] = "";  // empty where it is not known

  const void* pool() const { return static_cast<const char*>(memory) + kPoolBegin; }
};

struct WeightsReader {
  /// What `program` wants of the file at `path`; null: where its table says. Compares the header, not the weights.
  cameo_status (*open)(const Program& program, const char* path, MappedWeights* to, cameo_error* error);
  /// Reads all weights, and says whether they are the program's.
  bool (*are_right)(const Program& program, const void* pool);
};

}  // namespace rt
