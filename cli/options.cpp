// See options.h.
#include "cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>

#include "cli/buckets.h"
#include "cli/console.h"
#include "cli/golden_cases.h"
#include "cli/outputs.h"
#include "cli/piped_model.h"
#include "codegen/custom_library.h"
#include "codegen/print_program.h"
#include "optimizer/choose/lock.h"

namespace cameo {
namespace {

struct Pair {
  std::string name, value;
};

Pair split(std::string_view flag, const std::string& text, std::string_view form) {
  const size_t at = text.rfind('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size())
    throw Failure(kUsage, fmt::format("`{} {}` is not {}", flag, printable(text), form));
  return {text.substr(0, at), text.substr(at + 1)};
}

bool parse(std::string_view text, int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// `8`, `1..32`, or `1..` where the end is open.
std::optional<Interval> parse_range(std::string_view text) {
  const size_t dots = text.find("..");
  int64_t low = 0, high = kOpen;
  if (dots == text.npos) return parse(text, low) ? std::optional(Interval{low, low}) : std::nullopt;
  const std::string_view end = text.substr(dots + 2);
  if (!parse(text.substr(0, dots), low) || !(end.empty() || parse(end, high))) return std::nullopt;
  return Interval{low, high};
}

void read_dim(const std::string& text, ImportOptions& into) {
  const Pair p = split("--dim", text, "NAME=N or NAME=LOW..HIGH");
  const std::optional<Interval> range = parse_range(p.value);
  if (!range)
    throw Failure(kUsage, fmt::format("`--dim {}`: `{}` is no number and no range like 1..32", printable(text),
                                      printable(p.value)));
  if (p.value.find("..") == std::string::npos)
    into.dims[p.name] = static_cast<int64_t>(range->low);
  else
    into.ranges[p.name] = *range;
}

void read_shape(const std::string& text, ImportOptions& into) {
  const Pair p = split("--shape", text, "INPUT=AxBxC or INPUT=LOW..HIGH,B,C");
  std::vector<SizeRange> dims;
  for (size_t at = 0; at <= p.value.size();) {
    const size_t end = std::min(p.value.find_first_of("x,", at), p.value.size());
    const std::optional<Interval> range = parse_range(std::string_view(p.value).substr(at, end - at));
    if (!range)
      throw Failure(kUsage, fmt::format("`--shape {}`: `{}` are no dims like 1x3x224x224 or 1..8,3,32..,32..",
                                        printable(text), printable(p.value)));
    dims.emplace_back(*range);
    at = end + 1;
  }
  into.shapes[p.name] = dims;
}

void read_constant(const std::string& text, ImportOptions& into) {
  // the value may hold `=` no more than the name: the first one ends the name
  const size_t at = text.find('=');
  if (at == std::string::npos || at == 0)
    throw Failure(kUsage, fmt::format("`--const {}` is not NAME=VALUE", printable(text)));
  into.constants[text.substr(0, at)] = text.substr(at + 1);
}

std::vector<std::string> split_list(const std::vector<std::string>& flags) {
  std::vector<std::string> items;
  for (const std::string& flag : flags)
    for (size_t at = 0; at <= flag.size();) {
      const size_t end = std::min(flag.find(',', at), flag.size());
      if (end > at) items.push_back(flag.substr(at, end - at));
      at = end + 1;
    }
  return items;
}

Target read_target(const std::string& word, DType precision) {
  const std::string name = word.starts_with("cpu:") ? word.substr(4) : word;
  if (name == "native" || name == "cpu") return native_target(precision);
  if (const Target* t = find_target(name)) return *t;
  std::vector<std::string> known{"native", "cuda:ptx", "cuda:host", "cuda:sm_80"};
  for (const Target& t : named_targets()) known.push_back(t.name);
  throw Failure(kUsage, fmt::format("there is no target `{}`{}", printable(word), suggestion(name, known)));
}

/// The GPU architecture that a word of --target names: `cuda:ptx,sm_90a` is two of them. PTX is written for sm_80.
std::optional<std::string> read_architecture(const std::string& word) {
  const bool cuda = word == "cuda" || word.starts_with("cuda:");
  const std::string name = word == "cuda" ? "ptx" : cuda ? word.substr(5) : word;
  if (!is_gpu_architecture(name)) {
    if (!cuda) return std::nullopt;
    throw Failure(kUsage, fmt::format("`--target={}` names no GPU architecture", printable(word)),
                  "cuda:ptx, cuda:sm_80, cuda:sm_90a, cuda:host");
  }
  if (name.starts_with("sm_") && std::stoi(name.substr(3)) < 80)
    throw Failure(kUsage,
                  fmt::format("`--target={}`: the oldest GPUs that code is made for are sm_80", printable(word)));
  return name;
}

void require_gpu(std::string_view flag, const std::vector<Target>& targets) {
  if (std::ranges::none_of(targets, &Target::is_gpu))
    throw Failure(kUsage, fmt::format("`{}` is for GPUs, and no target is one", flag), "--target=cuda:ptx");
}

void read_mode(const std::string& text, CompileOptions& options) {
  if (text.empty() || text == "default") return;
  if (text == "size") {
    for (Target& t : options.targets) t.keeps_size = true;
  } else if (text == "reduce-overhead") {
    require_gpu("--mode=reduce-overhead", options.targets);
    options.reduce_overhead = true;
  } else if (text == "max-autotune") {
    throw Failure(kUsage, "`--mode=max-autotune` is of `build`, whose lock other verbs take", "--tune-lock=FILE");
  } else {
    throw Failure(kUsage, fmt::format("there is no `--mode={}`{}", printable(text),
                                      suggestion(text, {"default", "max-autotune", "reduce-overhead", "size"})));
  }
}

bool is_identifier(std::string_view s) {
  const auto word = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  return !s.empty() && s.size() <= kLongestName && std::ranges::all_of(s, word) &&
         !std::isdigit(static_cast<unsigned char>(s[0]));
}

void check_pass(std::string_view flag, const std::string& name, bool may_be_all) {
  std::vector<std::string> known;
  for (const Pass& p : passes()) known.emplace_back(p.name);
  if (may_be_all) known.push_back("all");
  if (std::ranges::find(known, name) == known.end())
    throw Failure(kUsage, fmt::format("`{}={}` names no pass{}", flag, printable(name), suggestion(name, known)));
}

struct EmitRow {
  std::string_view name;
  Stop stop;
  std::optional<OutputKind> kind;
};
const EmitRow kEmits[] = {
    {"graph", Stop::Graph, {}},
    {"optimized", Stop::Optimized, {}},
    {"plan", Stop::Plan, {}},
    {"bodies", Stop::Bodies, {}},
    {"choices", Stop::Choices, {}},
    {"ptx", Stop::Ptx, {}},
    {"sources", Stop::Sources, OutputKind::Sources},
    {"object", Stop::Artifact, OutputKind::Object},
    {"so", Stop::Artifact, OutputKind::SharedLibrary},
    {"exe", Stop::Artifact, OutputKind::Program},
};

constexpr const char* kForms = "-o x | x.so | x.a | x.o | dir/";

bool is_folder(const std::string& output) {
  std::error_code ignored;
  return output.ends_with('/') || std::filesystem::is_directory(output, ignored);
}

void check_output_name(const std::string& output) {
  if (output == "-") throw Failure(kUsage, "`-o -` is no name of an artifact; stdout has one", "-o /dev/stdout");
  if (!is_folder(output) && output.ends_with(".onnx"))
    throw Failure(kUsage, fmt::format("`-o {}` would overwrite a model", printable(output)), kForms);
}

OutputKind kind_of(const std::string& output) {
  if (is_folder(output)) return OutputKind::Sources;
  const std::string extension = without_version(output).extension();
  if (extension == ".so") return OutputKind::SharedLibrary;
  if (extension == ".o") return OutputKind::Object;
  if (extension == ".a") return OutputKind::Archive;
  for (std::string_view foreign : {".dll", ".exe", ".lib", ".obj", ".dylib", ".wasm", ".js"})
    if (extension == foreign)
      throw Failure(
          kUsage,
          fmt::format("`-o {}`: artifacts are for Linux, and there is no `{}` of one", printable(output), foreign),
          kForms);
  return OutputKind::Program;
}

void read_emit(const BuildFlags& flags, CompileOptions& options) {
  std::vector<std::string> known;
  for (const EmitRow& row : kEmits) {
    known.emplace_back(row.name);
    if (row.name != flags.emit) continue;
    options.stop = row.stop;
    options.kind = row.kind.value_or(OutputKind::SharedLibrary);
    if (row.stop == Stop::Ptx) require_gpu("--emit=ptx", options.targets);
    if (row.stop == Stop::Choices)
      for (Target& t : options.targets)
        if (!t.lock)
          t.lock = std::make_shared<const ChoiceLock>();  // kernels of targets with a lock know their problems
    if (row.stop < Stop::Sources && !flags.output.empty())
      throw Failure(kUsage, fmt::format("`--emit={}` prints to stdout and takes no `-o`", flags.emit));
    return;
  }
  throw Failure(kUsage, fmt::format("there is no `--emit={}`{}", printable(flags.emit), suggestion(flags.emit, known)));
}

}  // namespace

std::vector<Target> read_targets(const std::vector<std::string>& flags, DType precision) {
  std::vector<Target> targets;
  std::vector<std::string> architectures;
  for (const std::string& word : split_list(flags)) {
    if (const auto architecture = read_architecture(word)) {
      architectures.push_back(*architecture);
    } else if (Target t = read_target(word, precision);
               std::ranges::find(targets, t.name, &Target::name) == targets.end()) {
      targets.push_back(std::move(t));
    }
  }
  if (targets.empty() && architectures.empty()) targets.push_back(native_target(precision));
  // the best first: the artifact takes the first one that this machine can run
  std::ranges::sort(targets, std::greater(),
                    [](const Target& t) { return std::pair(t.vector_bytes, t.extensions.size()); });
  if (!architectures.empty()) targets.insert(targets.begin(), gpu_target(std::move(architectures)));
  return targets;
}

namespace {

std::shared_ptr<const ChoiceLock> read_lock(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  in.peek();  // a folder opens, but cannot be read
  if (!in.is_open() || in.bad())
    throw Failure(kUsage, fmt::format("cannot read the lock `{}`: {}", printable(file), std::strerror(errno)));
  try {
    return std::make_shared<const ChoiceLock>(std::string(std::istreambuf_iterator(in), {}));
  } catch (const CompileError& e) {
    throw Failure(kUsage, fmt::format("`{}`: {}", printable(file), e.diagnostic.message));
  }
}

}  // namespace

namespace {

/// And the targets, of which this machine's depends on it.
void read_precision(const ModelFlags& flags, CompileOptions& options) {
  const bool narrow = flags.precision == "bf16";
  if (!narrow && !flags.precision.empty() && flags.precision != "fp32")
    throw Failure(kUsage, fmt::format("there is no `--precision={}`", printable(flags.precision)),
                  "--precision=fp32 (the default) or bf16");
  options.keep_fp32 = split_list(flags.keep_fp32);
  if (!narrow && !options.keep_fp32.empty())
    throw Failure(kUsage, "`--keep-fp32` needs `--precision=bf16`: all products are f32 without it");
  options.precision = narrow ? DType::bf16 : DType::f32;
  options.targets = read_targets(flags.targets, options.precision);
  if (narrow && std::ranges::any_of(options.targets, &Target::is_gpu))
    throw Failure(kUsage, "`--precision=bf16` is for processors, not for GPUs");
}

}  // namespace

CompileOptions read_model_flags(const ModelFlags& flags) {
  CompileOptions options;
  const ModelFile file = model_file(flags.model);
  options.model = file.path;
  options.model_title = file.title;
  options.command = flags.command;
  options.model_word = flags.model;
  for (const std::string& text : flags.dims) read_dim(text, options.import);
  for (const std::string& text : flags.shapes) read_shape(text, options.import);
  for (const std::string& text : flags.constants) read_constant(text, options.import);
  options.import.open = flags.open;
  options.import.lenient = flags.lenient;
  for (const std::string& file : flags.custom) {
    load_custom_file(file, options.import.custom);
    options.inputs.push_back(file);
  }
  options.import.outputs = split_list(flags.outputs);
  read_precision(flags, options);
  if (!flags.tune_lock.empty()) {
    const auto lock = read_lock(flags.tune_lock);
    for (Target& t : options.targets) take_lock(t, lock);
    options.inputs.push_back(flags.tune_lock);
  }
  read_mode(flags.mode, options);
  options.on_host = split_list(flags.on_host);
  if (!options.on_host.empty()) require_gpu("--on-host", options.targets);
  options.skip = split_list(flags.skip);
  for (const std::string& pass : options.skip) check_pass("--skip", pass, false);
  options.rewrite_limit = flags.rewrite_limit;
  if (!flags.verify.empty() && flags.verify != "each")
    throw Failure(kUsage, fmt::format("there is no `--verify={}`", printable(flags.verify)), "--verify=each");
  options.verify_each = flags.verify == "each";
  if (!flags.name.empty() && !is_identifier(flags.name))
    throw Failure(kUsage, fmt::format("`--name={}` is no C identifier of at most {} letters, digits and underscores",
                                      printable(flags.name), kLongestName));
  if (is_reserved(flags.name))
    throw Failure(kUsage, fmt::format("`--name={0}`: every artifact has a `{0}` of its own", flags.name),
                  fmt::format("--name=my_{}", flags.name));
  options.name = flags.name;
  options.jobs = flags.jobs > 0 ? flags.jobs : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return options;
}

namespace {

/// Beside the output, or in the folder of sources.
std::filesystem::path weights_beside(const CompileOptions& options) {
  constexpr std::string_view kEnding = ".weights";
  if (options.kind == OutputKind::Sources) return options.output / fmt::format("{}{}", name_of(options), kEnding);
  return beside_output(options, kEnding);
}

void read_weights(const std::string& text, CompileOptions& options) {
  constexpr std::string_view kRandom = "random:", kFile = "file:";
  const char* const end = text.data() + text.size();
  uint64_t seed = 0;
  if (text.empty() || text == "embed") return;
  if (text == "file") {
    options.weights = weights_beside(options);
  } else if (text.starts_with(kFile) && text.size() > kFile.size()) {
    options.weights = text.substr(kFile.size());
  } else if (text.starts_with(kRandom) && text.size() > kRandom.size() &&
             std::from_chars(text.data() + kRandom.size(), end, seed).ptr == end) {
    options.made_up_seed = seed;
  } else {
    throw Failure(
        kUsage, fmt::format("`--weights={}` is not embed, file, file:PATH or random:SEED, a number", printable(text)));
  }
}

/// Flags that would change nothing.
void refuse_idle_flags(const BuildFlags& flags, const CompileOptions& options) {
  const bool is_built = options.stop == Stop::Artifact || (options.stop == Stop::Sources && !options.output.empty());
  const std::pair<bool, std::string_view> of_artifacts[] = {{!flags.golden.empty(), "--golden"},
                                                            {!options.weights.empty(), "--weights=file"},
                                                            {flags.no_program, "--no-program"}};
  for (const auto& [is_given, flag] : of_artifacts)
    if (is_given && !is_built)
      throw Failure(kUsage, fmt::format("`{}` is for artifacts, and `--emit={}` prints a text", flag, flags.emit),
                    kForms);
  const std::pair<bool, std::string_view> of_cases[] = {{flags.tolerance >= 0, "--tolerance"},
                                                        {flags.reference, "--reference"}};
  for (const auto& [is_given, flag] : of_cases)
    if (is_given && flags.golden.empty())
      throw Failure(kUsage, fmt::format("`{}` is of golden cases, and there are none", flag), "--golden=random:1");
  if (flags.no_program && options.kind == OutputKind::Program)
    throw Failure(kUsage, "`--no-program` leaves nothing of an output that is a program", "-o x.so, x.a or x.o");
  if (flags.no_program && options.kind == OutputKind::Sources)
    throw Failure(kUsage, "`--no-program` changes no sources: they have the command line, and their Makefile uses it",
                  "-o x.so, x.a or x.o");
}

}  // namespace

void read_build_flags(const BuildFlags& flags, CompileOptions& options) {
  check_output_name(flags.output);
  options.output = flags.output;
  options.buckets = read_buckets(flags.buckets);
  if (!flags.emit.empty())
    read_emit(flags, options);
  else
    options.kind = flags.output.empty() ? OutputKind::SharedLibrary : kind_of(flags.output);
  if (options.output.empty() && options.stop == Stop::Artifact)
    options.output =
        std::filesystem::path(options.model_title).stem().string() + (options.kind == OutputKind::Object    ? ".o"
                                                                      : options.kind == OutputKind::Program ? ""
                                                                                                            : ".so");
  if (!flags.print_after.empty()) check_pass("--print-after", flags.print_after, true);
  options.print_after = flags.print_after;
  options.golden = flags.golden;
  if (!is_random(options.golden) && !options.golden.empty()) options.inputs.push_back(options.golden);
  read_weights(flags.weights, options);
  if (options.made_up_seed && !options.golden.empty())
    throw Failure(kUsage, "golden cases cannot be right where `--weights` makes weights up");
  options.tolerance = flags.tolerance;
  options.reference = flags.reference;
  options.with_program = !flags.no_program;
  options.time_passes = flags.time;
  refuse_idle_flags(flags, options);
}

}  // namespace cameo
