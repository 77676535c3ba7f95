// The artifact's main: flags, a verb, what it printed, and one line about what failed. With --json stdout is one
// document, whatever happens.
#include "runtime/program/dims.h"
#include "runtime/program/file.h"
#include "runtime/program/last_words.h"
#include "runtime/program/verbs.h"

namespace rt {
namespace program {
namespace {

bool run_verbs(Tool& tool, const Flags& flags) {
  if (flags.help || flags.verb == Verb::Help) return print_help(tool, flags.verb), true;
  if ((!flags.weights.empty() || flags.verify) && !tool.program->weights_file)
    return tool.fail(kUsage, "the weights are inside of this artifact; `%s` is for those of `--weights=file`",
                     flags.verify ? "--verify" : "--weights");
  switch (flags.verb) {
    case Verb::Run: return run_verb(tool, flags);
    case Verb::Test: return test_verb(tool, flags);
    case Verb::Bench: return bench_verb(tool, flags);
    case Verb::Profile: return profile_verb(tool, flags);
    case Verb::Inspect: return inspect_verb(tool, flags);
    case Verb::Licenses: return print_licenses(tool), true;
    default: return flags.json ? inspect_verb(tool, flags) : (print_welcome(tool), true);
  }
}

// A document that was cut off is no document.
bool is_whole(const Tool& tool) {
  return tool.out.slice().ends_with("}\n") && (tool.code == kOk || tool.code == kAccuracy || tool.code == kInterrupted);
}

const char* schema_of(Verb verb) { return verb == Verb::None ? "error" : verb_name(verb); }

// What the verb wrote, or else that there is nothing but a failure; then how it ended.
void end_document(Tool& tool, Verb verb) {
  const Slice written = tool.out.slice();
  const bool is_text = !tool.code && !written.starts_with("{");
  Text document(tool.arena);
  if (is_whole(tool) && !is_text) {
    document.add(written.upto(written.size - 2));
  } else {
    document.format("{\"schema\":\"cameo.%s\",\"version\":1", schema_of(verb));
    if (is_text) document.add(",\"text\":"), document.json(written);
  }
  document.format(",\"exit_code\":%d,\"diagnostics\":[", tool.code);
  if (tool.code) document.add("{\"severity\":\"error\",\"message\":"), document.json(tool.message), document.add('}');
  document.add("]}\n");
  tool.out.clear();
  tool.out.add(document.slice());
}

}  // namespace
}  // namespace program

int program_main(const cameo_api* api, const Program* program, int argc, char** argv) {
  using namespace rt::program;
  Tool tool;
  Flags flags;
  Program named = *program;
  tool.api = api;
  own_dims(tool, &named);
  tool.name = argc > 0 ? argv[0] : program->name;
  if (!*program->name) named.name = tool.name;                    // cameo keeps it for whatever models are the same
  libc::signal(libc::kPipe, reinterpret_cast<void (*)(int)>(1));  // ignored: writing into a closed pipe is an error
  for (int i = 1; i < argc; ++i) flags.json |= Slice(argv[i]) == "--json";  // the document tells of wrong flags too
  watch_interrupts();
  if (flags.json) owe_document(schema_of(Verb::None));
  const bool known = parse_flags(tool, argc, argv, &flags);
  if (flags.json) owe_document(schema_of(flags.verb));
  if (known) run_verbs(tool, flags);
  if (flags.json) end_document(tool, flags.help ? Verb::Help : flags.verb), document_is_given();
  tool.flush();
  if (tool.code) tool.note("error: %s", tool.message);
  return tool.code;
}

}  // namespace rt
