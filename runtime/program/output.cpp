// See output.h. An output that is not named means all of them.
#include "runtime/program/output.h"

#include "runtime/numbers.h"
#include "runtime/program/file.h"
#include "runtime/program/image.h"

namespace rt::program {
namespace {

constexpr char kKinds[] =
    "`@file.npy`, `@file.npz`, `@file.pb`, `@picture.png`, `raw:file`, `-`, `text`, `stats`, `top5[:labels.txt]`";

struct Target {
  int32_t index = -1;  // -1: all outputs
  Slice spec;
};

bool parse_target(Tool& tool, Slice argument, Target* target) {
  return split_name(tool, argument, tool.program->outputs, tool.program->output_count, "output", &target->index,
                    &target->spec);
}

bool parse_top(Slice spec, int64_t* count, Slice* labels) {
  if (!spec.starts_with("top")) return false;
  const size_t colon = spec.find(':');
  *labels = colon < spec.size ? spec.from(colon + 1) : Slice();
  return parse_integer(spec.part(3, colon), count) && *count > 0;
}

void print_all(Tool& tool, const Array& array) {
  for (int64_t i = 0; i < array.item_count; ++i) print_all(tool, array.items[i]);
  if (is_list(array)) return;
  const int64_t count = array.count(), row = array.rank ? array.dims[array.rank - 1] : 1;
  tool.out.add("# ");
  tool.out.plain(array.name);
  tool.out.format(" %s\n", array.type().text);
  for (int64_t i = 0; i < count; ++i) {
    print_element(&tool.out, array, i);
    tool.out.add(row && (i + 1) % row ? ' ' : '\n');
  }
}

Slice label_at(Slice labels, int64_t index) {
  for (; index > 0 && !labels.empty(); --index) {
    const size_t end = labels.find('\n');
    labels = labels.from(end < labels.size ? end + 1 : end);
  }
  Slice line = labels.upto(labels.find('\n'));
  return line.ends_with("\r") ? line.upto(line.size - 1) : line;
}

bool is_better(const Array& array, int64_t a, int64_t b) {  // a NaN is worse than any number
  const double x = number_at(array.dtype, array.data, a), y = number_at(array.dtype, array.data, b);
  return x > y || (y != y && x == x);
}

// The best `count` of [begin, begin + size) that come after `taken` in that order; ties in the order of their index.
void print_row_top(Tool& tool, const Array& array, int64_t begin, int64_t size, int64_t count, Slice labels) {
  bool* taken = tool.arena.array<bool>(static_cast<uint64_t>(size));
  for (int64_t rank = 0; rank < count && rank < size; ++rank) {
    int64_t best = -1;
    for (int64_t i = 0; i < size; ++i)
      if (!taken[i] && (best < 0 || is_better(array, begin + i, begin + best))) best = i;
    taken[best] = true;
    tool.out.format("%8ld  ", best);
    print_element(&tool.out, array, begin + best);
    if (!labels.empty()) tool.out.add("  "), tool.out.plain(label_at(labels, best));
    tool.out.add('\n');
  }
}

bool print_top(Tool& tool, const Array& array, int64_t count, Slice labels_path) {
  Slice labels;
  if (array.is_strings() || is_complex(array.dtype))
    return tool.fail(kUsage, "`%.*s` is of strings or complex numbers, which `top` does not compare", width(array.name),
                     array.name.data);
  if (!labels_path.empty() && !read_file(tool, labels_path, &labels)) return false;
  int64_t row = 1;  // the last axis that has more than one element
  for (int32_t i = array.rank; i-- > 0 && row == 1;) row = array.dims[i];
  const int64_t rows = row ? array.count() / row : 0;
  for (int64_t r = 0; r < rows && r < 8; ++r) {
    tool.out.plain(array.name);
    tool.out.format(rows > 1 ? " %s, row %ld of %ld\n" : " %s\n", array.type().text, r, rows);
    print_row_top(tool, array, r * row, row, count, labels);
  }
  if (rows > 8) tool.out.format("... %ld more rows\n", rows - 8);
  return true;
}

struct Map {  // value * scale + shift, as a byte
  double scale = 1, shift = 0;
};

Map bytes_of(Tool& tool, const Array& array) {
  const Statistics s = statistics_of(array);
  if (s.low >= 0 && s.high <= 1) return {255, is_float(array.dtype) ? 0.5 : 0};
  if (s.low >= 0 && s.high <= 255) return {1, is_float(array.dtype) ? 0.5 : 0};
  tool.note("note: output `%.*s`: %g to %g become 0 to 255", width(array.name), array.name.data, s.low, s.high);
  return {255 / (s.high - s.low), -s.low * 255 / (s.high - s.low) + 0.5};
}

bool find_picture(const Array& array, Picture* picture, bool* is_planar) {  // dims of 1 aside: HW, CHW or HWC
  int64_t dims[3];
  int32_t rank = 0;
  for (int32_t i = 0; i < array.rank; ++i) {
    if (array.dims[i] == 1) continue;
    if (rank == 3) return false;
    dims[rank++] = array.dims[i];
  }
  const auto is_colour = [](int64_t n) { return n == 3 || n == 4; };
  *is_planar = rank == 3 && is_colour(dims[0]);
  if (is_complex(array.dtype) || rank < 2 || (rank == 3 && !*is_planar && !is_colour(dims[2]))) return false;
  const int64_t height = dims[*is_planar ? 1 : 0], width = dims[*is_planar ? 2 : 1];
  if (height < 1 || width < 1 || height > 32768 || width > 32768) return false;
  picture->height = static_cast<int32_t>(height);
  picture->width = static_cast<int32_t>(width);
  picture->channels = rank == 2 ? 1 : static_cast<int32_t>(dims[*is_planar ? 0 : 2]);
  return true;
}

bool write_picture(Tool& tool, const Array& array, Text* to) {
  Picture picture;
  bool is_planar = false;
  if (!find_picture(array, &picture, &is_planar))
    return tool.fail(kUsage, "output `%.*s`, %s, is no picture of 1, 3 or 4 channels", width(array.name),
                     array.name.data, array.type().text);
  const int64_t pixels = int64_t{picture.width} * picture.height, count = pixels * picture.channels;
  const Map map = bytes_of(tool, array);
  picture.pixels = static_cast<unsigned char*>(tool.arena.take(static_cast<uint64_t>(count)));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t from = is_planar ? i % picture.channels * pixels + i / picture.channels : i;
    const double byte = number_at(array.dtype, array.data, from) * map.scale + map.shift;
    picture.pixels[i] = static_cast<unsigned char>(byte >= 255 ? 255 : byte > 0 ? byte : 0);
  }
  write_png(tool, picture, to);
  return true;
}

bool write_to_file(Tool& tool, Slice path, Arrays arrays) {
  Text bytes(tool.arena);
  if (path.ends_with(".npz")) return write_npz(tool, arrays, &bytes) && write_file(tool, path, bytes.slice());
  if (arrays.count != 1)
    return tool.fail(kUsage, "`@%.*s` holds one array and the model has %zu outputs; say which, as in `-o %s=@%.*s`",
                     width(path), path.data, arrays.count, tool.program->outputs[0].name, width(path), path.data);
  bool ok = true;
  if (is_list(arrays.items[0]) && !path.ends_with(".pb"))
    return tool.fail(kUsage, "output `%.*s` is a list, which is written to a file `@FILE.pb`",
                     width(arrays.items[0].name), arrays.items[0].name.data);
  if (path.ends_with(".npy"))
    ok = write_npy(tool, arrays.items[0], &bytes);
  else if (is_list(arrays.items[0]))
    tool.program->list_files->write(tool, arrays.items[0], &bytes);
  else if (path.ends_with(".pb"))
    write_pb(arrays.items[0], &bytes);
  else
    ok = write_picture(tool, arrays.items[0], &bytes);
  return ok && write_file(tool, path, bytes.slice());
}

bool is_file_kind(Slice path) {
  return path.ends_with(".npy") || path.ends_with(".npz") || path.ends_with(".pb") || path.ends_with(".png");
}

bool write_raw(Tool& tool, Slice path, Arrays arrays) {
  if (arrays.count == 1 && is_list(arrays.items[0])) return write_to_file(tool, path, arrays);
  if (arrays.count != 1)
    return tool.fail(kUsage, "`raw:` writes one output and the model has %zu; say which, as in `-o 0=raw:FILE`",
                     arrays.count);
  if (arrays.items[0].is_strings()) return tool.fail(kUsage, "strings are no plain bytes: `raw:` writes none");
  return write_file(tool, path, {arrays.items[0].data, arrays.items[0].bytes()});
}

}  // namespace

