// What a model must compute the same by: interpreter, optimised graphs with every pass skipped in turn, fused kernels,
// plans, artifacts.
#pragma once
#include <optional>

#include "frontend/reference/interpret.h"
#include "tests/random/generate.h"

namespace cameo::random {

/// What comes of a run: values, or the code of a run-time error.
struct Outcome {
  std::optional<Interpretation> values;
  std::optional<Code> error;
  std::string message;
  Lines lines;  // the model
};
Outcome outcome(const Lines& lines);

/// What is wrong in the first column that differs from the interpreter, as `COLUMN: what`; empty when nothing is. No
/// compiler is asked.
std::string check_plans(const Lines& lines);

/// The same of one plan over sizes in place of the inputs' extents, bound to several; what needs numbers is passed
/// over.
std::string check_sizes(const Lines& lines);

/// Several models as one artifact: each with its own inputs and with others, by one thread and by many, twice. `skip`
/// is a pass that is left out, or empty. Only in a child. What is wrong, one line a model: its number, a space, the
/// fault.
std::vector<std::string> check_artifact(const std::vector<Lines>& models, const std::string& skip = {});

}  // namespace cameo::random
