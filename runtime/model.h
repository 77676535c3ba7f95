// Models and contexts, behind the C ABI's opaque handles. A model is a program, the image that fits the processor, the
// weights and the pool; a context is all memory of one run, in one block whose parts `plan_context` lays out.
#pragma once

#include "runtime/cameo.h"
#include "runtime/execute.h"
#include "runtime/grown.h"

struct cameo_model {
  const rt::Program* program;
  const rt::Image* image;
  cameo_options options;  // callbacks filled in
  const void* weights;    // on the image's machine
  void* owned_weights;    // made up, or read by the callback
  void* mapped_weights;   // the header of a file and the pool behind it
  rt::Pool* pool;         // null with one thread, or where the host has a parallel_for
  int32_t threads;
  uint32_t references;
  void* device_state;  // of the image's DeviceDriver
};

namespace rt {

struct Binding {  // an output that is the next run's input
  int32_t output, input;
  Grown blocks[2];  // the input reads blocks[0], the output writes blocks[1], then they swap
  int64_t* dims;    // of blocks[0]
  bool fresh;       // nothing is in blocks[0] yet
  // Of one that may stay where it is, while blocks[0] has room: how many indices along the axis that has, and what the
  // run writes.
  const Append* append;
  int64_t capacity, next_capacity;
  bool reads,
      stays;  // in this run: the input is the state; the output is written where that stands, never without an append
};

struct Layout {  // offsets in a context's block
  uint64_t bases, loops, owned, shapes, staging, bindings, state_dims, values, sizes, ios, input_dims, open_outputs,
      blocks, host_blocks, scratch, scratch_stride, plan_runs, arena, outputs, bytes;
};

}  // namespace rt

struct cameo_context {
  cameo_model* model;
  rt::Layout layout;
  rt::Execution run;
  // With the dims that they have in a run: the program's own where it has no sizes that only a run knows.
  const rt::Io *inputs, *outputs;
  int64_t* sizes;           // Program::size_count
  bool has_sizes;           // of the run before
  void** owned;             // a buffer for each output
  int64_t** shapes;         // what `shape` of a context-owned output points to
  rt::Grown* staging;       // one an input: where one that is not compact is copied to, on the host
  rt::Grown* open_outputs;  // one an output: `owned` of those without an upper bound
  rt::Grown *blocks,
      *host_blocks;       // one for each block of the schedule that has the most: kernels' and, on a GPU, the host's
  rt::Grown scratch;      // of a size that only a run knows
  uint64_t* plan_runs;    // of each plan
  uint32_t plan;          // of the run: 0 for all sizes, else one more than its bucket
  rt::Binding* bindings;  // binding_count of them, at most one an output
  int32_t binding_count;
  int64_t* state_dims;  // of all bindings, as those behind `shapes`
  cameo_value* values;  // one an input, where there are bindings: what the run takes
  cameo_value* out;     // of the run in progress; null: of none
  void* stream;         // of the run in progress, on a GPU; null: the context's own
  uint32_t busy;
  void (*tap)(void* user, const cameo_tap* value);
  void* tap_user;
  rt::Grown tap_memory;
};

namespace rt {

inline constexpr uint64_t kAlign = 64;
inline uint64_t align_up(uint64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

/// On the model's device: kernels use it in place.
inline bool is_here(const cameo_context* context, const cameo_tensor& tensor) {
  return tensor.device.device_type == context->model->options.device.device_type;
}

inline uint32_t input_base(uint32_t i) { return kFirstIo + i; }
inline uint32_t output_base(const Program& program, uint32_t i) { return kFirstIo + program.input_count + i; }

inline uint32_t plan_count(const Program& program) { return program.bucket_count + 1; }
inline const Schedule& schedule_of_plan(const Image& image, uint32_t plan) {
  return plan ? *image.bucket_schedules[plan - 1] : *image.schedule;
}
/// Of all plans of the image.
template <class T>
uint64_t most(const Program& program, const Image& image, T Schedule::* of) {
  uint64_t value = 0;
  for (uint32_t i = 0; i < plan_count(program); ++i)
    if (const uint64_t more = schedule_of_plan(image, i).*of; more > value) value = more;
  return value;
}
template <class T>
uint64_t most(const cameo_model& model, T Schedule::* of) {
  return most(*model.program, *model.image, of);
}

/// Null where the CPU runs the model.
inline const DeviceDriver* driver_of(const cameo_model& model) {
  return model.image->device ? model.image->device->driver : nullptr;
}

cameo_options default_options();
cameo_status create_model(const Program& program, const cameo_options* options, cameo_model** out, cameo_error* error);
void retain_model(cameo_model* model);
void release_model(cameo_model* model);

/// The first image that runs on a processor with these features; null if none does. A GPU's is not looked at.
const Image* choose_image(const Program& program, uint64_t host);
Layout plan_context(const cameo_model& model);
cameo_status create_context(cameo_model* model, cameo_context** out, cameo_error* error);
void release_context(cameo_context* context);
void use_plan(cameo_context* context, uint32_t plan);  // from the next run on

/// For one caller at a time: until `leave`, a second one gets CAMEO_FAILED_PRECONDITION.
cameo_status enter(cameo_context* context, cameo_error* error);
void leave(cameo_context* context);

cameo_status bind_state(cameo_context* context, int32_t output, int32_t input, cameo_error* error);
cameo_status reset_state(cameo_context* context, cameo_error* error);
cameo_status prepare(cameo_context* context, const cameo_value* in, int32_t count, cameo_error* error);
cameo_status run(cameo_context* context, const cameo_value* in, int32_t in_count, cameo_value* out, int32_t out_count,
                 const cameo_run_options* options, cameo_error* error);
cameo_status synchronize(cameo_context* context, cameo_error* error);
cameo_status set_tap(cameo_context* context, void (*callback)(void*, const cameo_tap*), void* user, cameo_error* error);
cameo_status reserve_tap(cameo_context* context, cameo_error* error);  // for the sizes of the run
cameo_status set_profile(cameo_context* context, uint64_t* nanoseconds, int32_t count, cameo_error* error);
cameo_status selftest(const Program& program, const cameo_options* options, void (*report)(void*, const cameo_check*),
                      void* user, cameo_error* error);

cameo_status load_weights(cameo_model* model, cameo_error* error);
void release_weights(cameo_model* model);
void make_up_weights(const Program& program, char* to);  // all of program.weights_bytes

void* allocate(const cameo_options& options, uint64_t bytes);
void deallocate(const cameo_options& options, void* memory, uint64_t bytes);
bool is_owned(const cameo_value& output);  // by the context
void fill_output(cameo_context* context, int32_t index, cameo_value& value, void* data, cameo_device device);

/// Of the first ONNX node that a step computes.
inline const char* name_of_node(const Program& program, uint32_t node) {
  if (node >= program.node_count || !program.nodes[node].name_count) return "?";
  return program.text + program.node_names[program.nodes[node].names];
}

}  // namespace rt
