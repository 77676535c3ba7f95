// See grown.h.
#include "runtime/grown.h"

#include "runtime/device.h"
#include "runtime/errors.h"

namespace rt {

bool grow(const cameo_options& options, Grown* memory, uint64_t bytes) {
  return grow_by(
      memory, bytes, [&](uint64_t room) { return allocate(options, room); },
      [&](const Grown& old) { deallocate(options, old.memory, old.bytes); });
}

cameo_status reserve(const cameo_model& model, Side side, Grown* memory, uint64_t bytes, int32_t output,
                     cameo_error* error) {
  if (const DeviceDriver* driver = driver_of(model)) return driver->grow(model, side, memory, bytes, error);
  if (grow(model.options, memory, bytes)) return CAMEO_OK;
  if (output < 0)
    return fail(error, CAMEO_OUT_OF_MEMORY, -1, -1, "cannot allocate %lu bytes for values between the steps", bytes);
  return fail(error, CAMEO_OUT_OF_MEMORY, output, -1, "cannot allocate %lu bytes for output %d %s", bytes, output,
              Quoted(model.program->outputs[output].name).text);
}

void release(const cameo_model& model, Side side, const Grown& memory) {
  if (!memory.memory) return;
  if (const DeviceDriver* driver = driver_of(model)) return driver->release(model, side, memory);
  deallocate(model.options, memory.memory, memory.bytes);
}

}  // namespace rt
