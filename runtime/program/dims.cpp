// See dims.h.
#include "runtime/program/dims.h"

#include "runtime/sizes.h"

namespace rt::program {
// Not an element of a value.
bool is_of_dims(const Symbol& symbol) { return symbol.input == -1; }

namespace {

const Io* copy(Tool& tool, const Io* ios, uint32_t count) {
  Io* copies = tool.arena.array<Io>(count);
  for (uint32_t i = 0; i < count; ++i) {
    int64_t* dims = tool.arena.array<int64_t>(static_cast<uint64_t>(ios[i].rank));
    for (int32_t d = 0; d < ios[i].rank; ++d) dims[d] = ios[i].dims[d];
    copies[i] = ios[i];
    copies[i].dims = dims;
  }
  return copies;
}

void set_dims(const Io* ios, uint32_t count, const int64_t* table) {
  for (uint32_t i = 0; i < count; ++i)
    for (int32_t d = 0; d < ios[i].rank; ++d)  // own_dims took the memory
      const_cast<int64_t*>(ios[i].dims)[d] = dim_of(ios[i], d, table);
}

void set_dims(Tool& tool) {
  set_dims(tool.program->inputs, tool.program->input_count, tool.sizes);
  set_dims(tool.program->outputs, tool.program->output_count, tool.sizes);
}

bool all_known(const Tool& tool) {
  for (uint32_t i = 0; i < tool.program->symbol_count; ++i)
    if (is_of_dims(tool.program->symbols[i]) && tool.sizes[i] < 0) return false;
  return true;
}

// Of the symbols that have changed: all other sizes, if they follow already.
void follow(Tool& tool) {
  if (tool.program->sizing && all_known(tool))
    tool.program->sizing->compute(*tool.program, tool.sizes, nullptr, {});  // what they break is the run's to say
  set_dims(tool);
}

bool is_within(const Symbol& symbol, int64_t size) {
  return size >= symbol.low && size <= (symbol.high < 0 ? kMaxBytes : symbol.high);
}

void add_bounds(Text* to, const Symbol& symbol) {
  to->format("%ld", symbol.low);
  symbol.high < 0 ? to->add(" and more") : to->format(" to %ld", symbol.high);
}

bool set_by_flag(Tool& tool, Slice flag) {
  size_t equals = flag.size;  // the last one: names may have some, too
  for (size_t i = flag.find('='); i < flag.size; i = flag.find('=', i + 1)) equals = i;
  const Slice name = flag.upto(equals);
  int64_t size = 0;
  Text known(tool.arena);
  for (uint32_t i = 0; i < tool.program->symbol_count; ++i) {
    const Symbol& symbol = tool.program->symbols[i];
    if (!is_of_dims(symbol)) continue;
    known.format("%s%s", known.slice().empty() ? "; there are " : ", ", Quoted(symbol.name).text);
    if (!(name == symbol.name)) continue;
    if (equals < flag.size && parse_integer(flag.from(equals + 1), &size) && is_within(symbol, size))
      return tool.sizes[i] = size, true;
    Text bounds(tool.arena);
    add_bounds(&bounds, symbol);
    return tool.fail(kUsage, "`--dim %.*s`: the model was built for %s", width(flag), flag.data, bounds.c_str());
  }
  return tool.fail(kUsage, "`--dim %.*s`: no input has a size of that name%s", width(flag), flag.data, known.c_str());
}

}  // namespace

void own_dims(Tool& tool, Program* program) {
  program->inputs = copy(tool, program->inputs, program->input_count);
  program->outputs = copy(tool, program->outputs, program->output_count);
  tool.sizes = tool.arena.array<int64_t>(program->size_count);
  tool.program = program;
  forget_sizes(tool);
}

void forget_sizes(Tool& tool) {
  for (uint32_t i = 0; i < tool.program->size_count; ++i) tool.sizes[i] = -1;
  for (uint32_t i = 0; i < tool.program->symbol_count; ++i)
    if (tool.program->symbols[i].input == kRoom) tool.sizes[i] = 0;
  set_dims(tool);
}

void set_output_dims(Tool& tool, const int64_t* dims) {
  for (uint32_t i = 0; i < tool.program->output_count; ++i)
    for (int32_t d = 0; d < tool.program->outputs[i].rank; ++d)
      const_cast<int64_t*>(tool.program->outputs[i].dims)[d] = *dims++;
}

void set_symbols(Tool& tool, const int64_t* symbols) {
  for (uint32_t i = 0; i < tool.program->symbol_count; ++i) tool.sizes[i] = symbols[i];
  follow(tool);
}

bool set_dim_flags(Tool& tool, const Flags& flags) {
  for (size_t i = 0; i < flags.dim_count; ++i)
    if (!set_by_flag(tool, flags.dims[i])) return false;
  follow(tool);
  return true;
}

bool take_dims(Tool& tool, const Io& io, const Array& array, Slice what) {
  if (!has_sizes(io)) return true;
  for (int32_t d = 0; d < io.rank; ++d) {
    const int32_t place = size_place(io, d);
    if (place < 0 || tool.sizes[place] == array.dims[d]) continue;
    const bool is_given = is_symbol(*tool.program, place);
    if (!is_given && tool.sizes[place] < 0) continue;  // it will follow, and the run compares
    const char* name = is_given ? tool.program->symbols[place].name : io.dim_names ? io.dim_names[d] : "";
    Text dim(tool.arena), bounds(tool.arena);
    dim.format("%s: `%.*s` has %ld in dim %d (%s)", Quoted(io.name).text, width(what), what.data, array.dims[d], d,
               Quoted(name).bare().text);
    if (tool.sizes[place] >= 0)
      return tool.fail(kBadData, "%s, which is %ld by what else is given", dim.c_str(), tool.sizes[place]);
    add_bounds(&bounds, tool.program->symbols[place]);
    if (!is_within(tool.program->symbols[place], array.dims[d]))
      return tool.fail(kBadData, "%s, which the model was built for %s", dim.c_str(), bounds.c_str());
    tool.sizes[place] = array.dims[d];
  }
  follow(tool);
  return true;
}

void force_dims(Tool& tool, const Io& io, const Array& array) {
  for (int32_t d = 0; d < io.rank; ++d)
    if (const int32_t place = size_place(io, d); is_symbol(*tool.program, place)) tool.sizes[place] = array.dims[d];
  follow(tool);
}

void settle_sizes(Tool& tool) {
  Text least(tool.arena);
  for (uint32_t i = 0; i < tool.program->symbol_count; ++i) {
    if (tool.sizes[i] >= 0 || !is_of_dims(tool.program->symbols[i])) continue;
    tool.sizes[i] = tool.program->symbols[i].low;
    least.format("%s%s=%ld", least.slice().empty() ? "" : ", ", Quoted(tool.program->symbols[i].name).bare().text,
                 tool.sizes[i]);
  }
  if (!least.slice().empty()) tool.note("note: %s, the least; `--dim NAME=N` says another size", least.c_str());
  follow(tool);
}

bool is_known(const Io& io) {
  for (int32_t d = 0; d < io.rank; ++d)
    if (io.dims[d] < 0) return false;
  return true;
}

bool infer_dim(Array* array, int64_t elements) {
  int64_t* unknown = nullptr;
  int64_t others = 1;
  for (int32_t d = 0; d < array->rank; ++d) {
    if (array->dims[d] >= 0 && __builtin_mul_overflow(others, array->dims[d], &others)) return false;
    if (array->dims[d] < 0 && unknown) return false;
    if (array->dims[d] < 0) unknown = &array->dims[d];
  }
  if (!unknown || !others || elements % others) return !unknown && elements == others;
  return *unknown = elements / others, true;
}

void print_sizes(const Tool& tool, Text* to) {
  for (uint32_t i = 0; i < tool.program->symbol_count; ++i)
    if (const Symbol& symbol = tool.program->symbols[i]; is_of_dims(symbol))
      to->format("%s=%ld, ", Quoted(symbol.name).bare().text, tool.sizes[i]);
}

void print_sizes_json(const Tool& tool, Text* to) {
  bool any = false;
  for (uint32_t i = 0; i < tool.program->symbol_count; ++i) {
    const Symbol& symbol = tool.program->symbols[i];
    if (!is_of_dims(symbol)) continue;
    to->add(any ? "," : ",\"sizes\":{"), to->json(Slice(symbol.name));
    to->format(":%ld", tool.sizes[i]);
    any = true;
  }
  if (any) to->add('}');
}

}  // namespace rt::program
