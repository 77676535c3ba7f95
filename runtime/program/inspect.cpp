// `inspect`, `--help`, `licenses` and what a bare call prints: all from the program's tables.
#include "runtime/cpu.h"
#include "runtime/device.h"
#include "runtime/mapped_weights.h"
#include "runtime/program/dims.h"
#include "runtime/program/output.h"
#include "runtime/program/session.h"
#include "runtime/program/verbs.h"
#include "runtime/sizes.h"

namespace rt::program {
namespace {

void print_escaped_word(Text* to, Slice word) {  // $'..', for a word that cannot be printed as it is
  to->add("$'");
  for (size_t i = 0; i < word.size; ++i)
    word[i] == '\'' || word[i] == '\\' ? to->format("\\%c", word[i]) : to->plain(word.part(i, i + 1));
  to->add('\'');
}

void print_shell_word(Text* to, Slice word) {  // quoted for a shell where it must be
  bool plain = !word.empty();
  for (size_t i = 0; i < word.size; ++i) {
    const char c = word[i];
    plain = plain && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                      c == '-' || c == '.' || c == '/' || c == ':' || c == '=' || c == ',');
  }
  if (plain) return to->add(word);
  if (!is_printable(word)) return print_escaped_word(to, word);
  to->add('\'');
  for (size_t i = 0; i < word.size; ++i) word[i] == '\'' ? to->add("'\\''") : to->add(word[i]);
  to->add('\'');
}

bool is_pictures(const Io& io) {  // one picture of 3 channels, large enough to be one
  if (io.rank != 4 || io.dims[0] != 1 || !(io.dtype == kF32 || io.dtype == kU8 || io.dtype == kF16)) return false;
  return (io.dims[1] == 3 && io.dims[2] >= 32) || (io.dims[3] == 3 && io.dims[1] >= 32);
}

// -1 in `shape` and in `dim_max`: known only at run time, and open, as in the ABI.
void print_bounds_json(Text& out, const Io& io) {
  const auto print = [&](const char* key, const int64_t* values) {
    out.format(",\"%s\":[", key);
    for (int32_t d = 0; d < io.rank; ++d) out.format(d ? ",%ld" : "%ld", values[d]);
    out.add(']');
  };
  print("dim_min", io.dim_min);
  print("dim_max", io.dim_max);
  out.add(",\"dim_names\":[");
  for (int32_t d = 0; d < io.rank; ++d) {
    out.add(d ? "," : "");
    io.dim_names&& io.dim_names[d] ? out.json(Slice(io.dim_names[d])) : out.add("null");
  }
  out.add(']');
}

void print_ios_json(Tool& tool, const Io* ios, uint32_t count) {
  Text& out = tool.out;
  for (uint32_t i = 0; i < count; ++i) {
    out.add(i ? ",{\"name\":" : "{\"name\":"), out.json(Slice(ios[i].name));
    if (ios[i].of) {
      out.format(",\"type\":\"%s\"}", TypeText(ios[i]).text);
      continue;
    }
    out.format(",\"dtype\":\"%s\",\"shape\":[", type_info(ios[i].dtype).name);
    for (int32_t d = 0; d < ios[i].rank; ++d) out.format(d ? ",%ld" : "%ld", ios[i].dims[d]);
    out.add(']');
    if (has_sizes(ios[i])) print_bounds_json(out, ios[i]);
    out.add('}');
  }
}

// Each GPU of this machine: body(found, null), or why the image does not run there; once, where there are none to
// count.
template <class F>
void for_each_gpu(const Device& device, F body) {
  FoundDevice found = {};
  int32_t ordinal = 0;
  do {
    cameo_error error = new_error();
    body(found, device.driver->probe(device, ordinal, &found, &error) ? error.message : nullptr);
  } while (++ordinal < found.count);
}

const char* mode_name(const Device& device) { return device.mode == Mode::Default ? "default" : "reduce-overhead"; }

void list_gpus(Tool& tool, const Device& device) {
  int32_t ordinal = 0;
  for_each_gpu(device, [&](const FoundDevice& found, const char* why) {
    tool.out.add("    ");
    if (!why) tool.out.format("GPU %d (", ordinal), tool.out.plain(found.name), tool.out.add(") takes its code for ");
    if (why) tool.out.add("does not run here: ");
    tool.out.plain(why ? why : found.code->architecture);
    tool.out.add('\n');
    ++ordinal;
  });
}

void list_target(Tool& tool, const Image& image) {
  const uint64_t missing = image.cpu_features & ~host_cpu_features();
  tool.out.add("  "), tool.out.plain(image.name);
  if (missing) tool.out.format(", lacks here: %s", FeatureNames(missing).text);
  if (!image.device) return tool.out.add('\n');
  const Device& device = *image.device;
  for (uint32_t i = 0; i < device.code_count; ++i) tool.out.format(i ? ", %s" : ": %s", device.codes[i].architecture);
  const Graphs graphs = device.driver->graphs(image);
  tool.out.format("; mode %s", mode_name(device));
  if (device.mode != Mode::Default)
    tool.out.format(", %u steps in %u graph%s and %u others", graphs.steps, graphs.count, graphs.count == 1 ? "" : "s",
                    graphs.others);
  tool.out.format("; arena %lu bytes\n", most(*tool.program, image, &Schedule::arena_bytes));
  list_gpus(tool, device);
}

void list_gpus_json(Tool& tool, const Device& device) {
  bool runs = false;
  int32_t ordinal = 0;
  tool.out.add(",\"gpus\":[");
  for_each_gpu(device, [&](const FoundDevice& found, const char* why) {
    runs |= !why;
    if (!found.count) return;
    tool.out.format(ordinal ? ",{\"number\":%d,\"name\":" : "{\"number\":%d,\"name\":", ordinal);
    tool.out.json(Slice(found.name));
    tool.out.add(why ? ",\"why_not\":" : ",\"code\":"), tool.out.json(Slice(why ? why : found.code->architecture));
    tool.out.add('}');
    ++ordinal;
  });
  tool.out.format("],\"runs_here\":%s", runs ? "true" : "false");
}

void list_target_json(Tool& tool, const Image& image) {
  tool.out.add("{\"name\":"), tool.out.json(Slice(image.name));
  if (const Device* device = image.device) {
    const Graphs graphs = device->driver->graphs(image);
    tool.out.format(",\"arena_bytes\":%lu,\"mode\":\"%s\",\"graphs\":%u,\"steps_in_graphs\":%u,\"architectures\":[",
                    most(*tool.program, image, &Schedule::arena_bytes), mode_name(*device), graphs.count, graphs.steps);
    for (uint32_t i = 0; i < device->code_count; ++i)
      tool.out.format(i ? ",\"%s\"" : "\"%s\"", device->codes[i].architecture);
    tool.out.add(']');
    list_gpus_json(tool, *device);
  } else {
    tool.out.format(",\"runs_here\":%s", image.cpu_features & ~host_cpu_features() ? "false" : "true");
  }
  tool.out.add('}');
}

// Those of processors first: theirs are the figures of the whole.
const Image& image_at(const Program& p, uint32_t number) {
  uint32_t gpus = 0;
  while (gpus < p.image_count && p.images[gpus].device) ++gpus;
  return p.images[(gpus + number) % p.image_count];
}

// What a context's plans ask for, of the image that runs here, or would on a better processor.
struct Needs {
  uint64_t arena = 0, scratch = 0;
  uint32_t steps = 0;  // of the plan for all sizes
};
Needs needs_of(const Program& p) {
  const Image* image = choose_image(p, host_cpu_features());
  if (!image && p.image_count) image = &p.images[p.image_count - 1];
  if (!image) return {};
  return {most(p, *image, &Schedule::arena_bytes), most(p, *image, &Schedule::scratch_bytes),
          image->schedule->row_count - 1};  // the last one ends a run
}

// The file of weights, and what is wrong with it.
struct Weights {
  MappedWeights file;
  cameo_error error = new_error();

