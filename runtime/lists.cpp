// See lists.h. The memory of lists is a chain of chunks, which is filled from its beginning by each run and grows by
// what a run needs more than all before it.
#include "runtime/lists.h"

#include "runtime/device.h"
#include "runtime/dtype.h"
#include "runtime/errors.h"
#include "runtime/libc.h"
#include "runtime/list.h"
#include "runtime/string_heap.h"
#include "runtime/values.h"

namespace rt {

struct ListChunk {  // its bytes stand behind it
  ListChunk* next;
  uint64_t room, used;
};

struct ListMemory : ListHeap {
  const cameo_options* options;
  ListChunk *first, *filling;  // those behind `filling` are empty
};

namespace {

constexpr uint64_t kLeastChunk = 64 << 10;
constexpr uint64_t kHeader = (sizeof(ListChunk) + 15) / 16 * 16;
constexpr char kGivenOut[] = "what the run before handed out; copy it";

ListChunk* new_chunk(ListMemory& memory, uint64_t bytes) {
  const ListChunk* last = memory.filling;
  uint64_t room = last && last->room * 2 < static_cast<uint64_t>(kMaxBytes) ? last->room * 2 : kLeastChunk;
  if (room < bytes) room = bytes;
  ListChunk* chunk = static_cast<ListChunk*>(allocate(*memory.options, kHeader + room));
  if (chunk) *chunk = {nullptr, room, 0};
  return chunk;
}

void* take(ListHeap* heap, uint64_t bytes) {
  ListMemory& memory = *static_cast<ListMemory*>(heap);
  bytes = (bytes + 15) / 16 * 16;
  if (bytes > static_cast<uint64_t>(kMaxBytes)) return nullptr;
  ListChunk** place = memory.filling ? &memory.filling : &memory.first;
  while (*place && (*place)->room - (*place)->used < bytes) place = &(*place)->next;
  if (!*place) *place = new_chunk(memory, bytes);
  if (!*place) return nullptr;
  memory.filling = *place;
  void* taken = reinterpret_cast<char*>(memory.filling) + kHeader + memory.filling->used;
  memory.filling->used += bytes;
  return taken;
}

cameo_status open(cameo_context* context, cameo_error* error) {
  const cameo_options& options = context->model->options;
  ListMemory* memory = static_cast<ListMemory*>(allocate(options, sizeof(ListMemory)));
  if (!memory) return fail(error, CAMEO_OUT_OF_MEMORY, -1, -1, "cannot allocate the memory of lists");
  *memory = {{take}, &options, nullptr, nullptr};
  context->run.lists = memory;
  return CAMEO_OK;
}

void close(cameo_context* context) {
  ListMemory* memory = static_cast<ListMemory*>(context->run.lists);
  if (!memory) return;
  for (ListChunk *chunk = memory->first, *next; chunk; chunk = next) {
    next = chunk->next;
    deallocate(*memory->options, chunk, kHeader + chunk->room);
  }
  deallocate(*memory->options, memory, sizeof *memory);
}

/// One input or output, whose values a call goes through.
struct Border {
  cameo_context* context;
  int32_t index;
  cameo_error* error;
  const char* name;
  Fault fault = {};
  Call call() { return {&fault, nullptr, 0, 1, context->run.lists}; }
  cameo_status no_memory() const {
    return fail(error, CAMEO_OUT_OF_MEMORY, index, -1, "cannot allocate what %s holds", Quoted(name).text);
  }
  cameo_status misfit(const char* what) const {
    return fail(error, CAMEO_INVALID_ARGUMENT, index, -1, "input %d %s: %s", index, Quoted(name).text, what);
  }
};

/// What the items of a list are: of a map the first its keys, the second its values.
Io item_type(const Io& list, int64_t item) {
  static constexpr int64_t kAny[] = {-1};
  if (list.kind != CAMEO_KIND_MAP || item) return *list.of;
  const uint32_t kind = list.key == kString ? CAMEO_KIND_STRINGS : CAMEO_KIND_TENSOR;
  return {.kind = kind, .dtype = list.key, .rank = 1, .dims = kAny};
}

cameo_status take_value(Border& border, const Io& io, const cameo_value& value, ListItem& item);

// In the memory that the run fills anew.
bool is_given_out(const cameo_context* context, const cameo_value& value) {
  const void* const at = value.kind == CAMEO_KIND_TENSOR    ? static_cast<const void*>(data_of(value.tensor))
                         : value.kind == CAMEO_KIND_STRINGS ? value.strings
                                                            : static_cast<const void*>(value.items);
  const ListChunk* chunk = static_cast<const ListMemory*>(context->run.lists)->first;
  while (chunk &&
         !overlap({static_cast<const char*>(at), 1}, {reinterpret_cast<const char*>(chunk), kHeader + chunk->room}))
    chunk = chunk->next;
  return chunk;
}

cameo_status begin(cameo_context* context, const cameo_value* in, cameo_error* error) {
  const Program& program = *context->model->program;
  ListMemory& memory = static_cast<ListMemory&>(*context->run.lists);
  for (int32_t i = 0; i < static_cast<int32_t>(program.input_count); ++i)
    if (is_given_out(context, value_at(in, i)))
      return Border{context, i, error, program.inputs[i].name}.misfit(kGivenOut);
  for (ListChunk* chunk = memory.first; chunk; chunk = chunk->next) chunk->used = 0;
  memory.filling = memory.first;
  return CAMEO_OK;
}

cameo_status check_count(const Border& border, const Io& io, const cameo_value& value) {
  const int64_t most = io.kind == CAMEO_KIND_OPTIONAL ? 1 : io.kind == CAMEO_KIND_MAP ? 2 : kMaxBytes;
  if (value.count < 0 || value.count > most || (io.kind == CAMEO_KIND_MAP && value.count != 2))
    return border.misfit("a number of items that such a value does not have");
  if (!value.count) return CAMEO_OK;
  if (!value.items) return border.misfit("items is null");
  const uint32_t stride = value.items->struct_size;
  return is_struct_size(stride, sizeof(cameo_value)) && stride % alignof(cameo_value) == 0
             ? CAMEO_OK
             : border.misfit("the items' struct_size is not set");
}

cameo_status take_list(Border& border, const Io& io, const cameo_value& value, const List*& list) {
  if (cameo_status status = check_count(border, io, value)) return status;
  const Call call = border.call();
  const uint64_t bytes = static_cast<uint64_t>(value.count) * sizeof(ListItem);
  ListItem* items = static_cast<ListItem*>(take(border.context->run.lists, bytes));
  if (!items) return border.no_memory();
  for (int64_t i = 0; i < value.count; ++i)
    if (cameo_status status =
            take_value(border, item_type(io, i), value_at(value.items, static_cast<int32_t>(i)), items[i]))
      return status;
  if (io.kind == CAMEO_KIND_MAP && items[0].dims[0] != items[1].dims[0])
    return border.misfit("a map of several keys for a value, or of several values for a key");
  list = new_list(call, items, value.count);
  return list ? CAMEO_OK : border.no_memory();
}

// As codes, like all strings in a run.
cameo_status take_strings(Border& border, const cameo_value& value, ListItem& item) {
  const Call call = border.call();
  if (!new_tensor(call, item, value.tensor.shape, value.tensor.ndim, sizeof(int64_t))) return border.no_memory();
  int64_t* codes = static_cast<int64_t*>(const_cast<void*>(item.data));
  const int64_t count = item.bytes / static_cast<int64_t>(sizeof(int64_t));
  return border.context->model->program->strings->functions->take(*border.context->run.strings, value, border.index,
                                                                  count, codes, border.error);
}

cameo_status take_tensor(Border& border, const Io& io, const cameo_value& value, ListItem& item) {
  const cameo_tensor& tensor = value.tensor;
  int64_t bytes = 16;  // of an element, at most
  if (tensor.ndim < 0 || tensor.ndim > kMaxRank || (tensor.ndim && !tensor.shape)) return border.misfit("no shape");
  if (io.rank != kAnyRank && tensor.ndim != io.rank)
    return border.misfit("an element of another rank than the model declares");
  for (int32_t d = 0; d < tensor.ndim; ++d) {
    if (tensor.shape[d] < 0 || (io.rank != kAnyRank && io.dims[d] >= 0 && tensor.shape[d] != io.dims[d]))
      return border.misfit("an element of other dims than the model declares");
    if (tensor.shape[d] && (__builtin_mul_overflow(bytes, tensor.shape[d], &bytes) || bytes > kMaxBytes))
      return border.misfit("an element that is larger than any tensor");
  }
  if (io.kind == CAMEO_KIND_STRINGS) return take_strings(border, value, item);
  Io given = io;
  given.name = border.name;
  given.rank = tensor.ndim;
  given.dims = tensor.shape;
  if (cameo_status status = check_tensor(given, tensor, {CAMEO_CPU, 0}, "input", border.index, border.error))
    return status;
  const Call call = border.call();
  if (!new_tensor(call, item, tensor.shape, tensor.ndim, element_bytes(io.dtype))) return border.no_memory();
  void* to = const_cast<void*>(item.data);
  if (is_compact(tensor))
    copy_bytes(to, data_of(tensor), item.bytes);
  else
    copy_strided(tensor, to, element_bytes(io.dtype));
  return CAMEO_OK;
}

cameo_status take_value(Border& border, const Io& io, const cameo_value& value, ListItem& item) {
  if (value.kind != io.kind) return border.misfit("a value of another kind than the model declares");
  if (is_given_out(border.context, value)) return border.misfit(kGivenOut);
  if (!is_list(io)) return take_tensor(border, io, value, item);
  const List* list = nullptr;
  const cameo_status status = take_list(border, io, value, list);
  item = {list, nullptr, sizeof(uint64_t), kListItem};
  return status;
}

cameo_status bind(cameo_context* context, int32_t index, const cameo_value& value, cameo_error* error) {
  const Io& io = context->model->program->inputs[index];
  Border border = {context, index, error, io.name};
  const List* list = nullptr;
  if (cameo_status status = take_list(border, io, value, list)) return status;
  if (const DeviceDriver* driver = driver_of(*context->model)) {
    const cameo_tensor number = {&list, {CAMEO_CPU, 0}, 0, to_dlpack(io.dtype), nullptr, nullptr, 0};
    return driver->upload_input(context, index, number, error);
  }
  const List** number = static_cast<const List**>(take(context->run.lists, sizeof list));
  if (!number) return border.no_memory();
  *number = list;
  context->run.bases[input_base(static_cast<uint32_t>(index))] = number;
  return CAMEO_OK;
}

cameo_status give_value(Border& border, const Io& io, const ListItem& item, cameo_value& value);

cameo_status give_list(Border& border, const Io& io, const List& list, cameo_value& value) {
  value.kind = io.kind;
  value.count = list.count;
  const uint64_t bytes = static_cast<uint64_t>(list.count) * sizeof(cameo_value);
  cameo_value* given = static_cast<cameo_value*>(take(border.context->run.lists, bytes));
  if (!given) return border.no_memory();
  value.items = given;
  for (int64_t i = 0; i < list.count; ++i) {
    const Io of = item_type(io, i);
    given[i] = {sizeof(cameo_value), of.kind, {}, nullptr, 0, nullptr, nullptr};
    if (cameo_status status = give_value(border, of, items_of(list)[i], given[i])) return status;
  }
  return CAMEO_OK;
}

cameo_status give_value(Border& border, const Io& io, const ListItem& item, cameo_value& value) {
  if (is_list(io)) return give_list(border, io, *static_cast<const List*>(item.data), value);
  value.tensor = {const_cast<void*>(item.data),    {CAMEO_CPU, 0}, item.rank, to_dlpack(io.dtype),
                  const_cast<int64_t*>(item.dims), nullptr,        0};
  if (io.kind != CAMEO_KIND_STRINGS) return CAMEO_OK;
  const int64_t count = item.bytes / static_cast<int64_t>(sizeof(int64_t));
  void* room = take(border.context->run.lists, bytes_of_strings(count));
  if (!room) return border.no_memory();
  set_strings(*border.context->run.strings, static_cast<const int64_t*>(item.data), count, room, value);
  return CAMEO_OK;
}

cameo_status give(cameo_context* context, int32_t index, cameo_value& value, cameo_error* error) {
  const Program& program = *context->model->program;
  const Io& io = program.outputs[index];
  const void* written = context->run.bases[output_base(program, static_cast<uint32_t>(index))];
  if (const DeviceDriver* driver = driver_of(*context->model)) {
    driver->return_output(context, index, value);
    written = value.tensor.data;
    value.tensor = {};
  }
  Border border = {context, index, error, io.name};
  return give_list(border, io, **static_cast<const List* const*>(written), value);
}

bool have_same_dims(const cameo_tensor& a, const cameo_tensor& b) {
  const bool same = a.ndim == b.ndim && from_dlpack(a.dtype) == from_dlpack(b.dtype);
  return same && !libc::memcmp(a.shape, b.shape, static_cast<uint64_t>(a.ndim) * sizeof(int64_t));
}

Comparison compare_texts(const cameo_value& got, const cameo_value& expected, int64_t count) {
  Comparison c = {};
  for (int64_t i = 0; i < count; ++i) {
    const int64_t bytes = expected.lengths[i];
    const bool same =
        got.lengths[i] == bytes && !libc::memcmp(got.strings[i], expected.strings[i], static_cast<uint64_t>(bytes));
    if (!same && !c.mismatches++) c.worst_index = static_cast<uint64_t>(i);
  }
  c.passed = !c.mismatches;
  return c;
}

bool compare_values(const cameo_value& got, const cameo_value& expected, const double*& tolerances, Comparison& worst) {
  if (got.kind != expected.kind) return false;
  if (got.kind > CAMEO_KIND_STRINGS) {
    bool same = got.count == expected.count;
    for (int64_t i = 0; same && i < got.count; ++i)
      same = compare_values(got.items[i], expected.items[i], tolerances, worst);
    return same;
  }
  if (!have_same_dims(got.tensor, expected.tensor)) return false;
  const int64_t count = elements(Io{.name = "", .rank = got.tensor.ndim, .dims = got.tensor.shape});
  Tolerance tolerance;
  if (tolerances) tolerance.absolute = *tolerances++;
  const Comparison c =
      got.kind == CAMEO_KIND_STRINGS
          ? compare_texts(got, expected, count)
          : rt::compare(from_dlpack(got.tensor.dtype), count, data_of(got.tensor), data_of(expected.tensor), tolerance);
  if (worst.passed && (!c.passed || c.max_error >= worst.max_error)) worst = c;
  return true;
}

cameo_status compare_output(const Io& io, const Golden& golden, uint32_t output, const cameo_value& got,
                            const double*& tolerances, Comparison& worst, cameo_error* error) {
  worst.passed = true;
  const cameo_value& expected = *static_cast<const cameo_value*>(golden.outputs[output]);
  if (compare_values(got, expected, tolerances, worst)) return CAMEO_OK;
  return fail(error, CAMEO_MISMATCH, static_cast<int32_t>(output), -1, "case %s: output %u %s has other items: %s",
              Quoted(golden.name).text, output, Quoted(io.name).text, TypeText(io).text);
}

}  // namespace

const Listing listing = {open, close, begin, bind, give, compare_output};

}  // namespace rt
