// A context on a GPU: its stream, its two blocks of memory, its states. See cuda.h for the places in the blocks.
#include "runtime/cuda/cuda.h"
#include "runtime/libc.h"
#include "runtime/sizes.h"

namespace rt::cuda {
namespace {

void free_memory(const Driver& driver, Side side, void* memory) {
  if (memory) (side == Side::Host ? driver.cuMemFreeHost : driver.cuMemFree).call(memory);
}

struct Places {
  uint64_t faults = 0, word = 0, end = 0;
};

uint64_t most_fault_bytes(const cameo_model& model) { return most(model, &Schedule::row_count) * sizeof(Fault); }

// `place_at(io, offset)`: of each input and output with an upper bound; outputs are counted on behind inputs.
template <class F>
Places plan_places(const cameo_model& model, F place_at) {
  const Program& program = *model.program;
  Places p;
  const auto take = [&](uint64_t bytes) {
    const uint64_t place = p.end;
    p.end += align_up(bytes);
    return place;
  };
  for (uint32_t i = 0; i < program.input_count + program.output_count; ++i)
    if (const Io& io = i < program.input_count ? program.inputs[i] : program.outputs[i - program.input_count];
        !is_open(io))
      place_at(i, take(most_bytes(io)));
  p.faults = take(most_fault_bytes(model));
  p.word = take(kWordBytes);
  return p;
}
Places plan_places(const cameo_model& model) {
  return plan_places(model, [](uint32_t, uint64_t) {});
}

uint32_t most_operands(const Device& device) {
  uint32_t most = 0;
  for (uint32_t i = 0; i < device.entry_count; ++i)
    if (device.entries[i].operands > most) most = device.entries[i].operands;
  return most;
}

Context* new_context(cameo_context* owner, cameo_error* error) {
  const cameo_model& model = *owner->model;
  const uint64_t ios = model.program->input_count + model.program->output_count, plans = plan_count(*model.program);
  const uint64_t operands = most_operands(*model.image->device) + 1;
  uint64_t segments = 0, words = operands;  // of addresses
  for (uint32_t p = 0; p < plans; ++p) {
    const Schedule& schedule = schedule_of_plan(*model.image, p);
    const uint64_t count = graphs_of(*model.image, schedule).count;
    segments += count;
    words += count ? schedule.row_count + count * schedule.base_count : 0;
  }
  const uint64_t bytes = sizeof(Context) + ios * sizeof(Place) + plans * sizeof(PlanGraphs) +
                         segments * sizeof(Segment) + words * sizeof(void*);
  Context* c = static_cast<Context*>(allocate(model.options, bytes));
  if (!c) return fail(error, CAMEO_OUT_OF_MEMORY, -1, -1, "cannot allocate %lu bytes for a context", bytes), nullptr;
  libc::memset(c, 0, bytes);
  c->model = &model_of(model);
  c->entries = model.image->device->entries;
  c->bytes = bytes;
  c->inputs = reinterpret_cast<Place*>(c + 1);
  c->outputs = c->inputs + model.program->input_count;
  c->plans = reinterpret_cast<PlanGraphs*>(c->inputs + ios);
  Segment* segment = reinterpret_cast<Segment*>(c->plans + plans);
  c->arguments = reinterpret_cast<void**>(segment + segments);
  void** word = c->arguments + operands;
  for (uint32_t p = 0; p < plans; ++p) {
    const Schedule& schedule = schedule_of_plan(*model.image, p);
    const uint32_t count = graphs_of(*model.image, schedule).count;
    c->plans[p] = {segment, count, word};
    word += count ? schedule.row_count : 0;
    for (uint32_t i = 0; i < count; ++i, ++segment, word += schedule.base_count) segment->bases = word;
  }
  return c;
}

void set_places(cameo_context* owner, Context& c) {
  const Program& program = *owner->model->program;
  for (Place* p = c.inputs; p < c.outputs + program.output_count; ++p) p->is_open = true;
  const Places places = plan_places(*owner->model, [&](uint32_t io, uint64_t offset) {
    c.inputs[io] = {c.host + offset, c.device + offset, false, {}, {}};
  });
  c.faults = places.faults;
  c.word = places.word;
  owner->run.bases[kArena] = c.device + places.end;
  if (const uint32_t base = owner->run.schedule->host_base) owner->run.bases[base] = c.host + places.end;
  owner->run.device = &kRows;
  for (uint32_t i = 0; i < program.output_count; ++i) owner->owned[i] = c.outputs[i].device;
}

}  // namespace

uint64_t context_bytes(const cameo_model& model) {
  return plan_places(model).end + align_up(most(model, &Schedule::arena_bytes));
}

cameo_status open_context(cameo_context* owner, cameo_error* error) {
  Context* c = new_context(owner, error);
  if (!c) return CAMEO_OUT_OF_MEMORY;
  owner->run.device_state = c;
  const Driver& driver = c->model->driver;
  Calls calls(driver, error);
  const Current current(*c->model, calls);
  void *host = nullptr, *device = nullptr;
  const uint64_t host_bytes = plan_places(*owner->model).end + align_up(most(*owner->model, &Schedule::host_bytes));
  calls(driver.cuMemHostAlloc, &host, host_bytes, 0u);
  c->host = static_cast<char*>(host);
  cameo_status status = calls.status();
  if (!status) status = take_memory(*c->model, &device, context_bytes(*owner->model), error);
  if (status) return status;
  c->device = static_cast<char*>(device);
  set_places(owner, *c);
  calls(driver.cuStreamCreate, &c->own_stream, 0u);  // 0: in order with the legacy default stream
  calls(driver.cuEventCreate, &c->begun, 0u);
  calls(driver.cuEventCreate, &c->ended, 0u);
  calls(driver.cuMemsetD8Async, c->device + c->faults, uint8_t{0}, most_fault_bytes(*owner->model), c->own_stream);
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
    close_graphs(*c, plan_count(*owner->model->program));
    if (c->begun) driver.cuEventDestroy.call(c->begun);
    if (c->ended) driver.cuEventDestroy.call(c->ended);
    if (c->own_stream) driver.cuStreamDestroy.call(c->own_stream);
    free_memory(driver, Side::Kernels, c->device);
    free_memory(driver, Side::Host, c->host);
    for (const Place* p = c->inputs; p < c->outputs + owner->model->program->output_count; ++p) {
      free_memory(driver, Side::Kernels, p->own_device.memory);
      free_memory(driver, Side::Host, p->own_host.memory);
    }
  }
  deallocate(owner->model->options, c, c->bytes);
}