  Weights() = default;
  Weights(const Weights&) = delete;
  ~Weights() {
    if (file.memory) libc::munmap(file.memory, file.bytes);
  }
  // Only whoever wants them verified is told that by an exit code.
  void look(Tool& tool, const Flags& flags) {
    const Program& p = *tool.program;
    const WeightsReader& reader = *p.weights_file->reader;
    cameo_status status = reader.open(p, path_of_weights(tool, flags), &file, &error);
    if (!status && flags.verify && !reader.are_right(p, file.pool()))
      status = rt::fail(&error, CAMEO_DATA_LOSS, -1, -1, "the weights in %s are damaged; copy them again",
                        Quoted(file.path).text);
    if (status && flags.verify) tool.fail(status, error);
  }
};

void print_weights_json(Tool& tool, const Weights& weights) {
  const WeightsFile* wanted = tool.program->weights_file;
  if (!wanted) return;
  tool.out.add(",\"weights_file\":{\"name\":"), tool.out.json(Slice(wanted->name));
  tool.out.format(",\"hash\":\"%016lx\",\"path\":", wanted->hash);
  tool.out.json(Slice(weights.file.path));
  if (weights.error.code) tool.out.add(",\"why_not\":"), tool.out.json(Slice(weights.error.message));
  tool.out.add('}');
}

void inspect_json(Tool& tool, const Weights& weights) {
  const Program& p = *tool.program;
  const Needs needs = needs_of(p);
  Text& out = tool.out;
  out.add("{\"schema\":\"cameo.inspect\",\"version\":1,\"name\":"), out.json(Slice(p.name));
  out.add(",\"inputs\":["), print_ios_json(tool, p.inputs, p.input_count);
  out.add("],\"outputs\":["), print_ios_json(tool, p.outputs, p.output_count);
  out.add("],\"targets\":[");
  for (uint32_t i = 0; i < p.image_count; ++i) {
    if (i) out.add(",");
    list_target_json(tool, image_at(p, i));
  }
  for (uint32_t i = 0; i < p.bucket_count; ++i)
    out.add(i ? "," : "],\"buckets\":["), out.json(Slice(p.buckets[i].name));
  out.format("],\"weights_bytes\":%lu,\"arena_bytes\":%lu,\"scratch_bytes\":%lu,\"steps\":%u,\"goldens\":%u",
             p.weights_bytes, needs.arena, needs.scratch, needs.steps, p.golden_count);
  print_weights_json(tool, weights);
  out.add(",\"dependencies\":[\"libc.so.6\"],\"manifest\":");
  out.add(p.manifest_bytes ? Slice(p.manifest, p.manifest_bytes) : Slice("null"));
  out.add("}\n");
}

void print_bytes(Text* to, const char* what, uint64_t bytes) {
  if (bytes < 10000)
    to->format("%-14s %lu bytes\n", what, bytes);
  else if (bytes < 10000000)
    to->format("%-14s %.1f kB\n", what, static_cast<double>(static_cast<int64_t>(bytes)) / 1e3);
  else
    to->format("%-14s %.1f MB\n", what, static_cast<double>(static_cast<int64_t>(bytes)) / 1e6);
}

}  // namespace

