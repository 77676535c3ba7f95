// A run on a GPU: inputs go up, rows are queued, outputs and faults come down, then one wait. `execute` walks the rows;
// it waits only where a row reads memory.
#include "runtime/cuda/cuda.h"
#include "runtime/dtype.h"
#include "runtime/libc.h"
#include "runtime/values.h"

namespace rt::cuda {
namespace {

// ---- copies between the blocks: neighbours go together
// ----------------------------------------------------------------

enum class Way { Up, Down };

class Transfers {
 public:
  Transfers(Execution& run, Way way) : run_(run), way_(way) {}
  Transfers(const Transfers&) = delete;
  ~Transfers() { flush(); }
  void add(char* host, void* device, uint64_t bytes) {
    if (host != host_ + bytes_ || device != device_ + bytes_) {
      flush();
      host_ = host;
      device_ = static_cast<char*>(device);
    }
    bytes_ += bytes;
  }

 private:
  void flush() {
    Context& c = context_of(run_);
    if (bytes_ && way_ == Way::Up) queue(run_, c.model->driver.cuMemcpyHtoDAsync, device_, host_, bytes_, c.stream);
    if (bytes_ && way_ == Way::Down) queue(run_, c.model->driver.cuMemcpyDtoHAsync, host_, device_, bytes_, c.stream);
    bytes_ = 0;
  }

