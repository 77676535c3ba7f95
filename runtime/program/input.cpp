// See input.h. Each kind of SPEC is one function; every refusal says what the model takes and what was found.
#include "runtime/program/input.h"

#include "runtime/numbers.h"
#include "runtime/program/dims.h"
#include "runtime/program/file.h"
#include "runtime/program/image.h"
#include "runtime/sizes.h"
#include "runtime/values.h"

namespace rt::program {
namespace {

constexpr char kKinds[] =
    "`@file.npy`, `@file.npz`, `@file.pb`, `@picture.png`, `raw:file`, a list like `[1,2]`, `zeros`, `ones`, `iota`, "
    "`rand[:seed[:lo:hi]]`";

bool is_digits(Slice text) {
  int64_t value = 0;
  return !text.empty() && text[0] >= '0' && text[0] <= '9' && parse_integer(text, &value);
}

bool is_quoted(Slice text) { return text.starts_with("\"") || text.starts_with("["); }

bool is_word(Slice text, Slice word) { return text == word || (text.starts_with(word) && text[word.size] == ':'); }

bool is_spec(Slice text) {
  double number = 0;
  uint32_t dtype = 0;
  if (text.empty()) return false;
  if (text[0] == '@' || text[0] == '[' || text.starts_with("raw:") || parse_number(text, &number)) return true;
  if (text == "true" || text == "false" || text == "-" || text == "stats" || text.starts_with("top")) return true;
  const Slice type = text.upto(text.find('='));
  size_t last = 0;
  for (size_t i = 0; i < type.size; ++i)
    if (type[i] == 'x') last = i + 1;
  return is_word(text, "zeros") || is_word(text, "ones") || is_word(text, "iota") || is_word(text, "rand") ||
         (type.size < text.size && parse_dtype(type.from(last), &dtype));
}

const char* nearest(Slice name, const Io* ios, uint32_t count) {
  const char* best = nullptr;
  Nearest nearest(name);
  for (uint32_t i = 0; i < count; ++i)
    if (nearest.takes(ios[i].name)) best = ios[i].name;
  return best;
}

bool unknown_name(Tool& tool, Slice name, const Io* ios, uint32_t count, const char* what) {
  Text known(tool.arena);
  for (uint32_t i = 0; i < count && i < 20; ++i) known.format("%s%s", i ? ", " : "", Quoted(ios[i].name).text);
  const char* near = nearest(name, ios, count);
  if (near)
    return tool.fail(kUsage, "there is no %s `%.*s`; did you mean %s? The model's are %s", what, width(name), name.data,
                     Quoted(near).text, known.c_str());
  return tool.fail(kUsage, "there is no %s `%.*s`; the model's are %s", what, width(name), name.data, known.c_str());
}

uint64_t most_file_bytes(const Io& io) {  // of what is no more than the elements
  return is_open(io) || io.dtype == kString ? kAll : is_known(io) ? io_bytes(io) : most_bytes(io);
}

bool read_raw(Tool& tool, const Io& io, Slice path, Array* array) {
  if (io.dtype == kString) return tool.fail(kUsage, "%s is of strings, which are no plain bytes", Quoted(io.name).text);
  Slice file;
  uint64_t size = 0;
  *array = array_of(io);
  if (!read_start(tool, path, most_file_bytes(io), &file, &size)) return false;
  if (!is_known(io)) {
    const int64_t bits = type_info(io.dtype).bits, of_file = static_cast<int64_t>(size) * 8;
    if (of_file % bits || !infer_dim(array, of_file / bits))
      return unknown_dims(tool, io, path, static_cast<int64_t>(size), "bytes");
    if (!take_dims(tool, io, *array, path)) return false;
  }
  if (size != array->bytes())
    return tool.fail(kBadData, "%s: the model takes %s, %lu bytes; `%.*s` has %lu", Quoted(io.name).text,
                     array->type().text, array->bytes(), width(path), path.data, size);
  array->data = const_cast<char*>(file.data);
  return true;
}

bool read_from_npy(Tool& tool, const Io& io, Slice path, Array* array) {
  Slice file;
  uint64_t size = 0;
  const uint64_t most = most_file_bytes(io), apart = is_packed(io.dtype) ? 8 / type_info(io.dtype).bits : 1;
  if (!read_start(tool, path, most == kAll ? kAll : kNpyHeader + 12 + most * apart, &file, &size)) return false;
  if (!declare_npy(tool, file, path, array)) return false;
  take_type(io.dtype, array);
  return fits(tool, io, *array, path) && read_npy(tool, file, path, array);
}

bool read_from_pb(Tool& tool, const Io& io, Slice path, Array* array) {
  Slice file;
  if (io.of) return read_file(tool, path, &file) && tool.program->list_files->read(tool, io, file, path, array);
  return read_pb_file(tool, path, most_pb_bytes(io), &file) && declare_pb(tool, file, path, array) &&
         fits(tool, io, *array, path) && read_pb(tool, file, path, array);
}

bool read_entry(Tool& tool, const Io& io, Slice file, const NpzEntry& entry, Slice path, Array* array) {
  if (!declare_npz(tool, file, entry, path, array)) return false;
  take_type(io.dtype, array);
  return fits(tool, io, *array, path) && read_npz(tool, file, entry, path, array);
}

bool read_from_npz(Tool& tool, const Io& io, Slice path, Array* array) {
  Slice file;
  NpzEntries entries;
  if (!read_file(tool, path, &file) || !list_npz(tool, file, path, &entries)) return false;
  for (size_t i = 0; i < entries.count; ++i)
    if (entries.count == 1 || entries.items[i].name == io.name)
      return read_entry(tool, io, file, entries.items[i], path, array);
  Text names(tool.arena);
  for (size_t i = 0; i < entries.count && i < 20; ++i)
    names.format("%s`%.*s`", i ? ", " : "", width(entries.items[i].name), entries.items[i].name.data);
  return tool.fail(kBadData, "`%.*s` holds no array %s, but %s", width(path), path.data, Quoted(io.name).text,
                   entries.count ? names.c_str() : "none at all");
}

// `path,options`, where the path itself may hold commas.
void split_options(Tool& tool, Slice text, Slice* path, Slice* options) {
  *path = text;
  *options = {};
  if (exists(tool, text)) return;
  for (size_t comma = text.find(','); comma < text.size; comma = text.find(',', comma + 1)) {
    if (!exists(tool, text.upto(comma)) && text.find(',', comma + 1) < text.size && !is_picture(text.upto(comma)))
      continue;
    *path = text.upto(comma);
    *options = text.from(comma + 1);
    return;
  }
}

bool read_from_file(Tool& tool, const Io& io, Slice text, Array* array) {
  Slice path, options;
  split_options(tool, text, &path, &options);
  if (is_picture(path)) return read_image_input(tool, io, path, options, array);
  if (!options.empty())
    return tool.fail(kUsage, "options after `,` are for pictures only, not for `%.*s`", width(path), path.data);
  if (path.ends_with(".npz")) return read_from_npz(tool, io, path, array);
  if (path.ends_with(".pb")) return read_from_pb(tool, io, path, array);
  if (path.ends_with(".npy")) return read_from_npy(tool, io, path, array);
  Slice start;
  uint64_t size = 0;
  if (!read_start(tool, path, 1, &start, &size)) return false;  // a wrong path is that before all
  return tool.fail(kUsage, "`%.*s` ends in none of .npy, .npz, .pb, .png, .jpg, .ppm; plain bytes are `raw:%.*s`",
                   width(path), path.data, width(path), path.data);
}

uint64_t next_random(uint64_t* state) {  // splitmix64
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

struct Range {
  int64_t seed = 0;
  double low = 0, high = 1;
};

bool parse_range(Slice text, Range* range) {  // rand[:seed[:lo:hi]]
  if (text == "rand") return true;
  text = text.from(5);
  const size_t colon = text.find(':');
  if (!parse_integer(text.upto(colon), &range->seed)) return false;
  if (colon == text.size) return true;
  text = text.from(colon + 1);
  const size_t second = text.find(':');
  return second < text.size && parse_number(text.upto(second), &range->low) &&
         parse_number(text.from(second + 1), &range->high);
}

void fill_random(Array* array, Range range, int32_t index) {
  uint64_t state = static_cast<uint64_t>(range.seed) * 0x2545f4914f6cdd1du + static_cast<uint64_t>(index) + 1;
  const int64_t count = array->numbers();
  for (int64_t i = 0; i < count; ++i) {
    const double unit = static_cast<double>(next_random(&state) >> 11) * 0x1p-53;
    const double span = range.high - range.low;
    if (is_float(array->dtype))
      set_number(array->dtype, array->data, i, range.low + unit * span);
    else
      set_integer(array->dtype, array->data, i,
                  static_cast<int64_t>(static_cast<uint64_t>(to_integer(range.low)) +
                                       static_cast<uint64_t>(to_integer(unit * (span + 1)))));
  }
}

bool fill_texts(Tool& tool, const Io& io, Slice spec, Array* array) {
  if (!(spec == "zeros"))
    return tool.fail(kUsage, "%s is of strings: `%.*s` makes none, `zeros` makes empty ones", Quoted(io.name).text,
                     width(spec), spec.data);
  for (int64_t i = 0; i < array->count(); ++i) array->texts()[i] = {};
  return true;
}

bool fill(Tool& tool, const Io& io, Slice spec, int32_t index, Array* array) {
  if (!is_known(io)) settle_sizes(tool);
  *array = array_of(io);
  if (!allocate(tool, array, io.name)) return false;
  const int64_t count = array->numbers(), each = parts_of_one(array->dtype);
  Range range;
  if (array->is_strings()) return fill_texts(tool, io, spec, array);
  if (is_word(spec, "rand")) {
    if (!parse_range(spec, &range))
      return tool.fail(kUsage, "`%.*s` is not `rand`, `rand:SEED` or `rand:SEED:LO:HI`", width(spec), spec.data);
    return fill_random(array, range, index), true;
  }
  for (int64_t i = 0; i < count; ++i)
    set_number(array->dtype, array->data, i,
               i % each         ? 0
               : spec == "iota" ? static_cast<double>(i / each)
                                : spec == "ones");
  return true;
}

bool add_named_arrays(Tool& tool, Slice path, Values* inputs) {
  Slice file;
  NpzEntries entries;
  bool* given = tool.arena.array<bool>(static_cast<uint64_t>(inputs->count) + 1);
  if (!read_file(tool, path, &file) || !list_npz(tool, file, path, &entries)) return false;
  for (const NpzEntry* entry = entries.items; entry < entries.items + entries.count; ++entry) {
    int32_t at = 0;
    while (at < inputs->count && !(entry->name == tool.program->inputs[at].name)) ++at;
    if (at == inputs->count)
      return unknown_name(tool, entry->name, tool.program->inputs, tool.program->input_count, "input");
    if (given[at])
      return tool.fail(kBadData, "`%.*s` has two entries `%.*s`", width(path), path.data, width(entry->name),
                       entry->name.data);
    given[at] = true;
    if (!read_entry(tool, tool.program->inputs[at], file, *entry, path, &inputs->items[at])) return false;
  }
  return true;
}

}  // namespace

bool unknown_dims(Tool& tool, const Io& io, Slice what, int64_t count, const char* of) {
  return tool.fail(kBadData,
                   "%s is %s: no one size is missing that makes the %ld %s of `%.*s` fit; `--dim NAME=N` says more",
                   Quoted(io.name).text, TypeText(io).text, count, of, width(what), what.data);
}

bool split_name(Tool& tool, Slice argument, const Io* ios, uint32_t count, const char* what, int32_t* index,
                Slice* spec) {
  size_t longest = 0;
  *index = -1;
  *spec = argument;
  for (uint32_t i = 0; i < count; ++i) {
    const Slice name = ios[i].name;
    if (argument.size <= name.size || argument[name.size] != '=' || !argument.starts_with(name)) continue;
    if (*index >= 0 && name.size <= longest) continue;
    *index = static_cast<int32_t>(i);
    longest = name.size;
  }
  if (*index >= 0) return *spec = argument.from(longest + 1), true;
  const size_t equals = is_quoted(argument) ? argument.size : argument.find('=');
  int64_t number = 0;
  if (equals < argument.size && is_digits(argument.upto(equals)) && parse_integer(argument.upto(equals), &number)) {
    if (number >= static_cast<int64_t>(count))
      return tool.fail(kUsage, "there is no %s %ld; the model has %u, counted from 0", what, number, count);
    *index = static_cast<int32_t>(number);
    *spec = argument.from(equals + 1);
    return true;
  }
  if (equals == argument.size || is_spec(argument)) return true;
  return unknown_name(tool, argument.upto(equals), ios, count, what);
}

bool fits(Tool& tool, const Io& io, const Array& array, Slice what) {
  bool same = array.dtype == io.dtype && array.rank == io.rank;
  for (int32_t i = 0; same && i < io.rank; ++i) same = size_place(io, i) >= 0 || array.dims[i] == io.dims[i];
  if (same) return take_dims(tool, io, array, what);
  return tool.fail(kBadData, "%s: the model takes %s, `%.*s` holds %s", Quoted(io.name).text, TypeText(io).text,
                   width(what), what.data, array.type().text);
}

bool set_input(Tool& tool, int32_t index, Slice spec, Values* inputs) {
  const Io& io = tool.program->inputs[index];
  Array* array = &inputs->items[index];
  bool ok = false;
  if (io.of && !(spec.starts_with("@") && spec.ends_with(".pb")))
    return tool.fail(kUsage, "input %s is %s; its value is a file `@FILE.pb`, not `%.*s`", Quoted(io.name).text,
                     TypeText(io).text, width(spec), spec.data);
  if (spec.starts_with("@"))
    ok = read_from_file(tool, io, spec.from(1), array);
  else if (spec.starts_with("raw:"))
    ok = read_raw(tool, io, spec.from(4), array);
  else if (spec == "zeros" || spec == "ones" || spec == "iota" || is_word(spec, "rand"))
    ok = fill(tool, io, spec, index, array);
  else if (is_spec(spec) || spec.find('=') < spec.size || io.dtype == kString)
    ok = read_literal(tool, io, spec, array);
  else
    return tool.fail(kUsage, "`%.*s` is no value for %s; values are %s", width(spec), spec.data, Quoted(io.name).text,
                     kKinds);
  array->name = io.name;
  return ok;
}

bool add_input(Tool& tool, Slice argument, Values* inputs) {
  int32_t index = -1;
  Slice spec;
  if (!split_name(tool, argument, tool.program->inputs, tool.program->input_count, "input", &index, &spec))
    return false;
  if (index >= 0) return set_input(tool, index, spec, inputs);
  if (spec.starts_with("@") && is_folder(tool, spec.from(1))) return read_data_set(tool, spec.from(1), inputs, nullptr);
  if (inputs->count == 1 && !(spec.starts_with("@") && spec.ends_with(".npz"))) return set_input(tool, 0, spec, inputs);
  if (spec.starts_with("@") && spec.ends_with(".npz")) return add_named_arrays(tool, spec.from(1), inputs);
  if (inputs->count == 0)
    return tool.fail(kUsage, "the model has no inputs: `-i %.*s` is one too many", width(spec), spec.data);
  return tool.fail(kUsage, "`-i %.*s`: say which of the %d inputs, as in `-i %s=%.*s`", width(spec), spec.data,
                   inputs->count, tool.program->inputs[0].name, width(spec), spec.data);
}

namespace {

bool is_made(Slice spec) { return spec == "zeros" || spec == "ones" || spec == "iota" || is_word(spec, "rand"); }

// Values that say their dims come first, then those of a plain number of elements, then those that take any: so sizes
// do not depend on the order of the arguments.
int step_of(Slice spec) {
  Array array;
  Slice text = spec;
  if (spec.starts_with("@") || split_type(&text, &array)) return 0;
  return is_made(spec) ? 2 : 1;
}

}  // namespace

bool add_inputs(Tool& tool, const Flags& flags, Values* inputs) {
  if (!set_dim_flags(tool, flags)) return false;
  const int steps = tool.program->symbol_count ? 3 : 1;
  for (int step = 0; step < steps; ++step)
    for (size_t i = 0; i < flags.input_count; ++i) {
      int32_t index = -1;
      Slice spec;
      if (!split_name(tool, flags.inputs[i], tool.program->inputs, tool.program->input_count, "input", &index, &spec))
        return false;
      if ((steps == 1 || step_of(spec) == step) && !add_input(tool, flags.inputs[i], inputs)) return false;
    }
  return true;
}

namespace {
// Whether its elements decide shapes.
bool decides(const Program& p, int32_t input) {
  for (uint32_t i = 0; i < p.symbol_count; ++i)
    if (p.symbols[i].input == input) return true;
  return false;
}
}  // namespace

bool States::has(int32_t input) const {
  for (size_t i = 0; i < count; ++i)
    if (items[i].input == input) return true;
  return false;
}

bool parse_states(Tool& tool, const Flags& flags, States* states) {
  const Program& program = *tool.program;
  *states = {tool.arena.array<State>(flags.state_count), flags.state_count};
  for (size_t i = 0; i < flags.state_count; ++i) {
    const Slice flag = flags.states[i];
    State& state = states->items[i];
    Slice input;
    if (!split_name(tool, flag, program.outputs, program.output_count, "output", &state.output, &input)) return false;
    for (state.input = 0; state.input < static_cast<int32_t>(program.input_count); ++state.input)
      if (input == program.inputs[state.input].name) break;
    if (state.output < 0)
      return tool.fail(kUsage, "`--state %.*s` is not OUT=IN, an output and the input that reads it", width(flag),
                       flag.data);
    if (state.input == static_cast<int32_t>(program.input_count))
      return unknown_name(tool, input, program.inputs, program.input_count, "input");
  }
  return true;
}

bool step_inputs(Tool& tool, const Flags& flags, const States& states, const Values& outputs, Values* inputs) {
  const Program& program = *tool.program;
  for (size_t i = 0; i < states.count; ++i) inputs->items[states.items[i].input].data = nullptr;
  if (!program.symbol_count) return true;
  forget_sizes(tool);
  if (!set_dim_flags(tool, flags)) return false;
  for (size_t i = 0; i < states.count; ++i)
    force_dims(tool, program.inputs[states.items[i].input], outputs.items[states.items[i].output]);
  for (size_t i = 0; i < flags.input_count; ++i) {
    int32_t index = -1;
    Slice spec;
    if (!split_name(tool, flags.inputs[i], program.inputs, program.input_count, "input", &index, &spec)) return false;
    if (is_made(spec) && !states.has(index) && !add_input(tool, flags.inputs[i], inputs)) return false;
  }
  return true;
}

bool require_inputs(Tool& tool, const Values& inputs, const States& states) {
  for (int32_t i = 0; i < inputs.count; ++i) {
    const Io& io = tool.program->inputs[i];
    if (!inputs.items[i].data && !states.has(i))
      return tool.fail(kUsage, "input %s, %s, has no value; give one like `-i '%s=%s'`. Values are %s",
                       Quoted(io.name).text, TypeText(io).text, Quoted(io.name).bare().text,
                       io.of                       ? "@FILE.pb"
                       : decides(*tool.program, i) ? "[..]"
                                                   : "rand",
                       kKinds);
  }
  return true;
}

bool fill_inputs(Tool& tool, Values* inputs) {
  for (int32_t i = 0; i < inputs->count; ++i) {
    const Io& io = tool.program->inputs[i];
    if (inputs->items[i].data) continue;
    if (io.of)
      return tool.fail(kUsage, "input %s, %s, is not made up: give it like `-i '%s=@FILE.pb'`", Quoted(io.name).text,
                       TypeText(io).text, Quoted(io.name).bare().text);
    if (decides(*tool.program, i))
      return tool.fail(kUsage, "the elements of input %s, %s, decide shapes: give them like `-i '%s=[..]'`",
                       Quoted(io.name).text, TypeText(io).text, Quoted(io.name).bare().text);
    const char* spec = is_float(io.dtype) ? "rand" : "zeros";
    tool.note("note: input %s is filled with `%s`", Quoted(io.name).text, spec);
    if (!set_input(tool, i, spec, inputs)) return false;
  }
  return true;
}

}  // namespace rt::program