Statistics statistics_of(const Array& array) {
  Statistics s;
  double sum = 0;
  int64_t finite = 0;
  const int64_t count = array.numbers();
  for (int64_t i = 0; i < count; ++i) {
    const double value = number_at(array.dtype, array.data, i);
    if (value != value)
      ++s.nans;
    else if (value - value != 0)
      ++s.infinities;
    else {
      if (!finite || value < s.low) s.low = value;
      if (!finite || value > s.high) s.high = value;
      sum += value;
      ++finite;
    }
  }
  if (finite) s.mean = sum / static_cast<double>(finite);
  return s;
}

namespace {
// As Python writes it, without parentheses: 1-2j.
[[gnu::cold, gnu::noinline]] void print_complex(Text* to, const Array& array, int64_t index) {
  Array parts = array;
  parts.dtype = type_of_parts(array.dtype);
  print_element(to, parts, 2 * index);
  const double imaginary = number_at(parts.dtype, parts.data, 2 * index + 1);
  if (imaginary != imaginary || !__builtin_signbit(imaginary)) to->add('+');
  print_element(to, parts, 2 * index + 1);
  to->add('j');
}
}  // namespace

void print_element(Text* to, const Array& array, int64_t index) {
  if (array.is_strings()) return to->json(array.texts()[index]);
  if (is_complex(array.dtype)) return print_complex(to, array, index);
  const double value = number_at(array.dtype, array.data, index);
  if (array.dtype == kU64)
    to->format("%lu", static_cast<uint64_t>(integer_at(array.dtype, array.data, index)));
  else if (!is_float(array.dtype))
    to->format("%ld", integer_at(array.dtype, array.data, index));
  else if (value != value)
    to->add("nan");
  else
    to->format(array.dtype == kF64 ? "%.17g" : array.dtype == kF32 ? "%.9g" : "%.5g", value);
}

