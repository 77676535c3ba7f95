// One function a verb. Each gives the exit code; what is wrong with a model is reported by then, all else is thrown.
#pragma once
#include "cli/console.h"
#include "cli/options.h"

namespace cameo {

int check_verb(Console& console, const ModelFlags& flags);
int build_verb(Console& console, const ModelFlags& flags, const BuildFlags& build);
int test_verb(Console& console, const ModelFlags& flags, const RunFlags& run);
/// `run`, `bench` and `profile` are the artifact's own: of a model it is built into the cache first.
int run_verb(Console& console, const std::string& verb, const ModelFlags& flags, const RunFlags& run);

}  // namespace cameo
