// The command line: verbs and flags as CLI11 knows them, and what every verb has in common.
#pragma once

namespace cameo {

int run_command_line(int argc, char** argv);

}  // namespace cameo