void print_summary(Tool& tool, const Array& array) {
  if (is_list(array)) {
    tool.out.plain(array.name);
    tool.out.format("  %ld item%s\n", array.item_count, array.item_count == 1 ? "" : "s");
    for (int64_t i = 0; i < array.item_count; ++i) print_summary(tool, array.items[i]);
    return;
  }
  const Statistics s = array.is_strings() ? Statistics() : statistics_of(array);
  const int64_t count = array.count(), shown = count <= 16 ? count : 8;
  tool.out.plain(array.name);
  tool.out.format("  %s", array.type().text);
  if (count > 1 && !array.is_strings()) tool.out.format("  min %.6g  mean %.6g  max %.6g", s.low, s.mean, s.high);
  if (s.nans) tool.out.format("  %ld NaN", s.nans);
  if (s.infinities) tool.out.format("  %ld infinite", s.infinities);
  tool.out.add("\n  [");
  for (int64_t i = 0; i < shown; ++i) {
    if (i) tool.out.add(", ");
    print_element(&tool.out, array, i);
  }
  tool.out.add(shown < count ? ", ...]\n" : "]\n");
}

void print_json(Tool& tool, const Array& array) {
  if (is_list(array)) {
    tool.out.add("{\"name\":"), tool.out.json(array.name), tool.out.add(",\"items\":[");
    for (int64_t i = 0; i < array.item_count; ++i) tool.out.add(i ? "," : ""), print_json(tool, array.items[i]);
    tool.out.add("]}");
    return;
  }
  const Statistics s = array.is_strings() ? Statistics() : statistics_of(array);
  const int64_t count = array.count(), shown = count <= 1000 ? count : 1000;
  tool.out.add("{\"name\":");
  tool.out.json(array.name);
  tool.out.format(",\"dtype\":\"%s\",\"shape\":[", type_info(array.dtype).name);
  for (int32_t i = 0; i < array.rank; ++i) tool.out.format(i ? ",%ld" : "%ld", array.dims[i]);
  tool.out.add("],\"min\":"), tool.out.json(s.low);
  tool.out.add(",\"max\":"), tool.out.json(s.high);
  tool.out.add(",\"mean\":"), tool.out.json(s.mean);
  tool.out.format(",\"nans\":%ld,\"infinities\":%ld,\"values_shown\":%ld,\"values\":[", s.nans, s.infinities, shown);
  for (int64_t i = 0; i < shown; ++i) {
    if (i) tool.out.add(',');
    const bool is_number = !array.is_strings() && !is_complex(array.dtype);
    const double value = is_number ? number_at(array.dtype, array.data, i) : 0;
    if (is_float(array.dtype) && value - value != 0)
      tool.out.add("null");
    else if (is_complex(array.dtype))
      tool.out.add('"'), print_element(&tool.out, array, i), tool.out.add('"');
    else
      print_element(&tool.out, array, i);
  }
  tool.out.add("]}");
}

