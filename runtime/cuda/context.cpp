// A context on a GPU: its stream, its two blocks of memory, its states. See cuda.h for the places in the blocks.
#include "runtime/cuda/cuda.h"
#include "runtime/libc.h"
#include "runtime/sizes.h"

namespace rt::cuda {
namespace {

struct Places {
  uint64_t faults = 0, word = 0, end = 0;
};

uint64_t most_fault_bytes(const cameo_model& model) { return most(model, &Schedule::row_count) * sizeof(Fault); }

// `inputs` and `outputs` may be null.
Places plan_places(const cameo_model& model, uint64_t* inputs, uint64_t* outputs) {
  const Program& program = *model.program;
  Places p;
  const auto take = [&](uint64_t bytes) {
    const uint64_t place = p.end;
    p.end += align_up(bytes);
    return place;
  };
  for (uint32_t i = 0; i < program.input_count; ++i)
    if (const uint64_t place = take(most_bytes(program.inputs[i])); inputs) inputs[i] = place;
  for (uint32_t i = 0; i < program.output_count; ++i)
    if (const uint64_t place = take(most_bytes(program.outputs[i])); outputs) outputs[i] = place;
  p.faults = take(most_fault_bytes(model));
  p.word = take(kWordBytes);
  return p;
}

uint32_t most_operands(const Device& device) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < device.entry_count; ++i)
    if (device.entries[i].operands > most) most = device.entries[i].operands;
  return most;
}

Context* new_context(cameo_context* owner, Places* places, cameo_error* error) {
  const cameo_model& model = *owner->model;
  const uint64_t inputs = model.program->input_count, outputs = model.program->output_count;
  const uint64_t operands = most_operands(*model.image->device) + 1, segments = graphs_of(*model.image).count;
  const Schedule& schedule = *model.image->schedule;
  const uint64_t words =
      inputs + outputs + operands + (segments ? schedule.row_count + segments * schedule.base_count : 0);
  const uint64_t bytes = sizeof(Context) + segments * sizeof(Segment) + words * sizeof(uint64_t);
  Context* c = static_cast<Context*>(allocate(model.options, bytes));
  if (!c) return fail(error, CAMEO_OUT_OF_MEMORY, -1, -1, "cannot allocate %lu bytes for a context", bytes), nullptr;
  libc::memset(c, 0, bytes);
  c->model = &model_of(model);
  c->entries = model.image->device->entries;
  c->bytes = bytes;
  c->segments = reinterpret_cast<Segment*>(c + 1);
  c->segment_count = static_cast<uint32_t>(segments);
  c->inputs = reinterpret_cast<uint64_t*>(c->segments + segments);
  c->outputs = c->inputs + inputs;
  c->arguments = reinterpret_cast<void**>(c->outputs + outputs);
  c->nodes = c->arguments + operands;
  for (uint64_t i = 0; i < segments; ++i)
    c->segments[i].bases = c->nodes + schedule.row_count + i * schedule.base_count;
  *places = plan_places(model, c->inputs, c->outputs);
  c->faults = places->faults;
  c->word = places->word;
  return c;
}

void set_bases(cameo_context* owner, const Context& c, const Places& places) {
  owner->run.bases[kArena] = c.device + places.end;
  if (const uint32_t base = owner->run.schedule->host_base) owner->run.bases[base] = c.host + places.end;
  owner->run.device = &kRows;
  for (uint32_t i = 0; i < owner->model->program->output_count; ++i) owner->owned[i] = c.device + c.outputs[i];
}

}  // namespace

uint64_t context_bytes(const cameo_model& model) {
  return plan_places(model, nullptr, nullptr).end + align_up(most(model, &Schedule::arena_bytes));
}

cameo_status open_context(cameo_context* owner, cameo_error* error) {
  Places places;
  Context* c = new_context(owner, &places, error);
  if (!c) return CAMEO_OUT_OF_MEMORY;
  owner->run.device_state = c;
  const Driver& driver = c->model->driver;
  Calls calls(driver, error);
  const Current current(*c->model, calls);
  void *host = nullptr, *device = nullptr;
  calls(driver.cuMemHostAlloc, &host, places.end + align_up(most(*owner->model, &Schedule::host_bytes)), 0u);
  c->host = static_cast<char*>(host);
  cameo_status status = calls.status();
  if (!status) status = take_memory(*c->model, &device, context_bytes(*owner->model), error);
  if (status) return status;
  c->device = static_cast<char*>(device);
  calls(driver.cuStreamCreate, &c->own_stream, 0u);  // 0: in order with the legacy default stream
  calls(driver.cuEventCreate, &c->begun, 0u);
  calls(driver.cuEventCreate, &c->ended, 0u);
  calls(driver.cuMemsetD8Async, c->device + c->faults, uint8_t{0}, most_fault_bytes(*owner->model), c->own_stream);
  set_bases(owner, *c, places);
  open_graphs(owner, calls);
  calls(driver.cuStreamSynchronize, c->own_stream);
  return calls.status();
}

// Freeing the device's memory waits for all that uses it, a run that was left queued too.
void close_context(cameo_context* owner) {
  Context* c = static_cast<Context*>(owner->run.device_state);
  if (!c) return;
  const Driver& driver = c->model->driver;
  Calls calls(driver, nullptr);
  {
    const Current current(*c->model, calls);
    close_graphs(*c);
    if (c->begun) driver.cuEventDestroy.call(c->begun);
    if (c->ended) driver.cuEventDestroy.call(c->ended);
    if (c->own_stream) driver.cuStreamDestroy.call(c->own_stream);
    if (c->device) driver.cuMemFree.call(c->device);
    if (c->host) driver.cuMemFreeHost.call(c->host);
  }
  deallocate(owner->model->options, c, c->bytes);
}

cameo_status open_state(cameo_context* owner, Binding* binding, uint64_t bytes, cameo_error* error) {
  Context& c = context_of(owner->run);
  Calls calls(c.model->driver, error);
  const Current current(*c.model, calls);
  cameo_status status = calls.status();
  for (Grown& block : binding->blocks) {
    if (!status) status = take_memory(*c.model, &block.memory, align_up(bytes), error);
    block.bytes = bytes;
  }
  return status;
}

cameo_status clear_state(cameo_context* owner, void* block, uint64_t bytes, cameo_error* error) {
  Context& c = context_of(owner->run);
  const Driver& driver = c.model->driver;
  Calls calls(driver, error);
  const Current current(*c.model, calls);
  if (bytes) calls(driver.cuMemsetD8Async, block, uint8_t{0}, bytes, c.own_stream);
  calls(driver.cuStreamSynchronize, c.own_stream);  // the run may be on another
  return calls.status();
}

void close_state(cameo_context* owner, const Binding& binding) {
  Context& c = context_of(owner->run);
  Calls calls(c.model->driver, nullptr);
  const Current current(*c.model, calls);
  for (const Grown& block : binding.blocks)
    if (block.memory) c.model->driver.cuMemFree.call(block.memory);
}

}  // namespace rt::cuda
