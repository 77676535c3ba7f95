// `build --mode=max-autotune`: what is cheaper by measuring than by its price, on this machine, into a lock that later
// builds obey.
#pragma once
#include <filesystem>
#include <optional>

#include "cli/options.h"

namespace cameo {

struct TuneOptions {
  double budget_seconds = 60;
  std::string threads;  // that runs are timed with; empty: the artifact's default
  std::filesystem::path lock;
};
/// Takes the mode out of the flags, so that they are those of a build that obeys the lock, as far as there is one.
/// Nothing where it is another mode. Throws Failure.
std::optional<TuneOptions> take_tuning(ModelFlags& flags, const BuildFlags& build);
/// With the lock's place and whether it can be written, by what the flags of a build say. Throws Failure.
void place_lock(TuneOptions& tuning, const CompileOptions& options);

/// What came of it, in words and as a part of the document.
struct TuneReport {
  std::string text;
  Json json;
};
/// Writes the lock, which the options' target then obeys. Throws Failure, also where it was interrupted.
TuneReport tune_model(const Model& model, CompileOptions& options, const TuneOptions& tuning, Console& console);

}  // namespace cameo
