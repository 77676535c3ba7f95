// See sizes.h. What is told of a size names the input, the dim, and the symbol that it stands for.
#include "runtime/sizes.h"

#include "runtime/device.h"
#include "runtime/dtype.h"
#include "runtime/errors.h"
#include "runtime/libc.h"
#include "runtime/numbers.h"
#include "runtime/state.h"
#include "runtime/values.h"

namespace rt {
namespace {

struct Dim {
  int32_t io, dim;
};

bool is_given(const cameo_value* in, int32_t i) { return value_at(in, i).kind != CAMEO_KIND_NONE; }

// The first dim of the inputs that are given which stands at that place.
Dim giver_of(const Program& program, const cameo_value* in, int32_t place) {
  for (int32_t i = 0; i < static_cast<int32_t>(program.input_count); ++i)
    for (int32_t d = 0; d < program.inputs[i].rank; ++d)
      if (size_place(program.inputs[i], d) == place && is_given(in, i)) return {i, d};
  return {-1, -1};
}

const char* dim_name(const Program& program, const Io& io, int32_t d) {
  const int32_t place = size_place(io, d);
  if (place >= 0 && place < static_cast<int32_t>(program.symbol_count)) return program.symbols[place].name;
  return io.dim_names && io.dim_names[d] ? io.dim_names[d] : "?";
}

cameo_status out_of_bounds(const Program& program, int32_t index, int32_t d, int64_t size, cameo_error* error) {
  const Io& io = program.inputs[index];
  const Symbol& symbol = program.symbols[size_place(io, d)];
  const int64_t high = symbol.high < 0 ? kMaxBytes : symbol.high;
  return fail(error, CAMEO_INVALID_ARGUMENT, index, -1,
              "input %d %s has %ld in dim %d (%s), which the model was built for %ld to %ld", index,
              Quoted(io.name).text, size, d, Quoted(symbol.name).bare().text, symbol.low, high);
}

cameo_status set_symbol(const Program& program, const cameo_value* in, int32_t index, int32_t d, int64_t* table,
                        bool* changes, cameo_error* error) {
  const Io& io = program.inputs[index];
  const int32_t place = size_place(io, d);
  const int64_t size = value_at(in, index).tensor.shape[d];
  const Symbol& symbol = program.symbols[place];
  const Dim giver = giver_of(program, in, place);
  if (giver.io == index && giver.dim == d) {
    if (size < symbol.low || size > (symbol.high < 0 ? kMaxBytes : symbol.high))
      return out_of_bounds(program, index, d, size, error);
    *changes |= table[place] != size;
    return table[place] = size, CAMEO_OK;
  }
  if (table[place] == size) return CAMEO_OK;
  return fail(error, CAMEO_INVALID_ARGUMENT, index, -1,
              "input %d %s has %ld in dim %d (%s), but input %d %s has %ld in dim %d; they must be equal", index,
              Quoted(io.name).text, size, d, Quoted(symbol.name).bare().text, giver.io,
              Quoted(program.inputs[giver.io].name).text, table[place], giver.dim);
}

// Where element `number`, row-major, stands.
const char* element_at(const cameo_tensor& tensor, int64_t bytes, uint32_t number) {
  int64_t place = number;
  if (tensor.strides) {
    int64_t left = number;
    place = 0;
    for (int32_t d = tensor.ndim; d-- > 0; left /= tensor.shape[d]) place += left % tensor.shape[d] * tensor.strides[d];
  }
  return data_of(tensor) + place * bytes;
}

// Of integers or bools. A GPU's are copied when all that `stream` holds has ended.
cameo_status read_element(const cameo_model& model, void* stream, const cameo_tensor& tensor, uint32_t dtype,
                          uint32_t number, int64_t* value, cameo_error* error) {
  const int64_t bytes = element_bytes(dtype);
  const char* element = element_at(tensor, bytes, number);
  alignas(8) char copy[8];
  if (tensor.device.device_type != CAMEO_CPU) {
    if (cameo_status status = driver_of(model)->read(model, stream, copy, element, static_cast<uint64_t>(bytes), error))
      return status;
    element = copy;
  }
  *value = integer_at(dtype, element, 0);
  return CAMEO_OK;
}

// The symbols that are elements of an input, not sizes of its dims.
cameo_status set_elements(const cameo_model& model, void* stream, const cameo_value* in, int64_t* table, bool* changes,
                          cameo_error* error) {
  const Program& program = *model.program;
  for (uint32_t place = 0; place < program.symbol_count; ++place) {
    const Symbol& symbol = program.symbols[place];
    if (symbol.input < 0) continue;
    const Io& io = program.inputs[symbol.input];
    const cameo_tensor& tensor = value_at(in, symbol.input).tensor;
    const bool given = is_given(in, symbol.input);  // a state begins with zeros
    if (given && !tensor.data)
      return fail(error, CAMEO_INVALID_ARGUMENT, symbol.input, -1, "input %d %s: data is null, but it decides shapes",
                  symbol.input, Quoted(io.name).text);
    int64_t element = 0;
    cameo_status status =
        given ? check_tensor(io, tensor, model.options.device, "input", symbol.input, error) : CAMEO_OK;
    if (!status && given) status = read_element(model, stream, tensor, io.dtype, symbol.element, &element, error);
    if (status) return status;
    *changes |= table[place] != element;
    table[place] = element;
  }
  return CAMEO_OK;
}

// Of an input that is not given: the symbols that no other gives.
void set_lowest(const Program& program, const cameo_value* in, const Io& io, int64_t* table, bool* changes) {
  for (int32_t d = 0; d < io.rank; ++d) {
    const int32_t place = size_place(io, d);
    if (!is_symbol(program, place) || giver_of(program, in, place).io >= 0) continue;
    *changes |= table[place] != program.symbols[place].low;
    table[place] = program.symbols[place].low;
  }
}

cameo_status set_symbols(const Program& program, const cameo_value* in, int64_t* table, bool* changes,
                         cameo_error* error) {
  for (int32_t i = 0; i < static_cast<int32_t>(program.input_count); ++i) {
    const Io& io = program.inputs[i];
    if (!has_sizes(io)) continue;
    if (!is_given(in, i)) {
      set_lowest(program, in, io, table, changes);
      continue;
    }
    cameo_status status = check_rank(io, value_at(in, i).tensor, "input", i, error);
    for (int32_t d = 0; !status && d < io.rank; ++d)
      if (is_symbol(program, size_place(io, d))) status = set_symbol(program, in, i, d, table, changes, error);
    if (status) return status;
  }
  return CAMEO_OK;
}

cameo_status check_computed(const Program& program, const cameo_value* in, const int64_t* table, cameo_error* error) {
  for (int32_t i = 0; i < static_cast<int32_t>(program.input_count); ++i) {
    const Io& io = program.inputs[i];
    for (int32_t d = 0; d < io.rank && is_given(in, i); ++d)
      if (const int32_t place = size_place(io, d); place >= 0 && table[place] != value_at(in, i).tensor.shape[d])
        return fail(error, CAMEO_INVALID_ARGUMENT, i, -1,
                    "input %d %s has %ld in dim %d (%s), which must be %ld at the sizes of the other dims", i,
                    Quoted(io.name).text, value_at(in, i).tensor.shape[d], d,
                    Quoted(dim_name(program, io, d)).bare().text, table[place]);
  }
  return CAMEO_OK;
}

// -1: more than any tensor has.
int64_t bytes_at(const Io& io, const int64_t* table) {
  int64_t count = 1;
  for (int32_t d = 0; d < io.rank; ++d)
    if (dim_of(io, d, table) == 0) return 0;
  for (int32_t d = 0; d < io.rank; ++d)
    if (__builtin_mul_overflow(count, dim_of(io, d, table), &count) || count > kMaxBytes / element_bytes(io.dtype))
      return -1;
  return bytes_of(io.dtype, count);
}

cameo_status check_tensors(const Io* ios, uint32_t count, const char* what, const int64_t* table, Learned news,
                           cameo_error* error) {
  for (int32_t i = 0; i < static_cast<int32_t>(count); ++i) {
    if (!news.decides(ios[i].learned)) continue;
    for (int32_t d = 0; d < ios[i].rank; ++d)
      if (dim_of(ios[i], d, table) < 0)
        return fail(error, CAMEO_INVALID_ARGUMENT, i, -1, "%s %d %s would have %ld in dim %d at these sizes", what, i,
                    Quoted(ios[i].name).text, dim_of(ios[i], d, table), d);
    if (bytes_at(ios[i], table) < 0)
      return fail(error, CAMEO_INVALID_ARGUMENT, i, -1, "%s %d %s would be larger than any tensor at these sizes", what,
                  i, Quoted(ios[i].name).text);
  }
  return CAMEO_OK;
}

void set_dims(const Io* declared, const Io* ios, uint32_t count, const int64_t* table) {
  for (uint32_t i = 0; i < count; ++i)
    for (int32_t d = 0; d < ios[i].rank; ++d)  // the context's own memory
      const_cast<int64_t*>(ios[i].dims)[d] = dim_of(declared[i], d, table);
}

/// The first bucket that has these sizes, else the plan for all.
uint32_t plan_at(const Program& program, const int64_t* symbols) {
  for (uint32_t i = 0; i < program.bucket_count; ++i) {
    const int64_t* sizes = program.buckets[i].sizes;
    uint32_t d = 0;
    while (d < program.symbol_count && (sizes[d] < 0 || sizes[d] == symbols[d])) ++d;
    if (d == program.symbol_count) return i + 1;
  }
  return 0;
}

// The dims of inputs and outputs, and the plan, at the context's sizes.
void apply_sizes(cameo_context* context) {
  const Program& program = *context->model->program;
  use_plan(context, plan_at(program, context->sizes));
  ++context->run.fits;
  set_dims(program.inputs, context->inputs, program.input_count, context->sizes);
  set_dims(program.outputs, context->outputs, program.output_count, context->sizes);
}

uint64_t bytes_of_size(int64_t size) { return size < 0 ? ~uint64_t{0} : static_cast<uint64_t>(size); }
uint64_t block_bytes(const Block& block, const int64_t* table) { return bytes_of_size(table[block.size]); }
uint64_t scratch_bytes(const Schedule& schedule, const int64_t* table) {  // of one thread
  return bytes_of_size(table[schedule.scratch_size - 1]);
}

cameo_status compute_sizes(const Program& program, int64_t* table, cameo_error* error, Learned news) {
  void* bases[] = {table};
  const Ref refs[] = {{0, 0}};
  Fault fault = {};
  if (program.sizes) program.sizes({{&fault, nullptr, 0, 1}, bases, refs});
  if (fault.code) return fail(error, CAMEO_INVALID_ARGUMENT, -1, -1, "the model does not run at these sizes");
  for (uint32_t i = 0; i < program.requirement_count; ++i)
    if (const Requirement& r = program.requirements[i]; news.decides(r.learned) && !table[r.size])
      return fail(error, CAMEO_INVALID_ARGUMENT, -1, static_cast<int32_t>(r.node),
                  *r.condition ? "node %s does not fit these sizes, of which must hold: %s"
                               : "node %s does not fit these sizes",
                  Quoted(name_of_node(program, r.node)).text, Quoted(r.condition).bare().text);
  cameo_status status = check_tensors(program.inputs, program.input_count, "input", table, news, error);
  return status ? status : check_tensors(program.outputs, program.output_count, "output", table, news, error);
}

cameo_status find_sizes(const cameo_model& model, const cameo_value* in, int64_t* table, cameo_error* error) {
  const Program& program = *model.program;
  bool changes = true;
  cameo_status status = CAMEO_OK;
  for (int32_t i = 0; !status && i < static_cast<int32_t>(program.input_count); ++i)
    if (has_sizes(program.inputs[i])) status = check_kind(program.inputs[i], value_at(in, i), "input", i, error);
  if (!status) status = set_symbols(program, in, table, &changes, error);
  if (!status) status = set_elements(model, nullptr, in, table, &changes, error);
  if (!status) status = compute_sizes(program, table, error, {});
  return status ? status : check_computed(program, in, table, error);
}

// Whether the inputs' dims are those of the run before.
bool has_known_dims(const cameo_context* context, const cameo_value* in) {
  if (!context->has_sizes) return false;
  const Program& program = *context->model->program;
  for (int32_t i = 0; i < static_cast<int32_t>(program.input_count); ++i) {
    if (!has_sizes(program.inputs[i])) continue;
    const cameo_value& value = value_at(in, i);
    if (value.kind != CAMEO_KIND_TENSOR || !has_dims(context->inputs[i], value.tensor)) return false;
  }
  return true;
}

// A run of the sizes of the one before finds them in the table.
cameo_status fit_context(cameo_context* context, const cameo_value* in, cameo_error* error) {
  const Program& program = *context->model->program;
  const bool known = has_known_dims(context, in);
  bool changes = !context->has_sizes;
  context->has_sizes = false;
  cameo_status status = known ? CAMEO_OK : set_symbols(program, in, context->sizes, &changes, error);
  if (!status) status = set_elements(*context->model, context->stream, in, context->sizes, &changes, error);
  if (!status && changes) status = compute_sizes(program, context->sizes, error, {});
  if (!status && (changes || !known)) status = check_computed(program, in, context->sizes, error);
  if (!status && context->binding_count && set_rooms(context))
    changes = true, status = compute_sizes(program, context->sizes, error, {});
  if (!status && changes) apply_sizes(context);
  context->has_sizes = !status;
  return status;
}

cameo_status fit_to_symbols(cameo_context* context, const int64_t* symbols, cameo_error* error) {
  const Program& program = *context->model->program;
  context->has_sizes = false;
  for (uint32_t i = 0; i < program.symbol_count; ++i) context->sizes[i] = symbols[i];
  const cameo_status status = compute_sizes(program, context->sizes, error, {});
  if (!status) apply_sizes(context);
  return status;
}

cameo_status reserve_output(cameo_context* context, int32_t index, cameo_error* error) {
  const Io& io = context->outputs[index];
  Binding* state = binding_of(context, index, -1);
  Grown& memory = state ? state->blocks[1] : context->open_outputs[index];
  if (cameo_status status = reserve(*context->model, Side::Kernels, &memory, io_bytes(io), index, error)) return status;
  if (!state) context->owned[index] = memory.memory;
  context->run.bases[output_base(*context->model->program, static_cast<uint32_t>(index))] = memory.memory;
  return CAMEO_OK;
}

/// One that the run has learned the size of: in the caller's memory, if it has been given some.
cameo_status place_output(cameo_context* context, int32_t index, cameo_error* error) {
  cameo_value* const given = context->out ? &value_at(context->out, index) : nullptr;
  if (!given || is_owned(*given)) return reserve_output(context, index, error);
  const Io& io = context->outputs[index];
  given->tensor.ndim = io.rank;
  given->tensor.shape = context->shapes[index];
  if (const int64_t count = elements(io); count > given->count)
    return fail(error, CAMEO_TOO_SMALL, index, -1, "output %d %s has %ld elements in this run, there is room for %ld",
                index, Quoted(io.name).text, count, given->count);
  if (binding_of(context, index, -1) || !is_here(context, given->tensor)) return reserve_output(context, index, error);
  context->run.bases[output_base(*context->model->program, static_cast<uint32_t>(index))] = data_of(given->tensor);
  return CAMEO_OK;
}

/// Of all threads.
cameo_status reserve_scratch(cameo_context* context, cameo_error* error) {
  const Schedule& schedule = *context->run.schedule;
  Grown& memory = context->scratch;
  const uint64_t stride = align_up(scratch_bytes(schedule, context->sizes));
  const uint64_t bytes = stride * static_cast<uint64_t>(context->model->threads);
  if (!grow(context->model->options, &memory, bytes))
    return fail(error, CAMEO_OUT_OF_MEMORY, -1, -1, "cannot allocate %lu bytes that threads work in", bytes);
  context->run.scratch = static_cast<char*>(memory.memory);
  context->run.scratch_stride = stride;
  return CAMEO_OK;
}

Grown* blocks_of(const cameo_context* context, Side side) {
  return side == Side::Kernels ? context->blocks : context->host_blocks;
}

cameo_status reserve_blocks(cameo_context* context, cameo_error* error, Learned news) {
  const Schedule& schedule = *context->run.schedule;
  for (uint32_t i = 0; i < schedule.block_count; ++i) {
    if (!news.decides(schedule.blocks[i].learned)) continue;
    const uint64_t bytes = block_bytes(schedule.blocks[i], context->sizes);
    const Side side = schedule.blocks[i].side;
    Grown& memory = blocks_of(context, side)[i];
    if (cameo_status status = reserve(*context->model, side, &memory, bytes, -1, error)) return status;
    context->run.bases[schedule.blocks[i].base] = memory.memory;
  }
  return schedule.scratch_size ? reserve_scratch(context, error) : CAMEO_OK;
}

// Inputs that contexts have memory for: a GPU's.
uint32_t inputs_held(const cameo_model& model) { return model.image->device ? model.program->input_count : 0; }

bool is_bounded(const cameo_model& model) {
  for (uint32_t i = 0; i < model.program->output_count; ++i)
    if (is_open(model.program->outputs[i])) return false;
  for (uint32_t i = 0; i < inputs_held(model); ++i)
    if (is_open(model.program->inputs[i])) return false;
  return !most(model, &Schedule::block_count) && !most(model, &Schedule::scratch_size);
}

uint64_t grown_bytes(const cameo_model& model, const int64_t* table) {
  const Schedule& schedule = schedule_of_plan(*model.image, plan_at(*model.program, table));
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < inputs_held(model); ++i)
    if (const Io& io = model.program->inputs[i]; is_open(io))
      bytes += align_up(static_cast<uint64_t>(bytes_at(io, table)));
  for (uint32_t i = 0; i < model.program->output_count; ++i)
    if (const Io& io = model.program->outputs[i]; is_open(io) && !io.learned)
      bytes += align_up(static_cast<uint64_t>(bytes_at(io, table)));
  for (uint32_t i = 0; i < schedule.block_count; ++i)
    if (!schedule.blocks[i].learned) bytes += align_up(block_bytes(schedule.blocks[i], table));
  if (schedule.scratch_size) bytes += align_up(scratch_bytes(schedule, table)) * static_cast<uint64_t>(model.threads);
  return bytes;
}

cameo_status fit_learned(cameo_context* context, Learned news, cameo_error* error) {
  const Program& program = *context->model->program;
  cameo_status status = compute_sizes(program, context->sizes, error, news);
  ++context->run.fits;
  set_dims(program.outputs, context->outputs, program.output_count, context->sizes);
  for (int32_t i = 0; !status && i < static_cast<int32_t>(program.output_count); ++i)
    if (news.decides(program.outputs[i].learned)) status = place_output(context, i, error);
  return status ? status : reserve_blocks(context, error, news);
}

void learn_sizes(cameo_context* context, const Row& row) {
  const Ref *refs = context->run.schedule->refs + row.refs, &ref = refs[0];
  const char* elements = static_cast<const char*>(context->run.bases[ref.base]) + ref.offset;
  const auto bytes = static_cast<uint64_t>(element_bytes(row.target));
  const auto count = static_cast<uint32_t>(static_cast<uint64_t>(number_in(refs[1])) / bytes);
  Fault& fault = context->run.fault;
  for (uint32_t i = 0; i < count; ++i) {
    alignas(8) char element[8];
    read_back(context->run, element, elements + i * bytes, bytes);
    if (fault.code) return;  // of a kernel before it, on a GPU
    context->sizes[row.a + i] = integer_at(row.target, element, 0);
  }
  const Learned news = {row.a, row.a + count};
  if (fit_learned(context, news, nullptr)) fault.code = kSizeFault, fault.index = news.from, fault.limit = news.to;
}

}  // namespace