  Execution& run_;
  Way way_;
  char *host_ = nullptr, *device_ = nullptr;
  uint64_t bytes_ = 0;
};

void add_faults(Execution& run, Transfers& down) {
  Context& c = context_of(run);
  down.add(c.host + c.faults, c.device + c.faults, fault_bytes(*run.schedule));
}

// After all that was queued has ended.
void take_fault(Execution& run) {
  Context& c = context_of(run);
  const Fault* faults = reinterpret_cast<const Fault*>(c.host + c.faults);
  uint32_t row = 0;
  while (row < run.schedule->row_count && !faults[row].code) ++row;
  if (c.failed_call || row == run.schedule->row_count) return;
  run.fault = faults[row];
  run.fault.row = row;
  queue(run, c.model->driver.cuMemsetD8Async, c.device + c.faults, uint8_t{0}, fault_bytes(*run.schedule), c.stream);
  queue(run, c.model->driver.cuStreamSynchronize, c.stream);
}

void synchronize_stream(Execution& run) {
  Context& c = context_of(run);
  if (c.failed_call) c.model->driver.cuStreamSynchronize.call(c.stream);  // what was queued before it uses the blocks
  queue(run, c.model->driver.cuStreamSynchronize, c.stream);
  take_fault(run);
}

// The run's calls begin anew.
auto calls_of(Execution& run) {
  context_of(run).failed_call = nullptr;
  return [&run](const auto& entry, auto argument) { return queue(run, entry, argument); };
}

bool is_on_device(const cameo_value& value) { return value.tensor.device.device_type == CAMEO_CUDA; }

void queue_inputs(cameo_context* owner) {
  Context& c = context_of(owner->run);
  const Program& program = *owner->model->program;
  Transfers up(owner->run, Way::Up);
  for (uint32_t i = 0; i < program.input_count; ++i) {
    const Place& place = c.inputs[i];
    if (const uint64_t bytes = io_bytes(owner->inputs[i]); bytes && owner->run.bases[kFirstIo + i] == place.device)
      up.add(place.host, place.device, align_up(bytes));
  }
}

cameo_status reserve_input(const cameo_model& model, Place& place, uint64_t bytes, cameo_error* error) {
  if (!place.is_open) return CAMEO_OK;
  cameo_status status = grow(model, Side::Kernels, &place.own_device, bytes, error);
  if (!status) status = grow(model, Side::Host, &place.own_host, bytes, error);
  place.host = static_cast<char*>(place.own_host.memory);
  place.device = static_cast<char*>(place.own_device.memory);
  return status;
}

// Where an output that the host wants comes to.
void reserve_output(cameo_context* owner, Place& place, uint64_t bytes) {
  Context& c = context_of(owner->run);
  if (!place.is_open || c.failed_call) return;
  if (grow(*owner->model, Side::Host, &place.own_host, bytes, nullptr)) {
    c.failed_call = c.model->driver.cuMemHostAlloc.name;
    c.failure = kOutOfMemory;
    owner->run.fault.code = kDeviceFault;
  }
  place.host = static_cast<char*>(place.own_host.memory);
}

void queue_outputs(cameo_context* owner, const cameo_value* out) {
  Execution& run = owner->run;
  Context& c = context_of(run);
  const Program& program = *owner->model->program;
  Transfers down(run, Way::Down);
  for (uint32_t i = 0; i < program.output_count; ++i) {
    const cameo_value& value = value_at(out, static_cast<int32_t>(i));
    void* written = run.bases[kFirstIo + program.input_count + i];
    const uint64_t bytes = io_bytes(owner->outputs[i]);
    if (value.kind == CAMEO_KIND_NONE || !bytes) continue;
    if (!is_on_device(value)) {
      reserve_output(owner, c.outputs[i], bytes);
      down.add(c.outputs[i].host, written, align_up(bytes));
    } else if (value.tensor.data && data_of(value.tensor) != written)  // a state's
      queue(run, c.model->driver.cuMemcpyAsync, data_of(value.tensor), written, bytes, c.stream);
  }
  add_faults(run, down);
}

// ---- rows
// -------------------------------------------------------------------------------------------------------------

void launch(Execution& run, const Row& row) {
  if (row.b && !chunks_of(row, run.sizes)) return;  // at these sizes there is nothing to compute, and no grid of none
  const Launch l(run, row);
  const KernelNode& n = l.node;
  queue(run, context_of(run).model->driver.cuLaunchKernel, n.function, n.grid_x, n.grid_y, n.grid_z, n.block_x,
        n.block_y, n.block_z, n.shared_bytes, context_of(run).stream, n.parameters, n.extra);
}

void copy(Execution& run, void* to, const void* from, uint64_t bytes) {
  Context& c = context_of(run);
  if (bytes) queue(run, c.model->driver.cuMemcpyAsync, to, from, bytes, c.stream);
}

void read(Execution& run, void* to, const void* from, uint64_t bytes) {
  Context& c = context_of(run);
  const bool small = bytes <= kWordBytes;
  void* landing = small ? c.host + c.word : to;
  queue(run, c.model->driver.cuMemcpyDtoHAsync, landing, from, bytes, c.stream);
  wait(run);
  if (small && !c.failed_call) libc::memcpy(to, landing, bytes);
}

// As two words that the calls carry: no memory of the host is read later.
void write(Execution& run, void* to, int64_t value) {
  Context& c = context_of(run);
  const uint64_t bits = static_cast<uint64_t>(value);
  const auto& set = c.model->driver.cuMemsetD32Async;
  queue(run, set, to, static_cast<uint32_t>(bits), size_t{1}, c.stream);
  queue(run, set, static_cast<char*>(to) + 4, static_cast<uint32_t>(bits >> 32), size_t{1}, c.stream);
}

void begin_row(Execution& run) {
  Context& c = context_of(run);
  queue(run, c.model->driver.cuEventRecord, c.begun, c.stream);
}

uint64_t end_row(Execution& run) {
  Context& c = context_of(run);
  float milliseconds = 0;
  queue(run, c.model->driver.cuEventRecord, c.ended, c.stream);
  wait(run);
  queue(run, c.model->driver.cuEventElapsedTime, &milliseconds, c.begun, c.ended);
  return static_cast<uint64_t>(static_cast<double>(milliseconds) * 1e6);
}

}  // namespace

const DeviceRows kRows = {launch, launch_segment, wait, copy, read, write, begin_row, end_row};

Launch::Launch(Execution& run, const Row& row) {
  const Context& c = context_of(run);
  const uint32_t index = static_cast<uint32_t>(&row - run.schedule->rows);
  const Ref* ref = run.schedule->refs + row.refs;
  const DeviceEntry& entry = c.entries[row.target];
  const uint32_t sizes_base = run.schedule->sizes_base;
  for (uint32_t i = 0; i < entry.operands; ++i, ++ref) {
    char* address = static_cast<char*>(run.bases[ref->base]) + ref->offset;
    const bool is_size = sizes_base && ref->base == sizes_base;  // of the host's table: it goes by value
    c.arguments[i] = is_size ? reinterpret_cast<void*>(*reinterpret_cast<const int64_t*>(address)) : address;
  }
  c.arguments[entry.operands] = c.device + c.faults + index * sizeof(Fault);
  bytes = (entry.operands + 1) * sizeof(void*);
  void* const settings[] = {reinterpret_cast<void*>(kParameters), c.arguments, reinterpret_cast<void*>(kParameterBytes),
                            &bytes, nullptr};
  libc::memcpy(extra, settings, sizeof extra);
  const uint32_t chunks = chunks_of(row, run.sizes);
  node = {c.model->functions[row.target],
          chunks ? chunks : 1u,
          1,
          1,
          kBlockThreads,
          1,
          1,
          0,
          nullptr,
          extra,
          nullptr,
          nullptr};
}

void wait(Execution& run) {
  {  // the copy is queued when `down` ends
    Transfers down(run, Way::Down);
    add_faults(run, down);
  }
  synchronize_stream(run);
}

cameo_status upload_input(cameo_context* owner, int32_t index, const cameo_tensor& tensor, cameo_error* error) {
  Context& c = context_of(owner->run);
  const Io& io = owner->inputs[index];
  Place& place = c.inputs[index];
  if (cameo_status status = reserve_input(*owner->model, place, io_bytes(io), error)) return status;
  if (!is_compact(tensor))
    copy_strided(tensor, place.host, element_bytes(io.dtype));
  else if (io_bytes(io))
    libc::memcpy(place.host, data_of(tensor), io_bytes(io));
  owner->run.bases[input_base(static_cast<uint32_t>(index))] = place.device;
  return CAMEO_OK;
}

Outcome walk(cameo_context* owner, const cameo_value* out, const cameo_run_options* options) {
  Execution& run = owner->run;
  Context& c = context_of(run);
  c.stream = owner->stream ? owner->stream : c.own_stream;
  c.graphs = &c.plans[owner->plan];
  const Current current(*c.model, calls_of(run));
  queue_inputs(owner);
  Outcome outcome = execute(run);
  if (outcome == Outcome::Done) queue_outputs(owner, out);
  c.pending = outcome == Outcome::Done && options && options->flags & CAMEO_RUN_ASYNC;
  if (c.pending) queue(run, c.model->driver.cuEventRecord, c.ended, c.stream);
  if (!c.pending || c.failed_call) outcome == Outcome::Done ? synchronize_stream(run) : wait(run);
  return run.fault.code ? Outcome::Fault : outcome;
}

Outcome synchronize(cameo_context* owner) {
  Execution& run = owner->run;
  if (!run.device_state || !context_of(run).pending) return Outcome::Done;
  Context& c = context_of(run);
  c.pending = false;
  c.stream = c.own_stream;  // the caller's may be gone
  run.fault = {};
  const Current current(*c.model, calls_of(run));
  queue(run, c.model->driver.cuEventSynchronize, c.ended);
  take_fault(run);
  return run.fault.code ? Outcome::Fault : Outcome::Done;
}

cameo_status report(const cameo_context* owner, cameo_error* error) {
  const Context& c = context_of(owner->run);
  return failed_call(c.model->driver, c.failed_call, c.failure, error);
}

void return_output(cameo_context* owner, int32_t index, cameo_value& value) {
  Context& c = context_of(owner->run);
  const Program& program = *owner->model->program;
  const uint32_t base = kFirstIo + program.input_count + static_cast<uint32_t>(index);
  char* place = c.outputs[index].host;
  if (is_owned(value) && is_on_device(value))
    fill_output(owner, index, value, owner->run.bases[base], owner->model->options.device);
  else if (is_owned(value))
    fill_output(owner, index, value, place, {CAMEO_CPU, 0});
  else if (!is_on_device(value) && data_of(value.tensor) != place && io_bytes(owner->outputs[index]))
    libc::memcpy(data_of(value.tensor), place, io_bytes(owner->outputs[index]));
}

}  // namespace rt::cuda
