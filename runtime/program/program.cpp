// The artifact's main: flags, a verb, what it printed, and one line about what failed.
#include "runtime/program/file.h"
#include "runtime/program/verbs.h"

namespace rt {
namespace program {
namespace {

bool run_verbs(Tool& tool, const Flags& flags) {
  if (flags.help || flags.verb == Verb::Help) return print_help(tool, flags.verb), true;
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

// A document that was cut off is no document; text is worth having.
bool is_worth_printing(const Tool& tool, const Flags& flags) {
  return !flags.json || tool.code == kOk || tool.code == kAccuracy || tool.code == kInterrupted;
}

}  // namespace
}  // namespace program

int program_main(const cameo_api* api, const Program* program, int argc, char** argv) {
  using namespace rt::program;
  Tool tool;
  Flags flags;
  tool.api = api;
  tool.program = program;
  tool.name = argc > 0 ? argv[0] : program->name;
  libc::signal(libc::kPipe, reinterpret_cast<void (*)(int)>(1));  // ignored: writing into a closed pipe is an error
  if (parse_flags(tool, argc, argv, &flags)) run_verbs(tool, flags);
  if (is_worth_printing(tool, flags)) tool.flush();
  if (tool.code) tool.note("error: %s", tool.message);
  return tool.code;
}

}  // namespace rt
