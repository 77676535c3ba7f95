// Memory that grows with what runs ask for, and is kept from one run to the next.
#pragma once

#include "runtime/dtype.h"
#include "runtime/program.h"

struct cameo_model;
namespace rt {

struct Grown {
  void* memory;
  uint64_t bytes;
};

/// The host's; false: there is not as much, and what was there is gone.
bool grow(const cameo_options& options, Grown* memory, uint64_t bytes);

/// For an output; -1: for values between the steps.
cameo_status reserve(const cameo_model& model, Side side, Grown* memory, uint64_t bytes, int32_t output,
                     cameo_error* error);
void release(const cameo_model& model, Side side, const Grown& memory);

/// By half at least, so that what grows a little with each run does not move with each. `take(bytes)` is an address or
/// null.
template <class Take, class Release>
bool grow_by(Grown* memory, uint64_t bytes, Take take, Release release) {
  if (bytes <= memory->bytes) return true;
  if (const uint64_t more = memory->bytes + memory->bytes / 2; bytes < more && more <= kMaxBytes) bytes = more;
  if (memory->memory) release(*memory);
  *memory = {bytes <= static_cast<uint64_t>(kMaxBytes) ? take(bytes) : nullptr, bytes};
  if (!memory->memory) memory->bytes = 0;
  return memory->memory;
}

}  // namespace rt