void print_values(Tool& tool, const Io* ios, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    tool.out.format("  %u  ", i);
    tool.out.plain(ios[i].name);
    tool.out.format("  %s", TypeText(ios[i]).text);
    for (int32_t d = 0; ios[i].dim_names && d < ios[i].rank; ++d)
      if (ios[i].dim_names[d] && size_place(ios[i], d) < 0)
        tool.out.format("  %s = dim %d", Quoted(ios[i].dim_names[d]).bare().text, d);
    tool.out.add('\n');
  }
  if (!count) tool.out.add("  none\n");
}

void print_command(Tool& tool) {
  const Program& p = *tool.program;
  tool.out.add("  ");
  const Slice name = tool.name;
  if (name.find('/') == name.size) tool.out.add("./");
  print_shell_word(&tool.out, name);
  tool.out.add(" run");
  for (uint32_t i = 0; i < p.symbol_count; ++i) {
    if (!is_of_dims(p.symbols[i])) continue;
    Text word(tool.arena);
    word.format("%s=%ld", p.symbols[i].name, p.symbols[i].low);
    tool.out.add(" --dim ");
    print_shell_word(&tool.out, word.slice());
  }
  for (uint32_t i = 0; i < p.input_count; ++i) {
    Text word(tool.arena);
    word.add(p.inputs[i].name);
    word.add(is_pictures(p.inputs[i])      ? "=@cat.png,resize="
             : p.inputs[i].of              ? "=@FILE.pb"
             : is_float(p.inputs[i].dtype) ? "=rand"
                                           : "=zeros");
    if (is_pictures(p.inputs[i])) {
      const int64_t* dims = p.inputs[i].dims + (p.inputs[i].dims[1] == 3 ? 2 : 1);
      word.format("%ldx%ld", dims[1], dims[0]);
    }
    tool.out.add(" -i ");
    print_shell_word(&tool.out, word.slice());
  }
  tool.out.add('\n');
}

void print_welcome(Tool& tool) {
  const Program& p = *tool.program;
  tool.out.plain(p.name);
  tool.out.add(": a compiled ONNX model, library and program in one\ninputs\n");
  print_values(tool, p.inputs, p.input_count);
  tool.out.add("outputs\n");
  print_values(tool, p.outputs, p.output_count);
  tool.out.add("try\n");
  print_command(tool);
  tool.out.format("or `test DIR`, `bench`, `profile`, `inspect`, `--help`\n");
}