// With room for copies of whole kAlign.
cameo_status grow(const cameo_model& owner, Side side, Grown* memory, uint64_t bytes, cameo_error* error) {
  const Model& model = model_of(owner);
  Calls calls(model.driver, error);
  const Current current(model, calls);
  cameo_status status = calls.status();
  if (status) return status;
  const auto take = [&](uint64_t room) {
    void* taken = nullptr;
    if (side == Side::Host)
      calls(model.driver.cuMemHostAlloc, &taken, align_up(room), 0u);
    else
      status = take_memory(model, &taken, align_up(room), error);
    return taken;
  };
  const auto free_old = [&](const Grown& old) { free_memory(model.driver, side, old.memory); };
  if (grow_by(memory, bytes, take, free_old)) return CAMEO_OK;
  if (!status) status = calls.status();
  return status ? status : no_memory(model, bytes, error);
}

void release(const cameo_model& owner, Side side, const Grown& memory) {
  const Model& model = model_of(owner);
  Calls calls(model.driver, nullptr);
  const Current current(model, calls);
  free_memory(model.driver, side, memory.memory);
}

cameo_status read(const cameo_model& owner, void* stream, void* to, const void* from, uint64_t bytes,
                  cameo_error* error) {
  const Model& model = model_of(owner);
  Calls calls(model.driver, error);
  const Current current(model, calls);
  calls(model.driver.cuMemcpyDtoHAsync, to, from, bytes, stream);
  calls(model.driver.cuStreamSynchronize, stream);
  return calls.status();
}

cameo_status clear(cameo_context* owner, void* memory, uint64_t bytes, cameo_error* error) {
  Context& c = context_of(owner->run);
  const Driver& driver = c.model->driver;
  Calls calls(driver, error);
  const Current current(*c.model, calls);
  if (bytes) calls(driver.cuMemsetD8Async, memory, uint8_t{0}, bytes, c.own_stream);
  calls(driver.cuStreamSynchronize, c.own_stream);  // the run may be on another
  return calls.status();
}

}  // namespace rt::cuda
