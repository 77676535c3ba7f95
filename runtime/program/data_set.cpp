// See data_set.h. A tensor's own name decides which value it is, if the model has one of that name; else the file's
// number.
#include "runtime/program/data_set.h"

#include "runtime/program/file.h"

namespace rt::program {
namespace {

bool parse_file(Slice name, Slice prefix, int64_t* number) {  // input_12.pb
  return name.starts_with(prefix) && name.ends_with(".pb") &&
         parse_integer(name.part(prefix.size, name.size - 3), number) && *number >= 0;
}

bool holds_data(Tool& tool, Slice folder) {
  Names names;
  int64_t number = 0;
  if (!is_folder(tool, folder) || !list_folder(tool, folder, &names)) return false;
  for (size_t i = 0; i < names.count; ++i)
    if (parse_file(names.items[i], "input_", &number) || parse_file(names.items[i], "output_", &number)) return true;
  return false;
}

int32_t place_of(const Array& array, int64_t number, const Io* ios, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i)
    if (!array.name.empty() && array.name == ios[i].name) return static_cast<int32_t>(i);
  return number < count ? static_cast<int32_t>(number) : -1;
}

[[gnu::cold]] bool add_list(Tool& tool, Slice path, const Io& io, Array* array) {
  Slice file;
  if (array->data) return tool.fail(kBadData, "`%.*s` is a second value", width(path), path.data);
  return read_file(tool, path, &file) && tool.program->list_files->read(tool, io, file, path, array);
}

bool add_file(Tool& tool, Slice path, int64_t number, const Io* ios, const char* what, Values* values) {
  Slice file;
  Array array;
  if (number < values->count && ios[number].of) return add_list(tool, path, ios[number], &values->items[number]);
  uint64_t most = 0;
  for (int32_t i = 0; i < values->count; ++i)
    if (most_pb_bytes(ios[i]) > most) most = most_pb_bytes(ios[i]);
  if (!read_pb_file(tool, path, most, &file) || !declare_pb(tool, file, path, &array)) return false;
  const int32_t at = place_of(array, number, ios, static_cast<uint32_t>(values->count));
  if (at < 0)
    return tool.fail(kBadData, "`%.*s` is for %s %ld, the model has %d", width(path), path.data, what, number,
                     values->count);
  if (values->items[at].data)
    return tool.fail(kBadData, "`%.*s` is a second value for %s %s", width(path), path.data, what,
                     Quoted(ios[at].name).text);
  if (!fits(tool, ios[at], array, path) || !read_pb(tool, file, path, &array)) return false;
  values->items[at] = array;
  values->items[at].name = ios[at].name;
  return true;
}

}  // namespace

Values new_values(Tool& tool, uint32_t count) { return {tool.arena.array<Array>(count), static_cast<int32_t>(count)}; }

bool read_pb_file(Tool& tool, Slice path, uint64_t most, Slice* file) {
  uint64_t size = 0;
  if (!read_start(tool, path, most == kAll ? kAll : most + 1, file, &size)) return false;
  return size <= most ||
         tool.fail(kBadData,
                   "`%.*s` is larger than any tensor of the model's is as a TensorProto: %lu bytes are possible",
                   width(path), path.data, most);
}

bool read_data_set(Tool& tool, Slice folder, Values* inputs, Values* expected) {
  Names names;
  if (!list_folder(tool, folder, &names)) return false;
  int files = 0;
  for (int32_t i = 0; i < inputs->count; ++i) inputs->items[i] = {};
  for (size_t i = 0; i < names.count; ++i) {
    int64_t number = 0;
    const Slice path = join_path(tool, folder, names.items[i]);
    const bool is_input = parse_file(names.items[i], "input_", &number);
    if (is_input && !add_file(tool, path, number, tool.program->inputs, "input", inputs)) return false;
    const bool is_output = !is_input && expected && parse_file(names.items[i], "output_", &number);
    if (is_output && !add_file(tool, path, number, tool.program->outputs, "output", expected)) return false;
    files += is_input || is_output;
  }
  if (files) return true;
  return tool.fail(kBadData, "no input_N.pb in `%.*s`: %s%.*s", width(folder), folder.data,
                   names.count ? "there is " : "it is empty", names.count ? width(names.items[0]) : 0,
                   names.count ? names.items[0].data : "");
}

bool find_data_sets(Tool& tool, Slice folder, Folders* folders) {
  Names names;
  if (!list_folder(tool, folder, &names)) return false;
  folders->items = tool.arena.array<Slice>(names.count + 1);
  folders->count = 0;
  if (holds_data(tool, folder)) return folders->items[folders->count++] = folder, true;
  for (size_t i = 0; i < names.count; ++i) {
    const Slice inside = join_path(tool, folder, names.items[i]);
    if (holds_data(tool, inside)) folders->items[folders->count++] = inside;
  }
  if (folders->count) return true;
  Text found(tool.arena);
  for (size_t i = 0; i < names.count && i < 5; ++i) {
    found.add(i ? ", " : "");
    found.plain(names.items[i]);
  }
  return tool.fail(kBadData,
                   "no test data in `%.*s`: looked for input_0.pb there and in folders like test_data_set_0, found %s",
                   width(folder), folder.data, names.count ? found.c_str() : "nothing");
}

}  // namespace rt::program
