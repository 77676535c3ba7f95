// See flags.h.
#include "runtime/program/flags.h"

namespace rt::program {
namespace {

struct VerbRow {
  char name[12];
  Verb verb;
};
constexpr VerbRow kVerbs[] = {{"run", Verb::Run},         {"test", Verb::Test},       {"bench", Verb::Bench},
                              {"profile", Verb::Profile}, {"inspect", Verb::Inspect}, {"licenses", Verb::Licenses},
                              {"help", Verb::Help}};

enum : uint32_t {
  kRun = 1,
  kTest = 2,
  kBench = 4,
  kProfile = 8,
  kInspect = 16,
  kAll = 255,
};

uint32_t bit_of(Verb verb) {
  switch (verb) {
    case Verb::Run: return kRun;
    case Verb::Test: return kTest;
    case Verb::Bench: return kBench;
    case Verb::Profile: return kProfile;
    case Verb::Inspect: return kInspect;
    default: return 0;
  }
}

struct Flag {
  char name[12], value[12];  // the value that it takes; "": none
  uint32_t verbs;
  const char* help;
  bool (*set)(Flags*, Slice);
};

bool to_count(Slice text, int64_t* value) { return parse_integer(text, value) && *value >= 0; }

bool to_device(Slice text, cameo_device* device) {  // cpu, cuda:1, auto
  int64_t number = 0;
  const size_t colon = text.find(':');
  if (colon < text.size && !(to_count(text.from(colon + 1), &number) && number < 1024)) return false;
  const Slice kind = text.upto(colon);
  *device = {kind == "cpu" ? CAMEO_CPU : kind == "cuda" ? CAMEO_CUDA : CAMEO_AUTO, static_cast<int32_t>(number)};
  return kind == "cuda" || (colon == text.size && (kind == "cpu" || kind == "auto"));
}

constexpr Flag kFlags[] = {
    {"-i", "NAME=VALUE", kRun | kBench | kProfile, "an input: a file, a list, `zeros`, `rand` ... (see below)",
     [](Flags* f, Slice v) { return f->inputs[f->input_count++] = v, true; }},
    {"--dim", "NAME=N", kRun | kBench | kProfile, "a size that the model leaves to a run, where no file says it",
     [](Flags* f, Slice v) { return f->dims[f->dim_count++] = v, true; }},
    {"-o", "NAME=PLACE", kRun, "an output: a file, `-`, `stats`, `top5` ... (see below)",
     [](Flags* f, Slice v) { return f->outputs[f->output_count++] = v, true; }},
    {"--state", "OUT=IN", kRun, "input IN is what output OUT held after the step before, zeros at first",
     [](Flags* f, Slice v) { return f->states[f->state_count++] = v, true; }},
    {"--steps", "N", kRun, "run N times, and give the outputs of the last one",
     [](Flags* f, Slice v) { return to_count(v, &f->steps) && f->steps > 0; }},
    {"--taps", "FILE.npz", kRun, "write every intermediate value by its ONNX name",
     [](Flags* f, Slice v) { return f->taps = v, v.ends_with(".npz"); }},
    {"--tolerance", "T", kTest, "allowed error as a share of an output's largest magnitude (default 1e-3)",
     [](Flags* f, Slice v) { return parse_number(v, &f->tolerance) && f->tolerance >= 0; }},
    {"--threads", "N", kRun | kTest | kBench | kProfile, "threads to use (default: what the model was built for)",
     [](Flags* f, Slice v) {
       int64_t n = 0;
       if (!to_count(v, &n) || n > 4096) return false;
       return f->threads = static_cast<int32_t>(n), true;
     }},
    {"--device", "DEVICE", kRun | kTest | kBench | kProfile, "cpu, cuda:N, or auto (default): a GPU if there is one",
     [](Flags* f, Slice v) { return to_device(v, &f->device); }},
    {"--weights", "FILE", kRun | kTest | kBench | kProfile | kInspect,
     "the weights of an artifact that was built with `--weights=file`",
     [](Flags* f, Slice v) { return f->weights = v, !v.empty(); }},
    {"--verify", "", kInspect, "read all of the file of weights, and compare it with what was written",
     [](Flags* f, Slice) { return f->verify = true; }},
    {"--runs", "N", kBench | kProfile, "runs to time (default: as many as fit into --seconds)",
     [](Flags* f, Slice v) { return to_count(v, &f->runs) && f->runs > 0 && f->runs <= 10000000; }},
    {"--seconds", "S", kBench | kProfile, "time to spend on timed runs (default 1)",
     [](Flags* f, Slice v) { return parse_number(v, &f->seconds) && f->seconds >= 0 && f->seconds < 1e6; }},
    {"--contexts", "N", kBench, "contexts that run at the same time, a thread each: how many runs a second there are",
     [](Flags* f, Slice v) { return to_count(v, &f->contexts) && f->contexts > 0 && f->contexts <= 4096; }},
    {"--warmup", "N", kBench | kProfile, "runs before the timed ones (default: for a tenth of --seconds)",
     [](Flags* f, Slice v) { return to_count(v, &f->warmup); }},
    {"--json", "", kAll, "one JSON document on stdout", [](Flags* f, Slice) { return f->json = true; }},
    {"--help", "", kAll, "this text", [](Flags* f, Slice) { return f->help = true; }},
};

bool takes(Verb verb, const Flag& flag) {
  return verb == Verb::None || flag.verbs == kAll || flag.verbs & bit_of(verb);
}

const Flag* find_flag(Slice name, Verb verb) {
  if (name == "-h") name = "--help";
  if (name == "--input") name = "-i";
  if (name == "--output") name = "-o";
  for (const Flag& flag : kFlags)
    if (name == flag.name && takes(verb, flag)) return &flag;
  return nullptr;
}

bool unknown_flag(Tool& tool, Slice name, Verb verb) {
  Text text(tool.arena), list(tool.arena);
  const char* best = nullptr;
  Nearest nearest(name);
  for (const Flag& flag : kFlags) {
    if (!takes(verb, flag)) continue;
    if (nearest.takes(flag.name)) best = flag.name;
    list.format("%s`%s`", list.slice().empty() ? "" : ", ", flag.name);
  }
  if (verb == Verb::None)
    text.add("there is no flag `");
  else
    text.format("`%s` has no flag `", verb_name(verb));
  text.plain(name);
  if (best)
    text.format("`; did you mean `%s`?", best);
  else
    text.format("`; there are %s", list.c_str());
  return tool.fail(kUsage, "%s", text.c_str());
}

bool parse_verb(Tool& tool, Slice word, Flags* flags) {
  const char* best = nullptr;
  Nearest nearest(word);
  for (const VerbRow& row : kVerbs) {
    if (word == row.name) return flags->verb = row.verb, true;
    if (nearest.takes(row.name)) best = row.name;
  }
  if (best) return tool.fail(kUsage, "there is no verb `%.*s`; did you mean `%s`?", width(word), word.data, best);
  return tool.fail(kUsage, "there is no verb `%.*s`; they are run, test, bench, profile, inspect, licenses",
                   width(word), word.data);
}

// The value of `-iVALUE`, `--flag=VALUE` or the next argument.
const Flag* split_flag(Tool& tool, Verb verb, int argc, char** argv, int* at, Slice* value) {
  Slice argument = argv[*at], *name = &argument;
  bool has_value = false;
  const size_t equals = name->starts_with("--") ? name->find('=') : name->size > 2 ? 2 : name->size;
  if (equals < name->size) {
    *value = name->from(name->starts_with("--") ? equals + 1 : equals);
    *name = name->upto(equals);
    has_value = true;
  }
  const Flag* flag = find_flag(*name, verb);
  if (!flag)
    unknown_flag(tool, *name, verb);
  else if (!*flag->value && has_value)
    tool.fail(kUsage, "`%s` takes no value", flag->name);
  else if (*flag->value && !has_value && *at + 1 >= argc)
    tool.fail(kUsage, "`%s` needs a value: %s", flag->name, flag->value);
  else if (*flag->value && !has_value)
    *value = argv[++*at];
  return tool.code ? nullptr : flag;
}

}  // namespace

const char* verb_name(Verb verb) {
  for (const VerbRow& row : kVerbs)
    if (row.verb == verb) return row.name;
  return "";
}

bool parse_flags(Tool& tool, int argc, char** argv, Flags* flags) {
  const uint64_t most = static_cast<uint64_t>(argc > 0 ? argc : 1);
  flags->inputs = tool.arena.array<Slice>(most);
  flags->dims = tool.arena.array<Slice>(most);
  flags->outputs = tool.arena.array<Slice>(most);
  flags->states = tool.arena.array<Slice>(most);
  flags->paths = tool.arena.array<Slice>(most);
  for (int i = 1; i < argc; ++i) {
    const Slice argument = argv[i];
    if (argument.size < 2 || argument[0] != '-') {
      if (flags->verb == Verb::None ? !parse_verb(tool, argument, flags)
                                    : (flags->paths[flags->path_count++] = argument, false))
        return false;
      continue;
    }
    Slice value;
    const Flag* flag = split_flag(tool, flags->verb, argc, argv, &i, &value);
    if (!flag) return false;
    if (!flag->set(flags, value))
      return tool.fail(kUsage, "`%.*s` is no value for `%s`, which takes %s", width(value), value.data, flag->name,
                       flag->value);
  }
  return true;
}

void print_flags(Tool& tool, Verb verb) {
  for (const Flag& flag : kFlags) {
    if (!takes(verb, flag)) continue;
    char left[40];
    libc::snprintf(left, sizeof left, "%s %s", flag.name, flag.value);
    tool.out.format("  %-22s %s\n", left, flag.help);
  }
}

}  // namespace rt::program