bool check_output(Tool& tool, Slice argument, bool has_document) {
  Target target;
  Slice labels;
  int64_t count = 0;
  if (!parse_target(tool, argument, &target)) return false;
  const Slice spec = target.spec;
  const bool on_stdout = spec == "-" || spec == "text" || spec == "stats" || parse_top(spec, &count, &labels);
  if (on_stdout && has_document)
    return tool.fail(kUsage, "`-o %.*s` prints where `--json` has its document; `@FILE.npy` goes with it",
                     width(argument), argument.data);
  if (on_stdout) return true;
  if ((spec.starts_with("raw:") && spec.size > 4) || (spec.starts_with("@") && is_file_kind(spec))) return true;
  return tool.fail(kUsage, "`%.*s` is no place for an output; places are %s", width(spec), spec.data, kKinds);
}

bool emit_output(Tool& tool, Slice argument, const Values& outputs) {
  Target target;
  Slice labels;
  int64_t count = 0;
  if (!parse_target(tool, argument, &target)) return false;
  const Slice spec = target.spec;
  const Arrays arrays = target.index < 0 ? Arrays{outputs.items, static_cast<size_t>(outputs.count)}
                                         : Arrays{outputs.items + target.index, 1};
  if (spec.starts_with("@")) return write_to_file(tool, spec.from(1), arrays);
  if (spec.starts_with("raw:")) return write_raw(tool, spec.from(4), arrays);
  for (size_t i = 0; i < arrays.count; ++i) {
    if (spec == "-" && is_list(arrays.items[i]))
      print_all(tool, arrays.items[i]);
    else if (spec == "-" && !libc::isatty(1)) {
      if (!write_npy(tool, arrays.items[i], &tool.out)) return false;
    } else if (spec == "-" || spec == "text")
      print_all(tool, arrays.items[i]);
    else if (spec == "stats")
      print_summary(tool, arrays.items[i]);
    else if (is_list(arrays.items[i]))
      return tool.fail(kUsage, "output `%.*s` is a list, which has no best elements", width(arrays.items[i].name),
                       arrays.items[i].name.data);
    else if (!parse_top(spec, &count, &labels) || !print_top(tool, arrays.items[i], count, labels))
      return false;
  }
  return true;
}

}  // namespace rt::program