void print_help(Tool& tool, Verb verb) {
  Text& out = tool.out;
  if (verb == Verb::None || verb == Verb::Help) {
    print_welcome(tool);
    out.add(
        "\nverbs\n"
        "  run -i NAME=VALUE.. [-o NAME=PLACE..]   one run\n"
        "  test [DIR..]                            golden tests: folders of input_N.pb and output_N.pb, or those "
        "embedded\n"
        "  bench                                   load, first run and steady latency\n"
        "  profile                                 time by step and ONNX node\n"
        "  inspect                                 inputs, outputs, targets, sizes\n"
        "  licenses                                of what is inside\n");
    verb = Verb::None;
  }
  out.add("\nflags\n");
  print_flags(tool, verb);
  if (verb != Verb::None && verb != Verb::Run && verb != Verb::Bench && verb != Verb::Profile) return;
  out.add(
      "\nvalues (NAME may be an index: 0=..; a model of one input needs no NAME)\n"
      "  @x.npy | @all.npz | @input_0.pb         an array; @all.npz and @test_data_set_0/ without NAME give all "
      "inputs\n"
      "  @x.png[,resize=224][,crop=224][,mean=A:B:C][,std=A:B:C][,scale=S][,layout=chw|hwc|hw][,order=rgb|bgr]\n"
      "                                          (pixel * scale - mean) / std; scale is 1/255 for floats, 1 for "
      "integers\n"
      "  raw:f.bin                               the bytes of a compact array\n"
      "  2x2xf32=[[1,2],[3,4]] | [[1,2],[3,4]] | 0.5\n"
      "  zeros | ones | iota | rand[:seed[:lo:hi]]   rand is 0 to 1 if not said\n");
  if (verb == Verb::Bench || verb == Verb::Profile) return;
  out.add(
      "\nplaces (without NAME: all outputs)\n"
      "  @y.npy | @out.npz | @y.pb | raw:f.bin | @mask.png\n"
      "  text | stats | top5[:labels.txt]        as text; `text` prints every element\n"
      "  -                                       on a terminal `text`; into a pipe .npy, one array after the other\n"
      "\nexit codes: 0 ok, 1 our bug, 2 usage, 3 unsupported, 5 outside a tolerance, 7 bad input data, 8 processor or "
      "device\n"
      "missing or failing, 9 out of memory, 130 interrupted\n");
}

bool inspect_verb(Tool& tool, const Flags& flags) {
  const Program& p = *tool.program;
  const Needs needs = needs_of(p);
  Text& out = tool.out;
  Weights weights;
  if (p.weights_file) weights.look(tool, flags);
  if (flags.json) return inspect_json(tool, weights), true;
  out.plain(p.name);
  out.add("\ninputs\n");
  print_values(tool, p.inputs, p.input_count);
  out.add("outputs\n");
  print_values(tool, p.outputs, p.output_count);
  out.add("targets\n");
  for (uint32_t i = 0; i < p.image_count; ++i) list_target(tool, image_at(p, i));
  if (p.bucket_count) out.add("plans of their own for\n");
  for (uint32_t i = 0; i < p.bucket_count; ++i) out.add("  "), out.plain(p.buckets[i].name), out.add('\n');
  print_bytes(&out, "weights", p.weights_bytes);
  if (p.weights_file && weights.error.code) out.format("  in no file that fits: %s\n", weights.error.message);
  if (p.weights_file && !weights.error.code)
    out.format("  in %s, %s\n", Quoted(weights.file.path).text, flags.verify ? "undamaged" : "which fits");
  print_bytes(&out, "arena", needs.arena);
  print_bytes(&out, "scratch", needs.scratch);
  out.format("%-14s %u, of %u kinds of ONNX origin\n%-14s %u\n%-14s libc.so.6 (glibc 2.34 or newer)\n", "steps",
             needs.steps, p.node_count, "golden cases", p.golden_count, "needs");
  return true;
}

void print_licenses(Tool& tool) {
  tool.out.add(
      "The runtime and the kernels are part of cameo; what cameo compiles carries no obligation to it.\n"
      "\n"
      "stb_image by Sean Barrett and contributors (reads PNG, JPEG and PPM, and deflate): public domain, or the MIT "
      "licence:\n"
      "  Copyright (c) 2017 Sean Barrett\n"
      "  Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated\n"
      "  documentation files (the \"Software\"), to deal in the Software without restriction, including without "
      "limitation\n"
      "  the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, "
      "and to\n"
      "  permit persons to whom the Software is furnished to do so, subject to the following conditions: The above "
      "copyright\n"
      "  notice and this permission notice shall be included in all copies or substantial portions of the Software.\n"
      "  THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT "
      "LIMITED TO THE\n"
      "  WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE "
      "AUTHORS OR\n"
      "  COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT "
      "OR\n"
      "  OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE "
      "SOFTWARE.\n"
      "\nThe weights have the licence of the model that they come from.\n");
}

}  // namespace rt::program
