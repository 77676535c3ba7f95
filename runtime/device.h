// What the runtime asks of the machine behind an image for a GPU. Only artifacts with such an image hold a driver: the
// image's table names it. `open` ones allocate all that runs need; whatever they leave half done, `close` ends.
#pragma once

#include "runtime/model.h"

namespace rt {

struct Graphs {                   // of Mode::ReduceOverhead
  uint32_t count, steps, others;  // graphs, the launches and copies in them, and those outside
};

struct FoundDevice {
  int32_t count;  // of the machine's GPUs; 0 before they could be counted
  char name[64];
  const DeviceCode* code;  // that runs there
};

struct DeviceDriver {
  // Whether the image could be opened on that GPU.
  cameo_status (*probe)(const Device& device, int32_t ordinal, FoundDevice* found, cameo_error* error);
  Graphs (*graphs)(const Image& image);
  // On options.device. Moves the weights there: `weights` becomes an address of that memory.
  cameo_status (*open_model)(cameo_model* model, cameo_error* error);
  void (*close_model)(cameo_model* model);
  uint64_t (*context_bytes)(const cameo_model& model);  // of the device's memory
  // Sets the base of the arena, `owned` (addresses of the device's memory) and the execution's `device`.
  cameo_status (*open_context)(cameo_context* context, cameo_error* error);
  void (*close_context)(cameo_context* context);
  // Nothing that is queued uses what was there.
  cameo_status (*grow)(const cameo_model& model, Side side, Grown* memory, uint64_t bytes, cameo_error* error);
  void (*release)(const cameo_model& model, Side side, const Grown& memory);
  cameo_status (*clear)(cameo_context* context, void* memory, uint64_t bytes, cameo_error* error);  // to zeros
  // To the CPU's memory, when all that `stream` holds has ended; null: the legacy default stream.
  cameo_status (*read)(const cameo_model& model, void* stream, void* to, const void* from, uint64_t bytes,
                       cameo_error* error);

  // Of a tensor that the CPU holds.
  cameo_status (*upload_input)(cameo_context* context, int32_t index, const cameo_tensor& tensor, cameo_error* error);
  // On the context's `stream`. `options` null: the defaults. Waits for the end, but for CAMEO_RUN_ASYNC.
  Outcome (*walk)(cameo_context* context, const cameo_value* out, const cameo_run_options* options);
  Outcome (*synchronize)(cameo_context* context);  // waits for a walk that did not; its faults are the run's
  cameo_status (*report)(const cameo_context* context, cameo_error* error);  // a kDeviceFault
  void (*return_output)(cameo_context* context, int32_t index, cameo_value& value);
};

}  // namespace rt
