// What `run`, `bench` and `profile` start: an artifact that was given, or what was built of a model, into the cache;
// dims that no flag binds come from the data.
#pragma once
#include <optional>

#include "cli/artifact.h"
#include "cli/options.h"

namespace cameo {

struct Runnable {
  std::string title;                   // of an artifact that was given, its path
  FileDescriptor built;                // of a model
  std::vector<std::string> arguments;  // of the verb that it was made for
};
/// Of flags that say what is built, given with an artifact. All of its own verbs but `test` and `inspect` take sizes.
/// Throws Failure.
void refuse_model_flags(const ModelFlags& flags, const std::string& verb);
/// Nothing where the model has problems, which are added to `diagnostics`. Throws Failure.
std::optional<Runnable> make_runnable(Console& console, const std::string& verb, const ModelFlags& flags,
                                      const RunFlags& run, Diagnostics& diagnostics);
/// This process goes on as `VERB ARGUMENTS..` of it; throws Failure when it cannot be started.
[[noreturn]] void become(const Runnable& runnable, const std::string& verb, const std::vector<std::string>& arguments);

}  // namespace cameo
