// A model and a context on one GPU. A context has two blocks of memory with the same places in both: pinned memory of
// the host and, in front of the arena, memory of the device. A place is one input, one output, the faults (one a row:
// a kernel gets its row's) or one word; what the host gives or takes goes through its place. An input or output without
// an upper bound has its place in memory of its own, which grows.
#pragma once

#include "runtime/cuda/card.h"
#include "runtime/device.h"

namespace rt::cuda {

struct Model {
  Driver driver;
  Card card;
  void* primary = nullptr;  // the card's primary context, retained
  void* module = nullptr;
  void* weights = nullptr;
  void** functions = nullptr;  // by entry; behind this
  uint64_t bytes = 0;
};

inline constexpr uint64_t kWordBytes = kAlign;

struct Place {
  char *host, *device;  // `device` of an open output: null, for that is `owned`
  bool is_open;
  Grown own_host, own_device;
};

struct Segment {  // of rows, and the graph that they are
  uint32_t begin, end;
  void *graph, *executable;
  void** bases;   // with which its parameters were set; so are
  uint64_t fits;  // of the Execution
};

struct PlanGraphs {   // of one plan
  Segment* segments;  // in order of their rows
  uint32_t count;
  void** nodes;  // by row
};

struct Context {
  Model* model;
  const DeviceEntry* entries;
  void *own_stream, *stream;  // `stream`: of the run in progress
  void *begun, *ended;        // events around a row that is timed; `ended` also behind a run that did not wait
  bool pending;               // there is one
  char *host, *device;
  Place *inputs, *outputs;
  uint64_t faults, word;  // places in both blocks
  void** arguments;       // of one launch
  PlanGraphs* plans;
  const PlanGraphs* graphs;  // of the run's plan
  const char* failed_call;   // of the driver, in this run; null: none
  int32_t failure;
  uint64_t bytes;  // of this
};

inline Model& model_of(const cameo_model& model) { return *static_cast<Model*>(model.device_state); }
inline Context& context_of(const Execution& run) { return *static_cast<Context*>(run.device_state); }

// The card's context is the thread's while this lives; the one before comes back. `call(entry, argument)` makes the
// call and says whether it went well.
class Current {
 public:
  template <class F>
  Current(const Model& model, F&& call)
      : driver_(model.driver), pushed_(call(model.driver.cuCtxPushCurrent, model.primary)) {}
  Current(const Current&) = delete;
  ~Current() {
    void* popped = nullptr;
    if (pushed_) driver_.cuCtxPopCurrent.call(&popped);
  }

 private:
  const Driver& driver_;
  const bool pushed_;
};

// Their failure says how much there is.
cameo_status no_memory(const Model& model, uint64_t bytes, cameo_error* error);
cameo_status take_memory(const Model& model, void** memory, uint64_t bytes, cameo_error* error);

cameo_status probe(const Device& device, int32_t ordinal, FoundDevice* found, cameo_error* error);
cameo_status open_model(cameo_model* model, cameo_error* error);
void close_model(cameo_model* model);
uint64_t context_bytes(const cameo_model& model);
cameo_status open_context(cameo_context* context, cameo_error* error);
void close_context(cameo_context* context);
cameo_status grow(const cameo_model& model, Side side, Grown* memory, uint64_t bytes, cameo_error* error);
void release(const cameo_model& model, Side side, const Grown& memory);
cameo_status clear(cameo_context* context, void* memory, uint64_t bytes, cameo_error* error);
cameo_status read(const cameo_model& model, void* stream, void* to, const void* from, uint64_t bytes,
                  cameo_error* error);
cameo_status upload_input(cameo_context* context, int32_t index, const cameo_tensor& tensor, cameo_error* error);
Outcome walk(cameo_context* context, const cameo_value* out, const cameo_run_options* options);
Outcome synchronize(cameo_context* context);
cameo_status report(const cameo_context* context, cameo_error* error);
void return_output(cameo_context* context, int32_t index, cameo_value& value);

extern const DeviceRows kRows;

// What launches the kernel of a row with the bases as they are. It points into itself and into the context.
struct Launch {
  KernelNode node;
  size_t bytes;
  void* extra[5];
  Launch(Execution& run, const Row& row);
  Launch(const Launch&) = delete;
};

Graphs graphs_of(const Image& image, const Schedule& schedule);
inline Graphs graphs(const Image& image) { return graphs_of(image, *image.schedule); }
void open_graphs(cameo_context* context, Calls& calls);  // of a context whose segments are there, empty
void close_graphs(const Context& context, uint32_t plans);
uint32_t launch_segment(Execution& run, uint32_t row);

inline uint64_t fault_bytes(const Schedule& schedule) { return schedule.row_count * sizeof(Fault); }
void wait(Execution& run);  // for all that is queued, copied faults included; the first row's fault becomes the run's

// A call of a run: its failure is the run's fault, and nothing is called after one. Whether none has failed.
template <class... P, class... A>
bool queue(Execution& run, const Entry<P...>& entry, A... arguments) {
  Context& c = context_of(run);
  if (c.failed_call) return false;
  c.failure = entry.call(arguments...);
  if (!c.failure) return true;
  c.failed_call = entry.name;
  run.fault.code = kDeviceFault;
  return false;
}

}  // namespace rt::cuda
