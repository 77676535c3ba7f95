// One function a verb. Each gives the exit code; what is wrong with a model is reported by then, all else is thrown.
#pragma once
#include <string>

#include "cli/console.h"
#include "cli/options.h"

namespace cameo {

int check_verb(Console& console, const ModelFlags& flags);
int build_verb(Console& console, const ModelFlags& flags, const BuildFlags& build);
int test_verb(Console& console, const ModelFlags& flags, const RunFlags& run);
/// `run`, `bench` and `profile` are the artifact's own: of a model it is built into the cache first.
int run_verb(Console& console, const std::string& verb, const ModelFlags& flags, const RunFlags& run);
/// The same of one model; of two, or at several sizes, a comparison.
int bench_verb(Console& console, const ModelFlags& flags, const RunFlags& run);
/// What the verbs on artifacts say of a model before there is one; an exit code.
int report_problems(Console& console, const ModelFlags& flags, const Diagnostics& diagnostics);
int inspect_verb(Console& console, const ModelFlags& flags);
/// `flags.model` is a code like E0501, or a model; of a model one node, or all.
int explain_verb(Console& console, const ModelFlags& flags, const std::string& node);
int doctor_verb(Console& console);
/// `what` is empty, `limit` with a size, or `clean`.
int cache_verb(Console& console, const std::string& what, const std::string& size);

}  // namespace cameo
