// A tap hands every named intermediate value out as a compact tensor: gathered from the layout that it stands in.
#include "runtime/dtype.h"
#include "runtime/errors.h"
#include "runtime/libc.h"
#include "runtime/model.h"

namespace rt {
namespace {

uint64_t tap_bytes(const Tap& tap, const TapAxis* axes) {
  uint64_t bytes = static_cast<uint64_t>(element_bytes(tap.dtype));
  for (int32_t d = 0; d < tap.rank; ++d) bytes *= static_cast<uint64_t>(axes[d].extent);
  return bytes;
}

// From its first element to behind its last one, as it stands.
uint64_t tap_span(const Tap& tap, const TapAxis* axes) {
  int64_t last = 0;
  for (const TapAxis* axis = axes; axis < axes + tap.rank; ++axis) last += (axis->extent - 1) * axis->stride;
  return static_cast<uint64_t>((last + 1) * element_bytes(tap.dtype));
}

char* gather(const TapAxis* axis, const TapAxis* end, const char* from, char* to, int64_t bytes) {
  if (axis == end) return static_cast<char*>(libc::memcpy(to, from, static_cast<size_t>(bytes))) + bytes;
  for (int64_t i = 0; i < axis->extent; ++i) to = gather(axis + 1, end, from + i * axis->stride * bytes, to, bytes);
  return to;
}

void deliver(void* argument, const Tap& tap, const void* value) {
  cameo_context* context = static_cast<cameo_context*>(argument);
  const Program& program = *context->model->program;
  const Schedule& schedule = *context->run.schedule;
  const TapAxis* const axes = schedule.tap_axes + tap.axes;
  int64_t shape[kMaxRank];
  for (int32_t d = 0; d < tap.rank; ++d) shape[d] = axes[d].extent;
  if (context->run.device && tap_bytes(tap, axes)) {
    char* copy = static_cast<char*>(context->tap_memory) + align_up(tap_bytes(tap, axes));
    context->run.device->read(context->run, copy, value, tap_span(tap, axes));
    value = copy;
    if (context->run.fault.code) return;
  }
  if (tap_bytes(tap, axes))
    gather(axes, axes + tap.rank, static_cast<const char*>(value), static_cast<char*>(context->tap_memory),
           element_bytes(tap.dtype));
  const cameo_tensor tensor = {context->tap_memory, {CAMEO_CPU, 0}, tap.rank, to_dlpack(tap.dtype), shape, nullptr, 0};
  const int32_t node = static_cast<int32_t>(schedule.rows[tap.row].node);
  const cameo_tap seen = {sizeof seen, node, program.text + tap.name, &tensor};
  context->tap(context->tap_user, &seen);
}

}  // namespace

cameo_status set_tap(cameo_context* context, void (*callback)(void*, const cameo_tap*), void* user,
                     cameo_error* error) {
  if (!context) return fail(error, CAMEO_INVALID_ARGUMENT, -1, -1, "tap: `context` is null");
  const Schedule& schedule = *context->run.schedule;
  if (callback && !schedule.tap_count)
    return fail(error, CAMEO_NOT_FOUND, -1, -1, "the library was built without the layouts of intermediate values");
  uint64_t bytes = kAlign;
  for (const Tap* tap = schedule.taps; tap < schedule.taps + schedule.tap_count; ++tap) {
    const TapAxis* axes = schedule.tap_axes + tap->axes;
    uint64_t needed = tap_bytes(*tap, axes);
    if (needed && context->run.device) needed = align_up(needed) + tap_span(*tap, axes);
    if (needed > bytes) bytes = needed;
  }
  if (callback && !context->tap_memory) {
    context->tap_memory = allocate(context->model->options, bytes);
    context->tap_bytes = bytes;
    if (!context->tap_memory)
      return fail(error, CAMEO_OUT_OF_MEMORY, -1, -1, "cannot allocate %lu bytes for taps", bytes);
  }
  if (__atomic_exchange_n(&context->busy, 1, __ATOMIC_ACQUIRE))
    return fail(error, CAMEO_FAILED_PRECONDITION, -1, -1, "the context is in use by another call");
  context->tap = callback;
  context->tap_user = user;
  context->run.tap = callback ? deliver : nullptr;
  context->run.tap_user = context;
  context->run.observed = callback || context->run.nanoseconds;
  __atomic_store_n(&context->busy, 0, __ATOMIC_RELEASE);
  return CAMEO_OK;
}

}  // namespace rt