const Sizing sizing = {find_sizes,  compute_sizes,  fit_context,    fit_to_symbols, fit_learned,
                       learn_sizes, reserve_output, reserve_blocks, is_bounded,     grown_bytes};

bool lacks_bound(const Io& io) {
  for (int32_t d = 0; d < io.rank; ++d)
    if (size_place(io, d) >= 0 && io.dim_max[d] < 0) return true;
  return false;
}

uint64_t most_bytes(const Io& io) {
  int64_t count = 1;
  for (int32_t d = 0; d < io.rank; ++d) count *= size_place(io, d) < 0 ? io.dims[d] : io.dim_max[d];
  return static_cast<uint64_t>(bytes_of(io.dtype, count));
}

SizeTable::SizeTable(const cameo_model& model, bool asks)
    : model_(model), table_(asks ? static_cast<int64_t*>(allocate(model.options, bytes())) : nullptr) {
  if (table_) libc::memset(table_, 0, bytes());
}

SizeTable::~SizeTable() {
  if (table_) deallocate(model_.options, table_, bytes());
}

cameo_status SizeTable::find(const cameo_value* in, int32_t count, cameo_error* error) const {
  if (!table_) return fail(error, CAMEO_OUT_OF_MEMORY, -1, -1, "cannot allocate %lu bytes for sizes", bytes());
  const cameo_status status = check_count(in, count, model_.program->input_count, "input", error);
  return status ? status : model_.program->sizing->find(model_, in, table_, error);
}

}  // namespace rt
