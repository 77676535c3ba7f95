// One function a verb; each returns false after tool.fail.
#pragma once

#include "runtime/program/flags.h"

namespace rt::program {

bool run_verb(Tool& tool, const Flags& flags);
bool test_verb(Tool& tool, const Flags& flags);
bool bench_verb(Tool& tool, const Flags& flags);
bool profile_verb(Tool& tool, const Flags& flags);
bool inspect_verb(Tool& tool, const Flags& flags);
void print_licenses(Tool& tool);
void print_help(Tool& tool, Verb verb);
void print_welcome(Tool& tool);  // called bare: the model's inputs and outputs, and a line to paste

void print_values(Tool& tool, const Io* ios, uint32_t count);  // name, type and dims, a line each
void print_command(Tool& tool);

}  // namespace rt::program

// The artifact's main, also in process: prints to file descriptors 1 and 2, returns the exit code.
namespace rt {
int program_main(const cameo_api* api, const Program* program, int argc, char** argv);
}
