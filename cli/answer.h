// What an artifact says of itself, in a process of its own.
#pragma once
#include <cmath>

#include "cli/console.h"
#include "cli/runnable.h"

namespace cameo {

/// The document of `VERB ARGUMENTS.. --json` of an artifact; throws Failure with its message where it ends with an
/// error or by a signal, or where it takes longer than `limit_seconds`, which ends it.
Json answer_of(const Runnable& runnable, const std::string& verb, std::vector<std::string> arguments = {},
               double limit_seconds = HUGE_VAL);

}  // namespace cameo
