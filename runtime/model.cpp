// Creation and release of models and contexts.
#include "runtime/model.h"

#include "runtime/cpu.h"
#include "runtime/device.h"
#include "runtime/dtype.h"
#include "runtime/errors.h"
#include "runtime/huge_pages.h"
#include "runtime/libc.h"
#include "runtime/lists.h"
#include "runtime/sizes.h"
#include "runtime/state.h"
#include "runtime/string_heap.h"

namespace rt {
namespace {

// Blocks of two huge pages or more ask the system for these. Where it grants none
// (`/sys/kernel/mm/transparent_hugepage/enabled`), all is as before.
void* default_alloc(void*, size_t bytes, size_t alignment, cameo_device) {
  if (bytes < 2 * kHugePage) return libc::aligned_alloc(alignment, bytes);
  void* const memory = libc::aligned_alloc(kHugePage, bytes);
  if (memory) libc::madvise(memory, bytes / kHugePage * kHugePage, libc::kAdviseHugePages);
  return memory;
}

void default_free(void*, void* memory, size_t, size_t, cameo_device) { libc::free(memory); }

// What the caller's structure holds, over the defaults.
cameo_options read_options(const cameo_options* given) {
  cameo_options options = default_options();
  if (!given) return options;
  libc::memcpy(&options, given, given->struct_size < sizeof options ? given->struct_size : sizeof options);
  options.struct_size = sizeof options;
  if (!options.alloc) options.alloc = default_alloc, options.free = default_free;
  return options;
}

cameo_status no_image(const Program& program, uint64_t host, cameo_error* error) {
  if (!program.image_count)
    return fail(error, CAMEO_UNAVAILABLE, -1, -1, "the library holds no code for any processor");
  const Image& last = program.images[program.image_count - 1];
  if (last.device) return fail(error, CAMEO_UNAVAILABLE, -1, -1, "the library holds code for GPUs only, not for a CPU");
  return fail(error, CAMEO_UNAVAILABLE, -1, -1,
              "this processor lacks (or the system denies) %s, which code for `%s` needs; build with a lower "
              "`--target`, or with several",
              FeatureNames(last.cpu_features & ~host).text, last.name);
}

cameo_status check_types(const Program& program, const Io* ios, uint32_t count, const char* what, cameo_error* error) {
  for (uint32_t i = 0; i < count; ++i) {
    const Io& io = ios[i];
    const bool is_told = (io.kind == CAMEO_KIND_STRINGS) == (io.dtype == kString);
    if (is_list(io) ? !program.lists : !is_told || !element_bytes(io.dtype))
      return fail(error, CAMEO_UNIMPLEMENTED, static_cast<int32_t>(i), -1,
                  "%s %u %s is of a type that this runtime does not run", what, i, Quoted(io.name).text);
    for (int32_t d = 0; d < ios[i].rank; ++d)
      if (ios[i].dims[d] < 0 && size_place(ios[i], d) < 0)
        return fail(error, CAMEO_UNIMPLEMENTED, static_cast<int32_t>(i), -1,
                    "dim %d of %s %u %s is known only when the run has ended; this runtime runs only what the inputs' "
                    "sizes give",
                    d, what, i, Quoted(ios[i].name).text);
  }
  return CAMEO_OK;
}

const Image* gpu_image(const Program& program) {
  for (uint32_t i = 0; i < program.image_count; ++i)
    if (program.images[i].device) return &program.images[i];
  return nullptr;
}

cameo_status check_given(const cameo_options* given, cameo_error* error) {
  if (!given) return CAMEO_OK;
  if (!is_struct_size(given->struct_size, offsetof(cameo_options, weights_path)))
    return fail(error, CAMEO_INVALID_ARGUMENT, -1, -1,
                "options.struct_size is %u; set it to sizeof(cameo_options), %zu", given->struct_size, sizeof *given);
  if (!given->alloc == !given->free) return CAMEO_OK;
  return fail(error, CAMEO_INVALID_ARGUMENT, -1, -1, "options.%s is null and options.%s is not; give both or none",
              given->alloc ? "free" : "alloc", given->alloc ? "alloc" : "free");
}

cameo_status check_options(const Program& program, const cameo_options& options, cameo_error* error) {
  const int32_t type = options.device.device_type;
  if (type != CAMEO_AUTO && type != CAMEO_CPU && !(type == CAMEO_CUDA && gpu_image(program)))
    return fail(error, CAMEO_UNAVAILABLE, -1, -1, "device type %d is not in this library, which runs on the CPU (1)%s",
                type, gpu_image(program) ? " and on GPUs (2)" : "");
  if (options.num_threads < 0 || options.num_threads > 4096)
    return fail(error, CAMEO_INVALID_ARGUMENT, -1, -1, "num_threads is %d; 0 (default) to 4096 are possible",
                options.num_threads);
  return CAMEO_OK;
}

cameo_status check_program(const Program& program, cameo_error* error) {
  if (program.version != kProgramVersion)
    return fail(error, CAMEO_UNIMPLEMENTED, -1, -1, "the program's tables have version %u, the runtime reads %u",
                program.version, kProgramVersion);
  cameo_status status = check_types(program, program.inputs, program.input_count, "input", error);
  return status ? status : check_types(program, program.outputs, program.output_count, "output", error);
}

bool is_parallel(const Schedule& schedule) {
  for (uint32_t i = 0; i < schedule.row_count; ++i)
    if (const Row& row = schedule.rows[i];
        row.kind == RowKind::Kernel && (row.chunks > 1 || row.b || row.order == Order::Beside))
      return true;
  return false;
}

bool is_parallel(const cameo_model& model) {
  for (uint32_t i = 0; i < plan_count(*model.program); ++i)
    if (is_parallel(schedule_of_plan(*model.image, i))) return true;
  return false;
}

cameo_status start_threads(cameo_model* model, cameo_error* error) {
  const cameo_options& options = model->options;
  model->threads = options.num_threads       ? options.num_threads
                   : model->program->threads ? model->program->threads
                                             : usable_threads();
  if (model->image->device || !is_parallel(*model)) model->threads = 1;
  if (model->threads == 1 || options.parallel_for) return CAMEO_OK;
  void* memory = allocate(options, Pool::bytes(model->threads));
  model->pool = memory ? Pool::create(memory, model->threads) : nullptr;
  if (model->pool) return CAMEO_OK;
  if (memory) deallocate(options, memory, Pool::bytes(model->threads));
  return fail(error, CAMEO_OUT_OF_MEMORY, -1, -1, "cannot start %d threads; num_threads = 1 needs none",
              model->threads);
}

void destroy_model(cameo_model* model) {
  const cameo_options options = model->options;
  if (const DeviceDriver* driver = driver_of(*model)) driver->close_model(model);
  if (model->pool) {
    model->pool->destroy();
    deallocate(options, model->pool, Pool::bytes(model->threads));
  }
  release_weights(model);
  deallocate(options, model, sizeof *model);
}

void log_model(const cameo_model& model) {
  char text[200];
  if (!model.options.log) return;
  libc::snprintf(text, sizeof text, "%s runs its code for `%s` on %d threads", Quoted(model.program->name).text,
                 model.image->name, model.threads);
  model.options.log(model.options.user, 0, text);
}

uint64_t take(Layout& layout, uint64_t bytes) {
  const uint64_t offset = layout.bytes;
  layout.bytes += align_up(bytes);
  return offset;
}

template <class T>
T* part(cameo_context* context, uint64_t offset) {
  return reinterpret_cast<T*>(reinterpret_cast<char*>(context) + offset);
}

// Of an output, in a context's block; what has no bound stands elsewhere.
uint64_t most_in_place(const Io& io) { return is_open(io) ? 0 : align_up(most_bytes(io)); }

uint64_t dim_count(const Io* ios, uint32_t count) {
  uint64_t dims = 0;
  for (uint32_t i = 0; i < count; ++i) dims += static_cast<uint64_t>(ios[i].rank);
  return dims;
}

void set_up_outputs(cameo_context* context) {
  const Program& program = *context->model->program;
  const bool here = !context->model->image->device;
  uint64_t offset = context->layout.outputs,
           shape = context->layout.shapes + align_up(program.output_count * sizeof(void*));
  for (uint32_t i = 0; i < program.output_count; ++i) {
    const Io& io = program.outputs[i];
    if (here) context->owned[i] = part<void>(context, offset);
    context->shapes[i] = part<int64_t>(context, shape);
    for (int32_t d = 0; d < io.rank; ++d) context->shapes[i][d] = io.dims[d];
    if (is_open(io)) context->owned[i] = nullptr;
    offset += most_in_place(io);
    shape += static_cast<uint64_t>(io.rank) * sizeof(int64_t);
  }
}

// Inputs and outputs of a context whose runs have sizes of their own.
void set_up_sizes(cameo_context* context) {
  const Program& program = *context->model->program;
  Io* ios = part<Io>(context, context->layout.ios);
  int64_t* dims = part<int64_t>(context, context->layout.input_dims);
  context->inputs = ios;
  context->outputs = ios + program.input_count;
  for (uint32_t i = 0; i < program.input_count; ++i, ++ios) {
    *ios = program.inputs[i];
    ios->dims = dims;
    dims += ios->rank;
  }
  for (uint32_t i = 0; i < program.output_count; ++i, ++ios) {
    *ios = program.outputs[i];
    ios->dims = context->shapes[i];
  }
}

void set_up_execution(cameo_context* context) {
  const cameo_model& model = *context->model;
  Execution& run = context->run;
  run.program = model.program;
  run.kernels = model.image->kernels;
  run.sizes = context->sizes;
  run.learn = [](Execution& of_run, const Row& row) {
    cameo_context* owner =
        reinterpret_cast<cameo_context*>(reinterpret_cast<char*>(&of_run) - offsetof(cameo_context, run));
    of_run.program->sizing->learn(owner, row);
  };
  run.bases = part<void*>(context, context->layout.bases);
  run.loops = part<LoopState>(context, context->layout.loops);
  run.threads = model.threads;
  run.parallel_for = model.options.parallel_for;
  run.parallel_user = model.options.user;
  run.bases[kWeights] = const_cast<void*>(model.weights);
  run.bases[kArena] = part<char>(context, context->layout.arena);
  use_plan(context, 0);
  if (const uint32_t base = run.schedule->sizes_base) run.bases[base] = context->sizes;  // of all plans
}

cameo_status open_strings(cameo_context* context, cameo_error* error) {
  const StringTable* table = context->model->program->strings;
  if (!table) return CAMEO_OK;
  context->run.strings = table->functions->open(*context->model);
  return context->run.strings ? CAMEO_OK
                              : fail(error, CAMEO_OUT_OF_MEMORY, -1, -1, "cannot allocate a context's strings");
}

}  // namespace

void use_plan(cameo_context* context, uint32_t plan) {
  Execution& run = context->run;
  context->plan = plan;
  run.schedule = &schedule_of_plan(*context->model->image, plan);
  run.scratch = part<char>(context, context->layout.scratch);
  run.scratch_stride = context->layout.scratch_stride;
}

[[gnu::cold]] const Image* choose_image(const Program& program, uint64_t host) {
  for (uint32_t i = 0; i < program.image_count; ++i)
    if (!program.images[i].device && (program.images[i].cpu_features & ~host) == 0) return &program.images[i];
  return nullptr;
}

cameo_options default_options() {
  cameo_options options = {};
  options.struct_size = sizeof options;
  options.device = {CAMEO_AUTO, 0};
  options.alloc = default_alloc;
  options.free = default_free;
  return options;
}

void* allocate(const cameo_options& options, uint64_t bytes) {
  return options.alloc(options.user, align_up(bytes), kAlign, {CAMEO_CPU, 0});
}

void deallocate(const cameo_options& options, void* memory, uint64_t bytes) {
  options.free(options.user, memory, align_up(bytes), kAlign, {CAMEO_CPU, 0});
}

namespace {

cameo_status open_image(const Program& program, const Image& image, const cameo_options& options, cameo_model** out,
                        cameo_error* error) {
  cameo_model* model = static_cast<cameo_model*>(allocate(options, sizeof *model));
  if (!model) return fail(error, CAMEO_OUT_OF_MEMORY, -1, -1, "cannot allocate a model");
  *model = {&program, &image, options, nullptr, nullptr, nullptr, nullptr, 1, 1, nullptr};
  model->options.device.device_type = image.device ? CAMEO_CUDA : CAMEO_CPU;
  cameo_status status = load_weights(model, error);
  if (!status) status = start_threads(model, error);
  if (!status && image.device) status = image.device->driver->open_model(model, error);
  if (status) return destroy_model(model), status;
  log_model(*model);
  *out = model;
  return CAMEO_OK;
}

void log_fallback(const cameo_options& options, const cameo_error& reason) {
  char text[560];
  if (!options.log) return;
  libc::snprintf(text, sizeof text, "it runs on the CPU: %s", reason.message);
  options.log(options.user, 1, text);
}

}  // namespace

[[gnu::cold]] cameo_status create_model(const Program& program, const cameo_options* given, cameo_model** out,
                                        cameo_error* error) {
  if (!out) return fail(error, CAMEO_INVALID_ARGUMENT, -1, -1, "model_create: `model` is null");
  cameo_status status = check_given(given, error);
  if (status) return status;
  const cameo_options options = read_options(given);
  status = check_options(program, options, error);
  if (!status) status = check_program(program, error);
  if (status) return status;
  uint64_t host = host_cpu_features();
  const Image* cpu = choose_image(program, host);
  if (cpu && (cpu->cpu_features & kAmxTile) && !allow_tile_registers())
    cpu = choose_image(program, host &= ~uint64_t{kAmxTile});
  const Image* gpu = options.device.device_type == CAMEO_CPU ? nullptr : gpu_image(program);
  if (gpu && (!cpu || options.device.device_type == CAMEO_CUDA)) return open_image(program, *gpu, options, out, error);
  if (gpu) {
    cameo_error reason;
    reason.struct_size = sizeof reason;
    if (!open_image(program, *gpu, options, out, &reason)) return CAMEO_OK;
    log_fallback(options, reason);
  }
  return cpu ? open_image(program, *cpu, options, out, error) : no_image(program, host, error);
}

void retain_model(cameo_model* model) {
  if (model) __atomic_fetch_add(&model->references, 1, __ATOMIC_RELAXED);
}

void release_model(cameo_model* model) {
  if (model && __atomic_fetch_sub(&model->references, 1, __ATOMIC_ACQ_REL) == 1) destroy_model(model);
}

cameo_status enter(cameo_context* context, cameo_error* error) {
  if (!__atomic_exchange_n(&context->busy, 1, __ATOMIC_ACQUIRE)) return CAMEO_OK;
  return fail(error, CAMEO_FAILED_PRECONDITION, -1, -1,
              "the context is in use by another call; create one for each thread");
}

void leave(cameo_context* context) { __atomic_store_n(&context->busy, 0, __ATOMIC_RELEASE); }

Layout plan_context(const cameo_model& model) {
  const Program& program = *model.program;
  const bool here = !model.image->device;  // what kernels write is in this block
  Layout layout = {};
  const bool has_symbols = program.size_count;
  const uint64_t dims = dim_count(program.outputs, program.output_count);
  uint64_t outputs = 0;
  for (uint32_t i = 0; i < program.output_count; ++i) outputs += most_in_place(program.outputs[i]);
  take(layout, sizeof(cameo_context));
  layout.bases = take(layout, most(model, &Schedule::base_count) * sizeof(void*));
  layout.loops = take(layout, most(model, &Schedule::loop_count) * sizeof(LoopState));
  layout.owned = take(layout, program.output_count * sizeof(void*));
  layout.shapes = take(layout, align_up(program.output_count * sizeof(void*)) + dims * sizeof(int64_t));
  layout.staging = take(layout, program.input_count * sizeof(Grown));
  layout.bindings = take(layout, program.output_count * sizeof(Binding));
  layout.state_dims = take(layout, dims * sizeof(int64_t));
  layout.values = take(layout, program.input_count * sizeof(cameo_value));
  layout.sizes = take(layout, program.size_count * sizeof(int64_t));
  layout.ios = take(layout, has_symbols ? (program.input_count + program.output_count) * sizeof(Io) : 0);
  layout.input_dims = take(layout, has_symbols ? dim_count(program.inputs, program.input_count) * sizeof(int64_t) : 0);
  layout.open_outputs = take(layout, has_symbols ? program.output_count * sizeof(Grown) : 0);
  layout.blocks = take(layout, most(model, &Schedule::block_count) * sizeof(Grown));
  layout.host_blocks = take(layout, here ? 0 : most(model, &Schedule::block_count) * sizeof(Grown));
  layout.plan_runs = take(layout, plan_count(program) * sizeof(uint64_t));
  layout.scratch_stride = align_up(most(model, &Schedule::scratch_bytes));
  layout.scratch = take(layout, layout.scratch_stride * static_cast<uint64_t>(model.threads));
  layout.arena = take(layout, here ? most(model, &Schedule::arena_bytes) : 0);
  layout.outputs = take(layout, here ? outputs : 0);
  return layout;
}

cameo_status create_context(cameo_model* model, cameo_context** out, cameo_error* error) {
  if (!model || !out)
    return fail(error, CAMEO_INVALID_ARGUMENT, -1, -1, "context_create: `%s` is null", model ? "context" : "model");
  const Layout layout = plan_context(*model);
  void* memory = allocate(model->options, layout.bytes);
  if (!memory) return fail(error, CAMEO_OUT_OF_MEMORY, -1, -1, "cannot allocate %lu bytes for a context", layout.bytes);
  libc::memset(memory, 0, layout.scratch);  // all tables; arena and outputs stay untouched until they are written
  cameo_context* context = static_cast<cameo_context*>(memory);
  context->model = model;
  context->layout = layout;
  context->owned = part<void*>(context, layout.owned);
  context->shapes = part<int64_t*>(context, layout.shapes);
  context->staging = part<Grown>(context, layout.staging);
  context->bindings = part<Binding>(context, layout.bindings);
  context->state_dims = part<int64_t>(context, layout.state_dims);
  context->values = part<cameo_value>(context, layout.values);
  context->sizes = part<int64_t>(context, layout.sizes);
  context->open_outputs = part<Grown>(context, layout.open_outputs);
  context->blocks = part<Grown>(context, layout.blocks);
  context->host_blocks = part<Grown>(context, layout.host_blocks);
  context->plan_runs = part<uint64_t>(context, layout.plan_runs);
  context->inputs = model->program->inputs;
  context->outputs = model->program->outputs;
  set_up_execution(context);
  set_up_outputs(context);
  if (model->program->size_count) set_up_sizes(context);
  retain_model(model);
  const DeviceDriver* driver = driver_of(*model);
  cameo_status status = model->program->lists ? model->program->lists->open(context, error) : CAMEO_OK;
  if (!status) status = open_strings(context, error);
  if (!status && driver) status = driver->open_context(context, error);
  if (status) return release_context(context), status;
  *out = context;
  return CAMEO_OK;
}

void release_context(cameo_context* context) {
  if (!context) return;
  cameo_model* model = context->model;
  const cameo_options& options = model->options;
  const DeviceDriver* driver = driver_of(*model);
  const auto release_plain = [&](const Grown& memory) {
    if (memory.memory) deallocate(options, memory.memory, memory.bytes);
  };
  for (uint32_t i = 0; i < model->program->input_count; ++i) release_plain(context->staging[i]);
  release_plain(context->scratch);
  release_plain(context->tap_memory);
  const uint64_t blocks = most(*model, &Schedule::block_count);
  const uint32_t outputs = model->program->size_count ? model->program->output_count : 0;
  for (uint32_t i = 0; i < outputs; ++i) release(*model, Side::Kernels, context->open_outputs[i]);
  for (uint64_t i = 0; i < blocks; ++i) release(*model, Side::Kernels, context->blocks[i]);
  for (uint64_t i = 0; i < (driver ? blocks : 0); ++i) release(*model, Side::Host, context->host_blocks[i]);
  release_states(context);
  if (model->program->lists) model->program->lists->close(context);
  if (const StringTable* table = model->program->strings) table->functions->close(*model, context->run.strings);
  if (driver) driver->close_context(context);
  deallocate(options, context, context->layout.bytes);
  release_model(model);
}

}  // namespace rt
