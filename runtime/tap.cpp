// A tap hands every named intermediate value out as a compact tensor: gathered from the layout that it stands in.
#include "runtime/dtype.h"
#include "runtime/errors.h"
#include "runtime/libc.h"
#include "runtime/sizes.h"

namespace rt {
namespace {

struct Axes {  // of one tap, in this run
  TapAxis axes[kMaxRank];

  Axes(const Schedule& schedule, const Tap& tap, const int64_t* sizes) {
    const auto value = [&](int64_t number) { return number < 0 ? sizes[~number] : number; };
    for (int32_t d = 0; d < tap.rank; ++d)
      axes[d] = {value(schedule.tap_axes[tap.axes + d].extent), value(schedule.tap_axes[tap.axes + d].stride)};
  }
};

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

// What `deliver` works in: a compact copy, on a GPU in front of one as it stands.
uint64_t room_for(const cameo_context* context, const Tap& tap) {
  const Axes axes(*context->run.schedule, tap, context->sizes);
  const uint64_t bytes = tap_bytes(tap, axes.axes);
  return bytes && context->run.device ? align_up(bytes) + tap_span(tap, axes.axes) : bytes;
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
  const Axes in_run(schedule, tap, context->sizes);
  const TapAxis* const axes = in_run.axes;
  int64_t shape[kMaxRank];
  for (int32_t d = 0; d < tap.rank; ++d) shape[d] = axes[d].extent;
  if (context->run.device && tap_bytes(tap, axes)) {
    char* copy = static_cast<char*>(context->tap_memory.memory) + align_up(tap_bytes(tap, axes));
    context->run.device->read(context->run, copy, value, tap_span(tap, axes));
    value = copy;
    if (context->run.fault.code) return;
  }
  if (tap_bytes(tap, axes))
    gather(axes, axes + tap.rank, static_cast<const char*>(value), static_cast<char*>(context->tap_memory.memory),
           element_bytes(tap.dtype));
  const cameo_tensor tensor = {
      context->tap_memory.memory, {CAMEO_CPU, 0}, tap.rank, to_dlpack(tap.dtype), shape, nullptr, 0};
  const int32_t node = static_cast<int32_t>(schedule.rows[tap.row].node);
  const cameo_tap seen = {sizeof seen, node, program.text + tap.name, &tensor};
  context->tap(context->tap_user, &seen);
}

}  // namespace

cameo_status reserve_tap(cameo_context* context, cameo_error* error) {
  const Schedule& schedule = *context->run.schedule;
  uint64_t bytes = kAlign;
  for (const Tap* tap = schedule.taps; tap < schedule.taps + schedule.tap_count; ++tap)
    if (const uint64_t needed = room_for(context, *tap); needed > bytes) bytes = needed;
  if (grow(context->model->options, &context->tap_memory, bytes)) return CAMEO_OK;
  return fail(error, CAMEO_OUT_OF_MEMORY, -1, -1, "cannot allocate %lu bytes for taps", bytes);
}

cameo_status set_tap(cameo_context* context, void (*callback)(void*, const cameo_tap*), void* user,
                     cameo_error* error) {
  if (!context) return fail(error, CAMEO_INVALID_ARGUMENT, -1, -1, "tap: `context` is null");
  if (callback && !most(*context->model, &Schedule::tap_count))
    return fail(error, CAMEO_NOT_FOUND, -1, -1, "the library was built without the layouts of intermediate values");
  if (cameo_status status = enter(context, error)) return status;
  const bool has_sizes = context->model->program->sizing;  // then runs reserve it
  const cameo_status status = callback && !has_sizes ? reserve_tap(context, error) : CAMEO_OK;
  if (!status) {
    context->tap = callback;
    context->tap_user = user;
    context->run.tap = callback ? deliver : nullptr;
    context->run.tap_user = context;
    context->run.observed = callback || context->run.nanoseconds;
  }
  leave(context);
  return status;
}

}  // namespace rt
